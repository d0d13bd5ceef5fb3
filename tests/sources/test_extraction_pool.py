"""The extraction pool: the same answers in any process, and every bad file named."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pcpfs.model.frames import Extraction
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.extraction_worker import RegistryFactory, Trouble, Unextracted
from pcpfs.store.registry import installed_registry

ADAPTERS = """
import os, re, sys, time
from pcpfs.model.frames import Extraction

class Words:
    name, version, media_type, suffixes, filenames = "words", 1, "text/plain", (), ()

    def extract(self, source):
        if source.startswith(b"hang"):
            time.sleep(3600)
        if source.startswith(b"deaf"):  # no thread of Python and no signal handler gets a turn
            re.match(b"(a+)+$", b"a" * 64 + b"b")
        if source.startswith(b"work"):
            until = time.process_time() + float(source.split()[1])
            while time.process_time() < until:
                pass
        if source.startswith(b"crash"):
            os._exit(3)
        if source.startswith(b"once"):
            flag = source.split()[1]
            if not os.path.exists(flag):
                open(flag, "w").close()
                os._exit(3)
        if source.startswith(b"raise"):
            raise RecursionError("too deep")
        if source.startswith(b"files"):
            return Extraction("words", 1, "text", line_count=len(os.listdir("/proc/self/fd")))
        if source.startswith(b"print"):
            print("noise on standard output")
        return Extraction("words", 1, "text", line_count=source.count(b"\\n"))

class Registry:
    def for_source(self, path, head):
        return Words()
    def by_tag(self, tag):
        return None
    def all(self):
        return (Words(),)

def registry():
    return Registry()

def broken():
    raise ImportError("no such grammar")
"""
LARGE = b"x\n" * 80_000


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RegistryFactory]:
    (tmp_path / "words_adapters.py").write_text(ADAPTERS)
    monkeypatch.syspath_prepend(tmp_path)
    factory: RegistryFactory = importlib.import_module("words_adapters").registry
    yield factory
    del sys.modules["words_adapters"]


@pytest.fixture
def pool(adapters: RegistryFactory) -> Iterator[ExtractionPool]:
    with ExtractionPool(adapters, workers=2, seconds_a_file=1.0) as made:
        made.warm()
        yield made


def good(lines: int) -> Extraction:
    return Extraction("words", 1, "text", line_count=lines)


def test_answers_come_in_the_order_given_and_are_the_same_in_any_process(
    pool: ExtractionPool, adapters: RegistryFactory
) -> None:
    files = [(f"{n}.txt", b"x\n" * (n * 37 % 1000)) for n in range(300)]
    answers = pool.extract(files)
    assert list(answers) == [path for path, _ in files]
    assert answers == ExtractionPool(adapters, workers=0).extract(files)
    assert answers["7.txt"] == good(259)


def test_a_file_that_hangs_is_named_and_the_others_are_extracted(pool: ExtractionPool) -> None:
    files = [(f"{n}.txt", b"x\n") for n in range(40)] + [("bad", b"hang"), ("worse", b"hang too")]
    answers = pool.extract(files)
    assert answers["bad"] == Unextracted("bad", Trouble.HUNG, "no answer within 1 s")
    assert isinstance(answers["worse"], Unextracted)
    assert [answers[f"{n}.txt"] for n in range(40)] == [good(1)] * 40


def test_only_time_that_a_worker_had_counts(adapters: RegistryFactory) -> None:
    """Three at work on one processor: the worker has 0.1 s of it in 0.3 s."""
    processor = min(os.sched_getaffinity(0))
    burn = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    with ExtractionPool(adapters, workers=1, seconds_a_file=0.3) as pool:
        pool.warm()
        pool.extract([("a", b"x\n")])
        (worker,) = pool.processes()
        os.sched_setaffinity(worker.pid, {processor})
        others = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(2)]
        try:
            answers = pool.extract([("a", b"work 0.2"), ("b", b"work 2")])
        finally:
            for other in others:
                other.kill()
                other.wait()
    assert answers["a"] == good(0)
    assert answers["b"] == Unextracted("b", Trouble.HUNG, "no answer within 0.3 s")


def test_a_file_that_takes_its_process_down_is_named(pool: ExtractionPool) -> None:
    files = [("a", b"x\n"), ("bad", b"crash"), ("z", LARGE)]
    answers = pool.extract(files)
    assert answers["bad"] == Unextracted("bad", Trouble.CRASHED, "its worker process died twice")
    assert (answers["a"], answers["z"]) == (good(1), good(80_000))


def test_a_process_that_dies_once_does_not_cost_the_file(
    pool: ExtractionPool, tmp_path: Path
) -> None:
    content = f"once {tmp_path / 'flag'}\n".encode()
    assert pool.extract([("a", content)]) == {"a": good(1)}


def test_an_adapter_that_raises_is_named_and_not_obeyed(
    pool: ExtractionPool, adapters: RegistryFactory
) -> None:
    for each in (pool, ExtractionPool(adapters, workers=0)):
        answer = each.extract([("a", b"raise"), ("b", b"")])["a"]
        assert answer == Unextracted(
            "a", Trouble.FAILED, "the words adapter raised RecursionError: too deep"
        )


def test_the_pool_can_be_used_again_after_trouble_and_after_closing(pool: ExtractionPool) -> None:
    for _ in range(2):
        pool.warm()
        assert isinstance(pool.extract([("a", b"hang")])["a"], Unextracted)
        assert pool.extract([("b", b"x\n")]) == {"b": good(1)}
        pool.close()


def test_a_worker_that_was_killed_while_idle_is_replaced(pool: ExtractionPool) -> None:
    pool.extract([("a", b"x\n")])
    for process in pool.processes():
        process.kill()
    assert pool.extract([("a", b"x\n"), ("b", LARGE)]) == {"a": good(1), "b": good(80_000)}


def test_a_small_batch_starts_no_worker(adapters: RegistryFactory) -> None:
    with ExtractionPool(adapters) as pool:
        assert pool.extract([("a", b"x\n"), ("b", b"print\n")]) == {"a": good(1), "b": good(1)}
        assert pool.extract([]) == {}
        assert pool.processes() == ()
        pool.extract([("a", LARGE)])
        assert len(pool.processes()) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="no process is copied elsewhere")
def test_who_comes_again_and_again_with_small_batches_gets_a_worker(
    adapters: RegistryFactory,
) -> None:
    """To copy a large process each time would take more than to start one."""
    with ExtractionPool(adapters, seconds_a_file=0.2) as pool:
        workers = []
        for number in range(5):
            assert pool.extract([("a", b"x\n" * number)]) == {"a": good(number)}
            workers.append(len(pool.processes()))
        assert workers == [0, 0, 0, 1, 1]
        assert isinstance(pool.extract([("a", b"deaf")])["a"], Unextracted)


@pytest.mark.parametrize("trouble", [Trouble.HUNG, Trouble.CRASHED])
def test_the_smallest_batch_can_hang_or_crash_and_is_named(
    adapters: RegistryFactory, trouble: Trouble
) -> None:
    """As it does in a one-shot command, which has no workers yet."""
    bad = b"deaf" if trouble is Trouble.HUNG else b"crash"
    with ExtractionPool(adapters, workers=1, seconds_a_file=0.2) as pool:
        answers = pool.extract([("a", b"x\n"), ("bad", bad), ("c", b"x\n\n")])
        assert (answers["a"], answers["c"]) == (good(1), good(2))
        assert isinstance(answers["bad"], Unextracted)
        assert answers["bad"].trouble is trouble


@pytest.mark.skipif(sys.platform != "linux", reason="no process is copied elsewhere")
def test_a_copy_holds_no_file_of_this_process(adapters: RegistryFactory, tmp_path: Path) -> None:
    """Else a lock would be held, and a git would wait for input, as long as a copy that hangs."""
    with ExitStack() as open_files, ExtractionPool(adapters) as pool:
        for number in range(20):
            open_files.enter_context((tmp_path / str(number)).open("w"))
        streams, pipe, listing = 3, 1, 1
        assert pool.extract([("a", b"files")]) == {"a": good(streams + pipe + listing)}


def test_a_copy_that_cannot_go_on_is_no_reason_to_name_a_file(
    adapters: RegistryFactory, tmp_path: Path
) -> None:
    with ExtractionPool(adapters, workers=1) as pool:
        flag = str(tmp_path / "flag").encode()
        assert pool.extract([("a", b"once " + flag + b" \n"), ("b", b"x\n")]) == {
            "a": good(1),
            "b": good(1),
        }


def test_what_no_adapter_claims_starts_no_process() -> None:
    text, code = b"one line\n" * 60_000, b"def f(): ...\n" * 30_000
    with ExtractionPool(installed_registry) as pool:
        assert pool.extract([("notes", text), ("catalogue.po", text)]).keys() == {
            "notes",
            "catalogue.po",
        }
        assert pool.processes() == ()
        answers = pool.extract([("notes", text), ("code.py", code), ("catalogue.po", text)])
        assert list(answers) == ["notes", "code.py", "catalogue.po"]
        assert len(pool.processes()) == 1
    registry = installed_registry()
    for path, source in (("notes", text), ("code.py", code)):
        assert answers[path] == registry.for_source(path, source).extract(source)


def test_without_a_registry_the_reason_is_raised_in_the_caller(adapters: RegistryFactory) -> None:
    broken: RegistryFactory = sys.modules["words_adapters"].broken
    with ExtractionPool(broken) as pool, pytest.raises(ImportError, match="no such grammar"):
        pool.extract([("a", LARGE)])


def test_a_script_without_a_main_guard_may_extract_and_keeps_its_standard_output(
    adapters: RegistryFactory, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import words_adapters\n"
        "from pcpfs.sources.extraction_pool import ExtractionPool\n"
        "with ExtractionPool(words_adapters.registry) as pool:\n"
        "    pool.warm()\n"
        "    print(len(pool.extract([('a', b'print\\n' * 30_000)])))\n"
    )
    environment = {"PYTHONPATH": ":".join(entry for entry in sys.path if entry)}
    command = [sys.executable, str(script)]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "1\n", "")


def test_a_worker_imports_nothing_from_the_folder_it_is_started_in(
    adapters: RegistryFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "checkout"
    hostile.mkdir()
    for name in ("random", "signal", "pickle", "pcpfs"):
        (hostile / f"{name}.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(hostile)
    with ExtractionPool(adapters) as pool:
        assert pool.extract([("a", LARGE)]) == {"a": good(80_000)}
        assert len(pool.processes()) == 1
