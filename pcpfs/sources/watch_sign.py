"""The sign that a watcher hangs out while it works, so that `status` can tell of it.

Two small files in `.pcpfs/`: one says what it does, the other is locked for as long as it lives. A
sign whose lock can be had is that of a watcher that was killed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Busy, PcpfsError, Unavailable
from pcpfs.model.instants import Instant
from pcpfs.store.store import Store

_PREFIX, _SAID, _LOCK = "watch-", ".json", ".lock"


@dataclass(frozen=True, slots=True)
class WatcherView:
    """A watcher at work on this machine: its process, since when, on which roots.

    `polling` says that file events do not suffice and it looks every few seconds; `notes` are its
    own words.
    """

    pid: int
    since: Instant
    roots: tuple[str, ...]
    polling: bool
    notes: tuple[str, ...]


class WatchSign:
    """The sign of one watcher, from when it is made until it is taken down."""

    def __init__(self, store: Store, roots: Sequence[str]) -> None:
        """Signs of watchers that were killed are taken down."""
        self._store = store
        self._roots = tuple(roots)
        self._since = store.clock.now()
        for lock in _locks(store.disposable):
            _take_down(store.disk, lock)
        self._held = ExitStack()
        self._lock = _free_lock(store, self._held)
        self._said: bytes | None = None
        self.say(polling=False, notes=())

    def say(self, *, polling: bool, notes: Sequence[str]) -> None:
        """What `status` shows from now on."""
        members = {
            "pid": os.getpid(),
            "since": str(self._since),
            "roots": self._roots,
            "polling": polling,
            "notes": tuple(notes),
        }
        said = json.dumps(members).encode()
        if said != self._said:
            with suppress(Unavailable):  # a full disk is told by what needs it more
                self._store.disk.write_volatile(_saying(self._lock), said)
                self._said = said

    def take_down(self) -> None:
        self._store.disk.remove(_saying(self._lock))
        self._store.disk.remove(self._lock)
        self._held.close()


def watchers(store: Store) -> Iterator[WatcherView]:
    """Those at work now."""
    for lock in _locks(store.disposable):
        if not _is_over(store.disk, lock):
            with suppress(FileNotFoundError, PcpfsError, ValueError, KeyError):
                yield _read(store.disk.read(_saying(lock)))


def _read(raw: bytes) -> WatcherView:
    said = json.loads(raw)
    return WatcherView(
        said["pid"],
        Instant.read(said["since"]),
        tuple(said["roots"]),
        said["polling"],
        tuple(said["notes"]),
    )


def _locks(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{_PREFIX}*{_LOCK}"))


def _saying(lock: Path) -> Path:
    return lock.with_suffix(_SAID)


def _free_lock(store: Store, held: ExitStack) -> Path:
    """A lock that is held from now on; a process may have several watchers."""
    for number in count():
        lock = store.disposable / f"{_PREFIX}{os.getpid()}-{number}{_LOCK}"
        with suppress(Busy):
            held.enter_context(store.disk.lock(lock, 0))
            return lock
    raise AssertionError("numbers do not end")


def _is_over(disk: Disk, lock: Path) -> bool:
    try:
        with disk.lock(lock, 0):
            return True
    except Busy:
        return False
    except PcpfsError:
        return True  # it cannot be looked at: nothing is told


def _take_down(disk: Disk, lock: Path) -> None:
    """Remove the sign of a watcher that is over."""
    with suppress(PcpfsError), disk.lock(lock, 0):
        disk.remove(_saying(lock))
        disk.remove(lock)
