"""Upkeep: what makes the ten-thousandth write cost what the first one did.

Nothing here changes what a store says, and all of it may stop at any point. Only the removal of
litter holds the writer's lock, for milliseconds; packing runs beside readers and writers.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass

from pcpfs.git.follow import unfinished_in
from pcpfs.git.maintenance import Stored, drop_pending, pack, stored, write_commit_graph
from pcpfs.ports import Progress
from pcpfs.store import layout
from pcpfs.store.erasure.residues import purge_pending
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.litter import litter

MAINTENANCE_LOCK = "maintain.lock"
_STEPS = 4


@dataclass(frozen=True, slots=True)
class ThinReport:
    """How many payloads of old saves went, and how many bytes they held."""

    payloads: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MaintainReport:
    """What upkeep did: how git's objects lay before and after, what litter it removed (paths from
    the store on), how many
    documents it took into the text indexes, and erased pages of which it rewrote history."""

    before: Stored
    after: Stored
    removed: tuple[str, ...]
    indexed: int
    erased: tuple[str, ...] = ()
    thinned: ThinReport | None = None


def maintain(store: Store, progress: Progress | None = None) -> MaintainReport:
    """Remove litter, pack git's objects, flush the text indexes. Busy if it is being done
    already."""
    with store.disk.lock(store.local_folder / MAINTENANCE_LOCK, 0):
        before = stored(store.git)
        removed = remove_litter(store)
        erased = _erase_pending(store)
        _tell(progress, 1)
        with store.disk.lock(store.local_folder / layout.PACK_LOCK, store.wait):
            pack(store.git)
        _tell(progress, 2)
        write_commit_graph(store.git)
        _tell(progress, 3)
        indexed = _flush_indexes(store, progress)
        store.catalog.tidy()
        _tell(progress, 4)
        return MaintainReport(before, stored(store.git), removed, indexed, erased)


def remove_litter(store: Store) -> tuple[str, ...]:
    """Take away what killed writers left; under the writer's lock, so none of it is in use."""
    with store.writing("maintain", store.owner):
        found = litter(store)
        for path in found:
            store.disk.remove_tree(path)
        drop_pending(store.git)
    return tuple(os.path.relpath(path, store.path).replace(os.sep, "/") for path in found)


def _erase_pending(store: Store) -> tuple[str, ...]:
    """Rewrite history without pages that were erased elsewhere, and that a pull brought along."""
    with store.writing("maintain", store.owner) as transaction:
        if unfinished_in(store.git) is not None:
            return ()  # the next maintain does it; `status` says what is pending
        at, actor = transaction.at, str(store.owner)
        return purge_pending(store.workshop, store.renew_caches, at, actor)


def _flush_indexes(store: Store, progress: Progress | None) -> int:
    with closing(Session(store, store.owner)) as session:
        waiting = session.index_state().pending
        session.flush_indexes(progress)
        return waiting - session.index_state().pending


def _tell(progress: Progress | None, done: int) -> None:
    if progress is not None:
        progress.step("maintaining", done, _STEPS)
