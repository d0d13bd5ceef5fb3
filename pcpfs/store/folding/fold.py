"""The fold: the state of a page as a pure function of the *set* of its changes.

Changes are folded in the order of `after`; ties go by (`at`, id). Nothing here reads a file or a
clock, so clones that hold the same files hold the same state.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pcpfs.model.branches import Beside
from pcpfs.model.changes import (
    Change,
    Closed,
    LifecycleSet,
    Linked,
    Named,
    Observed,
    Relation,
    Retracted,
    RevisionWritten,
    Thinned,
    Unlinked,
)
from pcpfs.model.ids import ChangeId, PageId, RelationId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal, Revision
from pcpfs.store.folding.disputes import settled
from pcpfs.store.folding.timeline import Aside, Ended, Observation, Run, Seen, place_of, timeline

Changes = Mapping[ChangeId, Change]


@dataclass(frozen=True, slots=True)
class Step:
    """A revision's coming to be: by whom, when, by which change."""

    revision: RevisionId
    parents: tuple[RevisionId, ...]
    change: ChangeId
    at: Instant
    actor: Principal
    operation: str


ASKED = "asked"
"""The reason of a `closed` of an authored revision: somebody said that it holds no longer."""

RETRACTED = "retracted"
"""How what was seen of a source page ended of which nothing counts any more."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Since when an authored revision does not hold, because somebody said so; `is_over` if that
    lay behind when it was said (no clock is involved)."""

    valid_to: Instant
    is_over: bool


@dataclass(frozen=True, slots=True)
class Earlier:
    """What lies before the tail of a page's timeline, where only the tail is folded.

    The tail begins at the instant `since`, with the span of number `ordinal`. `created_at` is of
    the page; `turns` (see `ChangeRow`) are of the changes that the new ones come after; `runs` are
    those that reach into the tail. The bytes of the revisions `thinned` went now.
    """

    since: Instant
    ordinal: int
    created_at: Instant
    turns: Mapping[ChangeId, int]
    runs: tuple[Run, ...]
    thinned: frozenset[RevisionId]


@dataclass(frozen=True, slots=True)
class PageState:
    """What the set of a page's changes says.

    `steps` are the authored revisions in fold order, `timeline` the observations of a source page
    in order of time, `closings` how they were ended, `ends` what was closed. `heads` are revisions
    that are nobody's parent, the one that speaks first. `disputes` are the kinds of what clones
    decided without knowing of each other. `thinned` are revisions whose bytes went. `asides` are
    what commits beside the line did, in fold order, each commit once: they decide nothing.

    With `earlier`, all collections hold only what is new or may have changed.
    """

    page: PageId
    namespace: Namespace
    changes: tuple[tuple[ChangeId, Change], ...]
    latest: tuple[ChangeId, ...]
    incomplete: bool
    steps: tuple[Step, ...]
    heads: tuple[RevisionId, ...]
    timeline: tuple[Observation, ...]
    lifecycle: str
    why: str
    named: Named | None
    relations: Mapping[RelationId, Relation]
    disputes: tuple[str, ...] = ()
    ends: Mapping[RevisionId, Ending] = field(default_factory=dict)
    closings: tuple[Ended, ...] = ()
    thinned: frozenset[RevisionId] = frozenset()
    earlier: Earlier | None = None
    asides: tuple[Aside, ...] = ()

    @property
    def is_source(self) -> bool:
        return bool(self.timeline or self.asides)

    @property
    def in_force(self) -> Observation | None:
        """The observation that holds now, if any does."""
        last = self.timeline[-1] if self.timeline else None
        return last if last and last.valid_to is None else None


def fold_page(page: PageId, namespace: Namespace, changes: Changes) -> PageState:
    """The state of a page from all of its changes that are at hand."""
    order, incomplete = in_order(changes)
    retracted = {
        change
        for _, body in order
        for event in body.events
        if isinstance(event, Retracted)
        for change in event.changes
    }
    folder = Folder()
    for number, (change, body) in enumerate(order):
        if change not in retracted:
            folder.take(number, change, body)
    counted = [(c, replace(body, events=()) if c in retracted else body) for c, body in order]
    lifecycle, disputes = settled(counted, folder.lifecycle)
    return PageState(
        page=page,
        namespace=namespace,
        changes=tuple(order),
        latest=latest(changes),
        incomplete=incomplete,
        steps=tuple(folder.steps.values()),
        heads=heads(tuple(folder.steps.values())),
        timeline=timeline(folder.observed, folder.closed) or _taken_back(order, folder),
        lifecycle=lifecycle.status,
        why=lifecycle.why,
        named=folder.named,
        relations=folder.relations,
        disputes=disputes,
        ends=folder.ends,
        closings=tuple(folder.closed),
        thinned=frozenset(folder.thinned),
        asides=tuple(folder.asides.values()),
    )


def _taken_back(
    order: Sequence[tuple[ChangeId, Change]], folder: Folder
) -> tuple[Observation, ...]:
    """Of a source page of which nothing counts any more the last that was seen, over no time."""
    observed = [
        Seen(event, place_of(number, at), change, body.at, body.actor, body.operation)
        for number, (change, body) in enumerate(order)
        for at, event in enumerate(body.events)
        if isinstance(event, Observed)
    ]
    if folder.steps or not observed:
        return ()
    last = observed[-1]
    end = Closed(last.event.revision, last.event.valid_from, RETRACTED)
    return timeline([last], [Ended(end, last.place + 1, last.change)])


def in_order(changes: Changes) -> tuple[list[tuple[ChangeId, Change]], bool]:
    """Changes after those they name in `after`, ties by (`at`, id); and whether any named one is
    missing."""
    waiting = {c: sum(after in changes for after in body.after) for c, body in changes.items()}
    followers: dict[ChangeId, list[ChangeId]] = {}
    for change, body in changes.items():
        for after in body.after:
            followers.setdefault(after, []).append(change)
    ready = [(changes[c].at, c) for c, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    order = []
    while ready:
        _, change = heapq.heappop(ready)
        order.append((change, changes[change]))
        for follower in followers.get(change, ()):
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, (changes[follower].at, follower))
    return order, any(after not in changes for after in followers)


def latest(changes: Changes) -> tuple[ChangeId, ...]:
    """The changes that no other names in `after`, sorted: what the next change is `after`."""
    named = {after for body in changes.values() for after in body.after}
    return tuple(sorted(change for change in changes if change not in named))


class Folder:
    """Takes changes in order, each with its number in it; the mutable inside of the fold."""

    def __init__(self) -> None:
        self.steps: dict[RevisionId, Step] = {}
        self.observed: list[Seen] = []
        self.closed: list[Ended] = []
        self.asides: dict[str, Aside] = {}
        self.thinned: set[RevisionId] = set()
        self.ends: dict[RevisionId, Ending] = {}
        self.lifecycle = LifecycleSet("active", "")
        self.named: Named | None = None
        self.relations: dict[RelationId, Relation] = {}

    def take(self, number: int, change: ChangeId, body: Change) -> None:
        for at, event in enumerate(body.events):
            place = place_of(number, at)
            match event:
                case RevisionWritten():
                    step = Step(
                        event.revision, event.parents, change, body.at, body.actor, body.operation
                    )
                    self.steps.setdefault(event.revision, step)
                case Observed():
                    seen = Seen(event, place, change, body.at, body.actor, body.operation)
                    self.observed.append(seen)
                    self.thinned.discard(event.revision)
                case Closed():
                    self.closed.append(Ended(event, place, change))
                    if event.frames is None:
                        self._end(event, body.at)
                case Beside():
                    aside = Aside(event, place, change, body.at, body.actor, body.operation)
                    self.asides[event.commit] = aside
                    self.thinned.difference_update(v.revision for v in event.versions)
                case Thinned():
                    self.thinned.update(event.revisions)
                case Retracted():
                    self._retract(frozenset(event.commits))
                case LifecycleSet():
                    self.lifecycle = event
                case Named():
                    self.named = event
                case Linked():
                    self.relations[event.relation.relation_id] = event.relation
                case Unlinked():
                    self.relations.pop(event.relation_id, None)

    def _retract(self, commits: frozenset[str]) -> None:
        """What was recorded so far of these commits; recorded again later, it counts."""
        if commits:
            self.observed = [item for item in self.observed if item.event.commit not in commits]
            self.closed = [item for item in self.closed if item.event.commit not in commits]

    def _end(self, event: Closed, at: Instant) -> None:
        """The earliest end counts."""
        known = self.ends.get(event.revision)
        is_over = event.valid_to <= at or (known is not None and known.is_over)
        end = min(event.valid_to, known.valid_to) if known else event.valid_to
        self.ends[event.revision] = Ending(end, is_over)


def heads(steps: Sequence[Step]) -> tuple[RevisionId, ...]:
    """Revisions that are nobody's parent; the last in fold order speaks and comes first."""
    parents = {parent for step in steps for parent in step.parents}
    return tuple(step.revision for step in reversed(steps) if step.revision not in parents)


def equal_heads(
    candidates: Sequence[RevisionId], envelope: Callable[[RevisionId], Revision]
) -> tuple[RevisionId, ...]:
    """Drop heads that say the same as an earlier one: equal payload and facets are one head."""
    if len(candidates) < 2:
        return tuple(candidates)
    distinct: dict[object, RevisionId] = {}
    for revision in candidates:
        body = envelope(revision)
        said = (body.payload, body.content_ref, body.source_refs, body.facets)
        distinct.setdefault(said, revision)
    return tuple(distinct.values())


@dataclass(frozen=True, slots=True)
class AuthoredSpan:
    """The interval over which an authored revision was the latest of its line."""

    revision: RevisionId
    valid_from: Instant
    valid_to: Instant | None


def authored_spans(
    steps: Sequence[Step],
    envelope: Callable[[RevisionId], Revision],
    closed: Mapping[RevisionId, Ending] = MappingProxyType({}),
) -> tuple[AuthoredSpan, ...]:
    """Each revision from its given `valid_from`, else its recording, until a child's start, its own
    given `valid_to` or the end that it was given later, whichever comes first; in fold order."""
    given = {step.revision: envelope(step.revision) for step in steps}
    starts = {s.revision: given[s.revision].valid_from or s.at for s in steps}
    ends: dict[RevisionId, list[Instant]] = {s.revision: [] for s in steps}
    for step in steps:
        for parent in step.parents:
            ends.setdefault(parent, []).append(starts[step.revision])
    spans = []
    for step in steps:
        limits = [*ends[step.revision], *filter(None, [given[step.revision].valid_to])]
        limits += [closed[step.revision].valid_to] if step.revision in closed else []
        start = starts[step.revision]
        spans.append(
            AuthoredSpan(step.revision, start, max(start, min(limits)) if limits else None)
        )
    return tuple(spans)
