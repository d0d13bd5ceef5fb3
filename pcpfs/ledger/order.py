"""The order of a thread: an entry comes after those that it names, ties go by (time, id)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from pcpfs.ledger.chunks import Line
from pcpfs.ledger.corpus import LedgerEntry


class Placed(NamedTuple):
    """An entry and the revisions that it follows. `before` stands before it in its segment; for
    `seal` and `is_whole` see `EventRecord`."""

    revision: str
    after: tuple[str, ...]
    found: LedgerEntry
    before: str | None = None
    seal: bytes = b""
    is_whole: bool = True

    @property
    def line(self) -> Line:
        return Line(self.found, self.seal)

    @property
    def rank(self) -> tuple[int, str]:
        return self.found.entry.timestamp.microseconds, self.revision


def in_order(placed: Iterable[Placed]) -> list[Placed]:
    """All entries, whatever clones they come from, in the one order that all clones have.

    For what is missing (a damaged line) the line before it in the segment stands in. What then
    still waits for itself was made by no writer, and comes last.
    """
    by_revision = {one.revision: one for one in placed}
    waiting: dict[str, int] = {}
    followers: dict[str, list[str]] = {}
    for revision, one in by_revision.items():
        known = [before for before in one.after if before in by_revision]
        if len(known) < len(one.after) and one.before in by_revision:
            known.append(one.before)
        waiting[revision] = len(known)
        for before in known:
            followers.setdefault(before, []).append(revision)
    ready = [one.rank for one in by_revision.values() if not waiting[one.revision]]
    heapq.heapify(ready)
    order: list[Placed] = []
    while ready:
        _, revision = heapq.heappop(ready)
        order.append(by_revision[revision])
        for follower in followers.get(revision, ()):
            waiting[follower] -= 1
            if not waiting[follower]:
                heapq.heappush(ready, by_revision[follower].rank)
    if len(order) < len(by_revision):
        done = {one.revision for one in order}
        rest = (one for one in by_revision.values() if one.revision not in done)
        order += sorted(rest, key=lambda one: one.rank)
    return order


def goes_on(latest: set[str], new: list[Placed]) -> bool:
    """Whether these come after everything there is, one after the other: then nothing moves."""
    for one in new:
        if not latest <= set(one.after):
            return False
        latest = {one.revision}
    return True
