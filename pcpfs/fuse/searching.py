"""Searches of a mounted view: readers wait a few seconds for one, and never for an index."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from pcpfs.errors import Busy
from pcpfs.fuse.clerk import Clerk
from pcpfs.model.answers import Pins, SearchAnswer
from pcpfs.model.pages import Principal

LONGEST = 5.0
"""So many seconds a reader waits for a search."""

_MOST_WAITING = 16


class PatientSearch:
    """`Session.search`, done by another thread. Busy for what takes longer; it goes on meanwhile,
    and its answer is there when it is asked for again."""

    def __init__(self, store: Path, principal: Principal, longest: float = LONGEST) -> None:
        self._clerk: Clerk[SearchAnswer] = Clerk(store, principal)
        self._longest = longest
        self._waiting: dict[tuple[str, Pins], Future[SearchAnswer]] = {}

    def __call__(self, query: str, *, pins: Pins, limit: int) -> SearchAnswer:
        asked = query, pins
        future = self._waiting.pop(asked, None) or self._begun(query, pins, limit)
        try:
            return future.result(self._longest)
        except TimeoutError as error:
            while len(self._waiting) >= _MOST_WAITING:
                del self._waiting[next(iter(self._waiting))]
            self._waiting[asked] = future
            raise Busy(f"the search for {query!r} takes longer; ask again in a moment") from error

    def _begun(self, query: str, pins: Pins, limit: int) -> Future[SearchAnswer]:
        if not self._clerk.is_alive():
            self._clerk.start()
        return self._clerk.ask(lambda session: session.search(query, pins=pins, limit=limit))
