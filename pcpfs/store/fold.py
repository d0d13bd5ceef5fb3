"""The fold: the state of a page as a pure function of the *set* of its changes.

Changes are folded in the order of `after`; ties go by (`at`, id). Nothing here reads a file or a
clock, so clones that hold the same files hold the same state.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from pcpfs.model.changes import (
    COMMIT,
    FIRST,
    Change,
    Closed,
    LifecycleSet,
    Linked,
    Named,
    Observed,
    Relation,
    Retracted,
    RevisionWritten,
    Unlinked,
)
from pcpfs.model.ids import ChangeId, Digest, FrameId, PageId, RelationId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal, Revision
from pcpfs.store.disputes import settled

Changes = Mapping[ChangeId, Change]
Place = tuple[int, ...]
Seen = tuple[Observed, Place, ChangeId, Change]
"""An observation, its place in the order of changes and events, and the change that tells it."""


@dataclass(frozen=True, slots=True)
class Step:
    """A revision's coming to be: by whom, when, by which change."""

    revision: RevisionId
    parents: tuple[RevisionId, ...]
    change: ChangeId
    at: Instant
    actor: Principal
    operation: str


@dataclass(frozen=True, slots=True)
class Observation:
    """Bytes seen at a source page's path, with the interval over which they held."""

    revision: RevisionId
    adapter: str
    basis: str
    valid_from: Instant
    valid_to: Instant | None
    change: ChangeId
    recorded_at: Instant
    actor: Principal
    operation: str
    ended_by: str | None = None
    moved_to: PageId | None = None
    commit: str | None = None
    author: str | None = None
    end_commit: str | None = None
    end_author: str | None = None
    closed_frames: Mapping[FrameId, Instant] = field(default_factory=dict)

    def holds(self, moment: Instant | None) -> bool:
        """At `moment`; without one: still now, with no clock involved."""
        if moment is None:
            return self.valid_to is None
        return self.valid_from <= moment and (self.valid_to is None or moment < self.valid_to)


@dataclass(frozen=True, slots=True)
class Ending:
    """Since when an authored revision does not hold, because somebody said so; `is_over` if that
    lay behind when it was said (no clock is involved)."""

    valid_to: Instant
    is_over: bool


@dataclass(frozen=True, slots=True)
class PageState:
    """What the set of a page's changes says.

    `steps` are the authored revisions in fold order, `timeline` the observations of a source page
    in order of time, `ends` what was closed. `heads` are revisions that are nobody's parent, the
    one that speaks first. `disputes` are the kinds of what clones decided without knowing of each
    other.
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
    path: str | None
    relations: Mapping[RelationId, Relation]
    disputes: tuple[str, ...] = ()
    ends: Mapping[RevisionId, Ending] = field(default_factory=dict)

    @property
    def is_source(self) -> bool:
        return bool(self.timeline)

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
    folder = _Folder()
    for number, (change, body) in enumerate(order):
        if change not in retracted:
            folder.take(number, change, body)
    counted = [item for item in order if item[0] not in retracted]
    lifecycle, disputes = settled(counted, folder.lifecycle)
    return PageState(
        page=page,
        namespace=namespace,
        changes=tuple(order),
        latest=latest(changes),
        incomplete=incomplete,
        steps=tuple(folder.steps.values()),
        heads=heads(tuple(folder.steps.values())),
        timeline=timeline(folder.observed, folder.closed),
        lifecycle=lifecycle.status,
        why=lifecycle.why,
        path=folder.path,
        relations=folder.relations,
        disputes=disputes,
        ends=folder.ends,
    )


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


class _Folder:
    """Takes changes in order; the mutable inside of `fold_page`."""

    def __init__(self) -> None:
        self.steps: dict[RevisionId, Step] = {}
        self.observed: list[Seen] = []
        self.closed: list[tuple[Closed, Place]] = []
        self.ends: dict[RevisionId, Ending] = {}
        self.lifecycle = LifecycleSet("active", "")
        self.path: str | None = None
        self.relations: dict[RelationId, Relation] = {}

    def take(self, number: int, change: ChangeId, body: Change) -> None:
        for place, event in enumerate(body.events):
            match event:
                case RevisionWritten():
                    step = Step(
                        event.revision, event.parents, change, body.at, body.actor, body.operation
                    )
                    self.steps.setdefault(event.revision, step)
                case Observed():
                    self.observed.append((event, (number, place), change, body))
                case Closed():
                    self.closed.append((event, (number, place)))
                    if event.frames is None:
                        self._end(event, body.at)
                case Retracted():
                    self._retract(frozenset(event.commits))
                case LifecycleSet():
                    self.lifecycle = event
                case Named():
                    self.path = event.path
                case Linked():
                    self.relations[event.relation.relation_id] = event.relation
                case Unlinked():
                    self.relations.pop(event.relation_id, None)
                case _:
                    pass

    def _retract(self, commits: frozenset[str]) -> None:
        """What was recorded so far of these commits; recorded again later, it counts."""
        if commits:
            self.observed = [item for item in self.observed if item[0].commit not in commits]
            self.closed = [item for item in self.closed if item[0].commit not in commits]

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


def timeline(
    observed: Iterable[Seen],
    closed: Iterable[tuple[Closed, Place]],
) -> tuple[Observation, ...]:
    """Observations by time, each until the next or the earliest later close.

    Equal instants go by the order of changes, then of events; the earlier holds for no time. Those
    of a first scan yield to the history (CASES).
    """
    seen = sorted(_yielding(list(observed)), key=lambda item: (item[0].valid_from, item[1]))
    whole = [(event, place) for event, place in closed if event.frames is None]
    partial = [event for event, _ in closed if event.frames is not None]
    result = []
    for index, (event, place, change, body) in enumerate(seen):
        end, ended_by, closing = _end(seen, index, (event.valid_from, place), whole)
        result.append(
            Observation(
                revision=event.revision,
                adapter=event.adapter,
                basis=event.basis,
                valid_from=event.valid_from,
                valid_to=end,
                change=change,
                recorded_at=body.at,
                actor=body.actor,
                operation=body.operation,
                ended_by=ended_by,
                moved_to=closing.to if isinstance(closing, Closed) else None,
                end_commit=closing.commit if closing else None,
                end_author=closing.author if closing else None,
                closed_frames=_partial(partial, event.valid_from, end),
                commit=event.commit,
                author=event.author,
            )
        )
    return tuple(result)


def _yielding(observed: Sequence[Seen]) -> Iterator[Seen]:
    """What a first scan saw is dropped where the history has the same bytes, else it is moved
    behind what the history says of the time before that scan."""
    commits = [(e.valid_from, place) for e, place, _, _ in observed if e.basis == COMMIT]
    told = {event.revision for event, _, _, _ in observed if event.basis == COMMIT}
    for item in observed:
        event, place, change, body = item
        if event.basis != FIRST or not commits:
            yield item
        elif event.revision not in told:
            last, behind = max((c for c in commits if c[0] <= body.at), default=(None, place))
            is_moved = last is not None and event.valid_from <= last
            moved = replace(event, valid_from=last or event.valid_from)
            yield (moved, (*behind, 1), change, body) if is_moved else item


def _end(
    seen: Sequence[Seen],
    index: int,
    start: tuple[Instant, Place],
    closes: Sequence[tuple[Closed, Place]],
) -> tuple[Instant | None, str | None, Observed | Closed | None]:
    """When, why and by what an observation ends."""
    later = [(event.valid_to, place, event) for event, place in closes]
    ends = sorted((at, place, event) for at, place, event in later if (at, place) > start)
    successor = seen[index + 1][0] if index + 1 < len(seen) else None
    if ends and (successor is None or ends[0][0] <= successor.valid_from):
        return ends[0][0], ends[0][2].reason, ends[0][2]
    return (None, None, None) if successor is None else (successor.valid_from, "changed", successor)


def _partial(
    closes: Sequence[Closed], start: Instant, end: Instant | None
) -> Mapping[FrameId, Instant]:
    ended: dict[FrameId, Instant] = {}
    for event in closes:
        if start <= event.valid_to and (end is None or event.valid_to < end):
            for frame in event.frames or ():
                ended[frame] = min(event.valid_to, ended.get(frame, event.valid_to))
    return ended


@dataclass(frozen=True, slots=True)
class Run:
    """A frame with one digest over a maximal stretch of adjacent observations that contain it.

    `first` and `last` are the observations at its ends (indexes into the timeline).
    """

    frame: FrameId
    digest: Digest
    valid_from: Instant
    valid_to: Instant | None
    first: int
    last: int


def runs(
    observations: Sequence[Observation],
    frames_of: Callable[[Observation], Mapping[FrameId, Digest]],
) -> tuple[Run, ...]:
    """The derived valid time of every frame, in order of time.

    Observations that hold for no time contain nothing. `frames_of` gives the frames of one
    observation's bytes as its adapter sees them.
    """
    done: list[Run] = []
    open_runs: dict[FrameId, Run] = {}
    for index, observation in enumerate(observations):
        if observation.valid_to is not None and observation.valid_to <= observation.valid_from:
            continue
        current = frames_of(observation)
        reached: dict[FrameId, Run] = {}
        for frame, digest in current.items():
            before = open_runs.pop(frame, None)
            end = observation.closed_frames.get(frame, observation.valid_to)
            if before and before.digest == digest and before.valid_to == observation.valid_from:
                run = Run(frame, digest, before.valid_from, end, before.first, index)
            else:
                done.extend([before] if before else [])
                run = Run(frame, digest, observation.valid_from, end, index, index)
            reached[frame] = run
        done.extend(open_runs.values())
        open_runs = reached
    return (*done, *open_runs.values())


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
