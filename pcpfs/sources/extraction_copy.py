"""A copy of this process that extracts some files and ends: quick to start, and can be killed."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe

from pcpfs.machine import end_with
from pcpfs.ports import AdapterRegistry
from pcpfs.sources.extraction_worker import be_deaf, extract


def can_copy() -> bool:
    """Whether a process may be copied here. (The libraries of macOS do not survive it.)"""
    return sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class Copy:
    """A process that answers each of its files in turn, and dies with this one.

    It lets go of all open files, so that locks and the pipes of other children are this process's
    alone, and it ends without tidying up, so that nothing is flushed or released twice. Threads are
    not copied: where one of them holds something that the copy wants, it hangs, which a caller must
    expect anyway.
    """

    pid: int
    connection: Connection

    @classmethod
    def at_work(cls, registry: AdapterRegistry, files: Sequence[tuple[str, bytes]]) -> Copy:
        """OSError if there can be no further process."""
        ours, theirs = Pipe(duplex=False)
        parent = os.getpid()
        try:
            with warnings.catch_warnings():  # of threads, in newer Pythons
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
        except OSError:
            ours.close()
            theirs.close()
            raise
        if not pid:
            _answer(registry, files, theirs, parent)
        theirs.close()
        return cls(pid, ours)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> None:
        os.waitpid(self.pid, 0)


def _answer(
    registry: AdapterRegistry,
    files: Sequence[tuple[str, bytes]],
    connection: Connection,
    parent: int,
) -> None:
    """In the copy; never returns."""
    try:
        be_deaf()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1):
            os.dup2(nowhere, stream)
        os.closerange(3, connection.fileno())
        os.closerange(connection.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        sys.stdout, sys.stderr = (open(n, "w", closefd=False) for n in (1, 2))  # noqa: SIM115
        end_with(parent)
        for path, source in files:
            connection.send(extract(registry, path, source))
    finally:
        os._exit(0)
