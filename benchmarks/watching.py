"""`pcpfs watch`: from an editor's save to searchable, alone and in a burst."""

from __future__ import annotations

import os
import queue
import signal
import statistics
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.command import Command, environment
from benchmarks.corpus import Corpus
from benchmarks.rows import Aim, Row
from benchmarks.timing import Failed, tree_seconds

BURST = 2000
MARK = "BENCH_BURST"
START_SECONDS = 60.0
PATIENCE_SECONDS = 120.0
QUIET_SECONDS = 1.0

Line = tuple[float, str]


class Watch:
    """A running watcher whose lines are stamped with the moment at which they came."""

    def __init__(self, process: subprocess.Popen[str], lines: queue.Queue[Line]) -> None:
        self._process = process
        self._lines = lines

    def processor(self) -> float:
        """Seconds of processor time that it and its helpers have used."""
        return tree_seconds(self._process.pid)

    def wait_for(self, names: Sequence[str], seconds: float) -> float:
        """The moment at which a line with the last of these names came (`time.perf_counter`)."""
        missing, moment = set(names), time.perf_counter()
        deadline = moment + seconds
        while missing:
            moment, line = self._next(deadline, missing)
            missing = {name for name in missing if name not in line}
        return moment

    def _next(self, deadline: float, missing: set[str]) -> Line:
        try:
            return self._lines.get(timeout=max(0.0, deadline - time.perf_counter()))
        except queue.Empty:
            state = self._process.poll()
            raise Failed(
                f"watch told nothing of {len(missing)} files, such as {min(missing)} (exit {state})"
            ) from None


@contextmanager
def watching(command: Command) -> Iterator[Watch]:
    """Start it; stop it as a service manager would, and insist on exit 0."""
    lines: queue.Queue[Line] = queue.Queue()
    with (command.store.parent / "watch.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command.line("watch"),
            cwd=command.store.parent,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
        )
        assert process.stdout is not None
        reader = threading.Thread(target=stamp, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            yield Watch(process, lines)
        finally:
            process.send_signal(signal.SIGTERM)
            state = process.wait(timeout=30)
            reader.join()
    if state != 0:
        raise Failed(f"watch ended with exit {state}; see {log.name}")


def stamp(stream: IO[str], lines: queue.Queue[Line]) -> None:
    with stream:
        for line in stream:
            lines.put((time.perf_counter(), line))


def save(path: Path, text: str) -> None:
    """As editors do: a temporary file renamed over the old one."""
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def measure(command: Command, corpus: Corpus, times: int) -> list[Row]:
    """The corpus has been added to the store; its files are changed by this."""
    with watching(command) as watch:
        wait_until_ready(watch, corpus)
        before = watch.processor()
        singles = [one_save(watch, command, corpus, f"bench_save_{n}") for n in range(times)]
        one = (watch.processor() - before) / times
        before = watch.processor()
        told, found = one_burst(watch, command, corpus)
        processor = watch.processor() - before
        after = one_save(watch, command, corpus, "bench_save_after_burst")
    return [
        Row(
            "watch: one save",
            statistics.median(singles),
            runs=times,
            aim=Aim(0.300),
            note="its second of quiet included in the cpu",
            processor=one,
        ),
        Row(f"watch: {BURST} saves", told, aim=Aim(10), processor=processor),
        Row("watch: their words are found", found, aim=Aim(10), note="a cold search included"),
        Row("watch: one save after that", after, aim=Aim(1)),
    ]


def wait_until_ready(watch: Watch, corpus: Corpus) -> None:
    """Until it tells of a new file, which it also does if it was still starting when it came."""
    probe = corpus.root / "bench_probe.py"
    save(probe, "def bench_probe():\n    pass\n")
    watch.wait_for([probe.name], START_SECONDS)
    time.sleep(QUIET_SECONDS)


def one_save(watch: Watch, command: Command, corpus: Corpus, name: str) -> float:
    """Seconds from the save until the watcher told of it; fails if it cannot be found then."""
    path = corpus.python[len(corpus.python) // 2]
    text = path.read_text(encoding="utf-8") + f"\n\ndef {name}():\n    return 1\n"
    start = time.perf_counter()
    save(path, text)
    seconds = watch.wait_for([path.relative_to(corpus.root).as_posix()], PATIENCE_SECONDS) - start
    hits = command.answer("symbol", name)["results"]
    if name not in [hit.get("qualified_name") for hit in hits]:
        raise Failed(f"watch told of {path.name}, but symbol {name} was not found")
    time.sleep(QUIET_SECONDS)
    return seconds


def one_burst(watch: Watch, command: Command, corpus: Corpus) -> tuple[float, float]:
    """Seconds from the first save until the watcher told of the last, and until a search, asked
    then, had answered."""
    paths = corpus.python[:BURST]
    names = [path.relative_to(corpus.root).as_posix() for path in paths]
    texts = [path.read_text(encoding="utf-8") + f"\n\n{MARK} = 1\n" for path in paths]
    start = time.perf_counter()
    for path, text in zip(paths, texts, strict=True):
        save(path, text)
    told = watch.wait_for(names, PATIENCE_SECONDS) - start
    found = command.answer("search", MARK, "--limit", "200")["results"]
    if len(found) < 200:
        raise Failed(f"watch told of {BURST} files, but only {len(found)} were found by {MARK}")
    return told, time.perf_counter() - start
