"""Exclusive locks on files, between processes and between threads.

The system lets go of a lock when its holder ends, however that ends: none is ever stale. The file
itself stays, for whoever removes a lock file lets two others hold it at once.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial

POLL_SECONDS = 0.004
"""Short, or who writes without a rest keeps all others out until it is done."""

Release = Callable[[], None]


if sys.platform == "win32":
    import filelock

    def acquire(path: str, wait_seconds: float) -> Release:
        lock = filelock.FileLock(path, thread_local=False)
        try:
            lock.acquire(timeout=wait_seconds, poll_interval=POLL_SECONDS)
        except filelock.Timeout as error:
            raise TimeoutError from error
        return lock.release

else:
    import fcntl

    def acquire(path: str, wait_seconds: float) -> Release:
        """Hold the lock on a file, which is made if it is missing; returns what lets go of it.

        TimeoutError if others keep it that long; OSError where the file cannot be had. Not
        reentrant: who asks twice waits for themselves.
        """
        deadline = time.monotonic() + wait_seconds
        while (file := _locked(path)) is None:
            if time.monotonic() >= deadline:
                raise TimeoutError
            time.sleep(POLL_SECONDS)
        return partial(_release, file)

    def _release(file: int) -> None:
        """Let go for all who have this file open: a process that another thread starts has it until
        it becomes another program."""
        try:
            fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            os.close(file)

    def _locked(path: str) -> int | None:
        """The open file if its lock is ours now; None if it is another's."""
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file).st_nlink:  # else somebody removed it meanwhile, and may hold another
                return file
        except BlockingIOError:
            pass
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        return None
