"""Waiting for the lock files of git, and removing those that a killed git left behind.

Such a file names no owner. It counts as left behind when it stays the same for all of the time
that we wait, no process has it open, and no git runs in this work tree (one that has an editor
open holds its lock without having it open). Where processes cannot be seen nothing is removed.
"""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import Busy

WAIT_SECONDS = 2.0
LONGEST_SECONDS = 10.0
_POLL_SECONDS = 0.002
_POLLS = 25
_NAMED = re.compile(rb"Unable to create '(.+?\.lock)': File exists", re.DOTALL)
_PROCESSES = Path("/proc")


@dataclass(slots=True)
class Patience:
    """How long one operation has waited for which lock."""

    work_tree: Path
    _started: float | None = None
    _since: float = 0.0
    _seen: tuple[int, ...] = ()

    def waited(self, messages: bytes) -> bool:
        """Wait a moment for the lock that git's messages name; then it is worth trying again.

        False if they name none. Busy if others keep it for too long.
        """
        named = _NAMED.search(messages)
        if named is None:
            return False
        lock, now = Path(os.fsdecode(named[1])), time.monotonic()
        self._started = self._started or now
        mark = _mark(lock)
        if not mark or mark != self._seen:
            self._seen, self._since = mark, now
        stuck = now - self._since > WAIT_SECONDS
        if stuck and is_abandoned(lock, self.work_tree):
            lock.unlink(missing_ok=True)
        elif stuck or now - self._started > LONGEST_SECONDS:
            raise _busy(lock)
        _wait_until_gone(lock)
        return True


def _wait_until_gone(lock: Path) -> None:
    """At once when it goes: somebody who commits in a loop leaves only short gaps."""
    for _ in range(_POLLS):
        time.sleep(_POLL_SECONDS)
        if not lock.exists():
            return


def is_abandoned(lock: Path, work_tree: Path) -> bool:
    """No process here has the file open, and no git is at work in this work tree."""
    if not (_PROCESSES / "self" / "fd").is_dir():
        return False
    processes = [path for path in _PROCESSES.iterdir() if path.name.isdigit()]
    return not any(_works_in(p, work_tree) or _has_open(p, lock) for p in processes)


def _works_in(process: Path, work_tree: Path) -> bool:
    try:
        if not (process / "comm").read_bytes().startswith(b"git"):
            return False
        return Path(os.readlink(process / "cwd")).is_relative_to(work_tree.resolve())
    except (FileNotFoundError, ProcessLookupError):
        return False  # it has ended
    except PermissionError:
        return True  # a git of another user: who knows where


def _has_open(process: Path, lock: Path) -> bool:
    try:
        files = list((process / "fd").iterdir())
    except OSError:
        return False  # it has ended, or is another user's
    return any(_leads_to(file, lock) for file in files)


def _leads_to(file: Path, lock: Path) -> bool:
    try:
        return file.samefile(lock)
    except OSError:
        return False  # it was closed just now


def _mark(lock: Path) -> tuple[int, ...]:
    try:
        found = lock.stat()
    except OSError:
        return ()
    return (found.st_ino, found.st_mtime_ns, found.st_size)


def _busy(lock: Path) -> Busy:
    return Busy(
        f"not committed yet, for another git command holds {lock}; it will be when that has ended "
        "(if no git is running, remove that file)",
        path=str(lock),
    )
