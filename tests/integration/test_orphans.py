"""A process that works for another ends with it, however that one ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.source_tree import SourceTree

STARTS = {
    "an indexer whose input does not end": """
import subprocess
from pathlib import Path
subprocess.PIPE = None  # it has our own input, of which the test holds the other end
from pcpfs.store.searches.index_process import IndexProcess
print(IndexProcess.start(Path(sys.argv[1])).process.pid, flush=True)
time.sleep(60)
""",
    "a worker whose file keeps it busy": """
import os, threading
from pcpfs.sources.extraction_pool import ExtractionPool
from tests.integration.test_orphans import registry
pool = ExtractionPool(registry, workers=1, seconds_a_file=3600.0)
pool.warm()
threading.Thread(target=pool.extract, args=([("a", b"busy")],), daemon=True).start()
while not os.path.exists("busy"):
    time.sleep(0.05)
print(pool.processes()[0].pid, flush=True)
time.sleep(60)
""",
    "a copy whose file keeps it busy": """
import threading
from pathlib import Path
from pcpfs.sources.extraction_pool import ExtractionPool
from tests.integration.test_orphans import registry
pool = ExtractionPool(registry, workers=1, seconds_a_file=3600.0)
threading.Thread(target=pool.extract, args=([("a", b"copied")],), daemon=True).start()
while not (Path("copied").exists() and Path("copied").read_text()):
    time.sleep(0.05)
print(Path("copied").read_text(), flush=True)
time.sleep(60)
""",
    "a git that waits to be asked for blobs": """
from pathlib import Path
from pcpfs.git.process import Process
store = Path(sys.argv[1])
print(Process(store / ".git", store).start("cat-file", "--batch").pid, flush=True)
time.sleep(60)
""",
    "a git that has more to tell than anybody reads": """
from pathlib import Path
from pcpfs.git.process import Process
store = Path(sys.argv[1])
told = Process(store / ".git", store).start("log", "--format=%H" + "x" * 100_000)
time.sleep(0.2)
print(told.pid, flush=True)
time.sleep(60)
""",
    "a worker that hears nothing": """
import os, subprocess
deaf = "import re; from pcpfs.machine import end_with; end_with(%d, 0.5); " % os.getpid()
deaf += "re.match('(a+)+$', 'a' * 60 + 'b')"
print(subprocess.Popen([sys.executable, "-c", deaf]).pid, flush=True)
time.sleep(60)
""",
}


class Sleeper:
    name, version, media_type, suffixes, filenames = "sleeper", 1, "text/plain", (), ()

    def extract(self, source: bytes) -> object:
        """Say so in the folder it works in, with its process, and sleep."""
        Path(source.decode()).write_text(str(os.getpid()))
        time.sleep(3600)
        raise AssertionError("nobody waits so long")

    def for_source(self, _path: str, _head: bytes) -> Sleeper:
        return self


def registry() -> Sleeper:
    return Sleeper()


@pytest.mark.parametrize("what", STARTS)
def test_who_works_for_a_process_that_was_killed_ends(added: SourceTree, what: str) -> None:
    with _start(STARTS[what], added.place.path) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert _is_there(worker)
        parent.kill()
        _until(lambda: not _is_there(worker))


def _start(script: str, store: Path) -> subprocess.Popen[bytes]:
    search = f"import sys, time; sys.path[:] = {[entry for entry in sys.path if entry]!r}\n"
    command = [sys.executable, "-c", search + script, str(store)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, cwd=store.parent)


def _is_there(process: int) -> bool:
    """Whether it goes on; one that has ended and waits for somebody to ask does not."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="latin-1")
    except FileNotFoundError:
        return False
    return told.rpartition(")")[2].split()[0] not in ("Z", "X")


def _until(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it goes on"
        time.sleep(0.05)
