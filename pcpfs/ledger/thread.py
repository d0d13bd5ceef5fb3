"""One thread of a store, and the views of it: always of its newest state."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from pcpfs.errors import Busy, Corrupt, PcpfsError, ReadOnly, StorageFull, Unavailable
from pcpfs.ledger.chunks import CHUNK
from pcpfs.ledger.kept import Keeper, Kept, can_be_used
from pcpfs.ledger.shelf import Shelf, State
from pcpfs.ledger.views import Settings, Views
from pcpfs.ledger.words import Words
from pcpfs.machine import user_secret
from pcpfs.model.names import Namespace
from pcpfs.store import layout
from pcpfs.store.events.event_log import EventLog
from pcpfs.store.session import Session

_log = logging.getLogger(__name__)

LEDGER_LOCK = layout.LEDGER_LOCK

Answer = TypeVar("Answer")


class Thread:
    """Answers questions about one thread; what is kept of it lies in the disposable folder."""

    def __init__(
        self, session: Session, namespace: Namespace, settings: Settings, chunk: int = CHUNK
    ) -> None:
        self._store = store = session.store
        self.log = EventLog(session, namespace)
        words = Words()
        secret = cache(lambda: user_secret(store.disk, store.entropy))
        folder = store.path / layout.KEPT_THREADS
        self._shelf = Shelf(folder, namespace, store.disk, secret, chunk)
        self._kept = Kept(words, self.log, self._shelf)
        self._keeper = Keeper(words, self.log, self._shelf)
        self._state = State("", "")
        self._views = Views(settings, self._kept)

    def ask(self, question: Callable[[Views], Answer]) -> Answer:
        """The answer of what the store holds now.

        Where something that is kept turns out to be damaged, or another process replaced it
        meanwhile, it is made again, at last in memory.
        """
        if not self.log.is_readable():  # what is kept is of those who may read it
            self._start_over()
            return question(self._views)
        for remedy in (self._catch_up, self._repair):
            try:
                remedy()
                return question(self._views)
            except Corrupt:
                continue
        self._start_over()
        return question(self._views)

    def keep_up(self) -> None:
        """Take in the little that is new before somebody asks. If that cannot be done now, the next
        question does it."""
        if not self.log.is_readable():
            return
        stamp = self.log.stamp()
        try:
            with self._store.disk.lock(self._store.local_folder / LEDGER_LOCK, 0):
                found = self._shelf.state()
                if self._keeper.is_little_behind(found):
                    self._caught_up(found, stamp)
        except PcpfsError as error:
            _log.debug("what is kept of a thread stays behind: %s", error.message)

    def _catch_up(self) -> None:
        stamp = self.log.stamp()
        if self._state.stamp == stamp:
            return
        found = self._shelf.state()
        if found is None or found.stamp != stamp:
            found = self._under_lock(lambda: self._caught_up(self._shelf.state(), stamp))
        self._show(found)

    def _repair(self) -> None:
        """Go on with what is whole, else make it anew."""
        stamp = self.log.stamp()

        def repaired() -> State:
            found = self._shelf.state()
            is_other = found is not None and found != seen and can_be_used(self._shelf, found)
            return self._caught_up(found if is_other else None, stamp)

        seen, self._state = self._state, State("", "")
        self._show(self._under_lock(repaired))

    def _start_over(self) -> None:
        self._shelf.stay_in_memory()
        self._state = State("", "")
        self._show(self._caught_up(None, self.log.stamp()))

    def _caught_up(self, found: State | None, stamp: str) -> State:
        if found is not None and found.stamp == stamp:
            return found  # somebody else was faster
        return self._keeper.caught_up(found, stamp)

    def _under_lock(self, work: Callable[[], State]) -> State:
        """Where nothing can be written, or somebody else writes for long, all is done in memory."""
        try:
            with self._store.disk.lock(self._store.local_folder / LEDGER_LOCK, self._store.wait):
                return work()
        except (Busy, ReadOnly, StorageFull, Unavailable):
            self._shelf.stay_in_memory()
            return work()

    def _show(self, state: State) -> None:
        self._kept.show(state)
        self._views.refresh(grown=state.epoch == self._state.epoch)
        self._state = state
