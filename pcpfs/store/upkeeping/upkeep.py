"""Upkeep in the idle moments of a process that goes on and on, so that no save waits for it."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from pcpfs.errors import Unavailable
from pcpfs.git.maintenance import Packing, loose_about
from pcpfs.store import layout
from pcpfs.store.store import Store

WORTH_PACKING = 8_000
"""Loose objects from which packing is worth its while: some 500 saves."""


class Upkeep:
    """Brings git's index up to date, and packs its objects, whenever nothing else is to do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._packing: Packing | None = None
        self._held = ExitStack()

    def turn(self) -> None:
        """Nothing happens now. Where another process is at work the next idle moment will do."""
        with suppress(Unavailable):
            self._store.settle_index()
            self._store.let_go()
        if self._packing is not None and self._packing.has_ended():
            self._forget()
        if self._packing is None and loose_about(self._store.git) >= WORTH_PACKING:
            with suppress(Unavailable):
                self._start()

    def end(self) -> None:
        if self._packing is not None:
            self._packing.end()
            self._forget()

    def _start(self) -> None:
        """Not while objects are removed: what is packed then would have them again."""
        lock = self._store.local_folder / layout.PACK_LOCK
        self._held.enter_context(self._store.disk.lock(lock, 0))
        self._packing = Packing.start(self._store.git)

    def _forget(self) -> None:
        self._packing = None
        self._held.close()
