"""Upkeep in the idle moments of a process that goes on and on, so that no save waits for it."""

from __future__ import annotations

from contextlib import ExitStack, suppress

from pcpfs.errors import Unavailable
from pcpfs.git.maintenance import Loose, Packing, loose_about
from pcpfs.store import layout
from pcpfs.store.store import Store

WORTH_PACKING = Loose(8_000, 4 << 20)
"""So many loose objects, or such space that they take, are worth packing: a save makes about 15
objects, and most of what they take is folders."""


class Upkeep:
    """Brings git's index up to date, packs its objects and shortens the logs of SQLite files,
    whenever nothing else is to do."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._packing: Packing | None = None
        self._left = Loose(0, 0)
        """What packing could not pack, such as in a partial clone: not worth a second attempt."""
        self._held = ExitStack()

    def turn(self) -> None:
        """Nothing happens now. Where another process is at work the next idle moment will do."""
        with suppress(Unavailable):
            self._store.settle_index()
            self._store.let_go()
            self._store.shorten_logs()
        if self._packing is not None and self._packing.has_ended():
            self._forget()
            self._left = loose_about(self._store.git)
        if self._packing is None and self._is_worth_packing():
            with suppress(Unavailable):
                self._start()

    def end(self) -> None:
        if self._packing is not None:
            self._packing.end()
            self._forget()

    def _is_worth_packing(self) -> bool:
        now, left = loose_about(self._store.git), self._left
        return (
            now.objects - left.objects >= WORTH_PACKING.objects
            or now.bytes - left.bytes >= WORTH_PACKING.bytes
        )

    def _start(self) -> None:
        """Not while objects are removed: what is packed then would have them again."""
        lock = self._store.local_folder / layout.PACK_LOCK
        self._held.enter_context(self._store.disk.lock(lock, 0))
        self._packing = Packing.start(self._store.git)

    def _forget(self) -> None:
        self._packing = None
        self._held.close()
