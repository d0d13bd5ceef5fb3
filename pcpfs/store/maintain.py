"""Upkeep: what makes the ten-thousandth write cost what the first one did.

Nothing here changes what a store says, and all of it may stop at any point. Only the removal of
litter holds the writer's lock, for milliseconds; packing runs beside readers and writers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pcpfs.disk import LITTER
from pcpfs.git.maintenance import Stored, drop_pending, pack, stored, write_commit_graph
from pcpfs.ports import Progress
from pcpfs.store.session import Session
from pcpfs.store.store import Store

MAINTENANCE_LOCK = "maintain.lock"
_CRASHED = "fast_import_crash_"
_LONG_MICROSECONDS = 3_600_000_000
_STEPS = 4


@dataclass(frozen=True, slots=True)
class MaintainReport:
    """What upkeep did: how git's objects lay before and after, what litter it removed (paths from
    the store on), and how many documents it took into the text indexes."""

    before: Stored
    after: Stored
    removed: tuple[str, ...]
    indexed: int


def maintain(store: Store, progress: Progress | None = None) -> MaintainReport:
    """Remove litter, pack git's objects, flush the text indexes. Busy if it is being done
    already."""
    with store.disk.lock(store.local_folder / MAINTENANCE_LOCK, 0):
        before = stored(store.git)
        removed = remove_litter(store)
        _tell(progress, 1)
        pack(store.git)
        _tell(progress, 2)
        write_commit_graph(store.git)
        _tell(progress, 3)
        indexed = _flush_indexes(store, progress)
        store.catalog.tidy()
        _tell(progress, 4)
        return MaintainReport(before, stored(store.git), removed, indexed)


def remove_litter(store: Store) -> tuple[str, ...]:
    """Take away what killed writers left; under the writer's lock, so none of it is in use."""
    with store.writing("maintain", store.owner):
        found = sorted(_litter(store))
        for path in found:
            store.disk.remove_tree(path)
        drop_pending(store.git)
    return tuple(os.path.relpath(path, store.path).replace(os.sep, "/") for path in found)


def _litter(store: Store) -> Iterator[Path]:
    """A catalog may be in the making without the lock: only one that nobody wrote to for long."""
    since = store.clock.now().microseconds - _LONG_MICROSECONDS
    yield from _named(store.git.common_dir, _CRASHED)
    yield from _named(store.local_folder, LITTER)
    for path in _named(store.disposable, LITTER):
        if path.lstat().st_mtime_ns // 1000 < since:
            yield path


def _named(folder: Path, sign: str) -> list[Path]:
    names = os.listdir(folder) if folder.is_dir() else []
    return [folder / name for name in names if name.startswith(sign)]


def _flush_indexes(store: Store, progress: Progress | None) -> int:
    with closing(Session(store, store.owner)) as session:
        waiting = session.index_state().pending
        session.flush_indexes(progress)
        return waiting - session.index_state().pending


def _tell(progress: Progress | None, done: int) -> None:
    if progress is not None:
        progress.step("maintaining", done, _STEPS)
