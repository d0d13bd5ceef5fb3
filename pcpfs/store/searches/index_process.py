"""Text indexing beside other work: another process takes in what the catalog says is pending.

It is an ordinary reader of the catalog and takes the index lock like everybody; if it cannot start
or dies, nothing is lost: whatever is still pending is indexed later.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pcpfs.errors import PcpfsError
from pcpfs.machine import end_with
from pcpfs.store.session import Session
from pcpfs.store.store import Store

_BOOT = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from pcpfs.store.searches.index_process import serve; serve(sys.argv[1], int(sys.argv[2]))"
)


@dataclass(frozen=True, slots=True)
class IndexProcess:
    """A running indexer of one store."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(cls, store: Path) -> Self | None:
        """None where no process can be started."""
        given = (str(store), str(os.getpid()), *filter(None, sys.path))
        command = [sys.executable, "-P", "-c", _BOOT, *given]
        try:
            quiet = subprocess.DEVNULL
            return cls(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet))
        except OSError:
            return None

    def look(self) -> None:
        """Tell it that there may be something pending."""
        pipe = self.process.stdin
        assert pipe is not None, "it was started with a pipe"
        try:
            pipe.write(b"\n")
            pipe.flush()
        except OSError:
            return  # it is gone; what is pending stays pending

    def is_at_work(self) -> bool:
        return self.process.poll() is None

    def let_finish(self) -> None:
        """Let it take in what is pending and end by itself."""
        assert self.process.stdin is not None, "it was started with a pipe"
        self.process.stdin.close()

    def finish(self) -> None:
        """Let it take in what is pending, and wait for its end."""
        self.process.communicate()


class IndexBeside:
    """An index process whenever there is much to take in, and none when nothing goes on."""

    def __init__(self, store: Path) -> None:
        self._store = store
        self._process: IndexProcess | None = None
        self._is_ending = False
        self._came_late = False

    def look(self) -> None:
        """There is much pending."""
        if self._process is None or not self._process.is_at_work():
            self._process = IndexProcess.start(self._store)
            self._is_ending = self._came_late = False
        elif self._is_ending:
            self._came_late = True
        else:
            self._process.look()

    def look_if_there(self) -> None:
        """There may be something pending; no reason to start a process."""
        if self._process is not None and not self._is_ending:
            self._process.look()

    def rest(self) -> None:
        """Nothing more comes for now; returns at once."""
        if self._came_late and self._process and not self._process.is_at_work():
            self.look()
        if self._process is not None and not self._is_ending:
            self._process.let_finish()
            self._is_ending = True

    def finish(self) -> None:
        """Wait until what was pending has been taken in."""
        if self._process is not None:
            self._process.finish()
            self._process = None


def serve(store: str, parent: int) -> None:
    """Flush whenever a line comes, and once more at the end of the input; but no longer than the
    process `parent` is there.

    Nothing here makes cycles, so collecting them would only cost time (a tenth, measured).
    """
    gc.disable()
    end_with(parent)
    with Store.open(Path(store)) as opened:
        session = Session(opened, opened.owner)
        try:
            session.flush_indexes()
            for _ in sys.stdin.buffer:
                session.flush_indexes()
            session.flush_indexes()
        except PcpfsError:
            return  # disposable: the caller flushes what is left
        finally:
            session.close()
