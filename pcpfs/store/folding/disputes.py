"""What clones decided about a page without knowing of each other, and what then holds. Pure.

A tombstone holds once it knew of every revision: with one that it did not know the page stays
readable, and in dispute, until somebody who saw both revises, restores or tombstones it (PCP,
"Ours"). Of several names given at the same time one holds, and they stay in dispute until somebody
names it anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pcpfs.model.changes import Change, LifecycleSet, Named, RevisionWritten
from pcpfs.model.ids import ChangeId

TOMBSTONED = "tombstoned"
PATH = "path"
ACTIVE = LifecycleSet("active", "")

Order = Sequence[tuple[ChangeId, Change]]


class Settlement(NamedTuple):
    """The lifecycle that holds, and the kinds of what is in dispute."""

    lifecycle: LifecycleSet
    disputes: tuple[str, ...]


def settled(order: Order, said: LifecycleSet) -> Settlement:
    """What holds where the last word in the order of changes is `said`."""
    disputes: list[str] = []
    if said.status == TOMBSTONED:
        said, is_disputed = _lifecycle(order, said)
        disputes += [TOMBSTONED] if is_disputed else []
    if len(_given_names(order)) > 1 and _has_rival_names(order):
        disputes.append(PATH)
    return Settlement(said, tuple(disputes))


def _lifecycle(order: Order, said: LifecycleSet) -> tuple[LifecycleSet, bool]:
    above = _Ancestry(order)
    words = _with(order, lambda event: isinstance(event, LifecycleSet))
    ends = _with(order, lambda e: isinstance(e, LifecycleSet) and e.status == TOMBSTONED)
    last = [c for c in ends if not any(c in above.of(other) for other in words if other != c)]
    known = set(last).union(*(above.of(change) for change in last))
    revisions = _with(order, lambda event: isinstance(event, RevisionWritten))
    missed = [change for change in revisions if change not in known]
    if not missed:
        return said, False
    return ACTIVE, not any(above.of(change).issuperset(last) for change in missed)


def _has_rival_names(order: Order) -> bool:
    above = _Ancestry(order)
    named = _with(order, lambda event: isinstance(event, Named))
    last = {c for c in named if not any(c in above.of(other) for other in named if other != c)}
    return len(_given_names([item for item in order if item[0] in last])) > 1


def _given_names(order: Order) -> set[str]:
    """The last name that each change gives."""
    found: set[str] = set()
    for _, body in order:
        names = [event.path for event in body.events if isinstance(event, Named)]
        found.update(names[-1:])
    return found


def _with(order: Order, wanted: Callable[[object], bool]) -> list[ChangeId]:
    return [change for change, body in order if any(map(wanted, body.events))]


class _Ancestry:
    """The changes that each change knew of, through `after`."""

    def __init__(self, order: Order) -> None:
        self._known: dict[ChangeId, frozenset[ChangeId]] = {}
        for change, body in order:
            self._known[change] = self._above(body.after)

    def of(self, change: ChangeId) -> frozenset[ChangeId]:
        return self._known[change]

    def _above(self, after: Iterable[ChangeId]) -> frozenset[ChangeId]:
        near = [change for change in after if change in self._known]
        return frozenset(near).union(*(self._known[change] for change in near))
