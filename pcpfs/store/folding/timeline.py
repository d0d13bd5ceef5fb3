"""The timeline of a source page: what was observed at its path, over which times; and the runs of
the frames in it. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from pcpfs.model.branches import Beside
from pcpfs.model.changes import COMMIT, FIRST, Closed, Observed
from pcpfs.model.ids import ChangeId, Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal

_EVENTS_OF_A_CHANGE = 32


def place_of(number: int, event: int) -> int:
    """The place of an event in the order of the fold, from that of its change and its own there."""
    return number << _EVENTS_OF_A_CHANGE | event


class Seen(NamedTuple):
    """An observation as it was said."""

    event: Observed
    place: int
    change: ChangeId
    at: Instant
    actor: Principal
    operation: str


class Ended(NamedTuple):
    """A closing as it was said."""

    event: Closed
    place: int
    change: ChangeId


class Aside(NamedTuple):
    """What a commit beside the line did, as it was said: the timeline knows nothing of it."""

    event: Beside
    place: int
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
    place: int
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


def timeline(observed: Iterable[Seen], closed: Iterable[Ended]) -> tuple[Observation, ...]:
    """Observations by time, each until the next or the earliest later close.

    Equal instants go by the order of changes, then of events; the earlier holds for no time. Those
    of a first scan yield to the history (CASES).
    """
    starts = sorted(_yielding(list(observed)))
    closed = tuple(closed)
    whole = sorted(
        (item.event.valid_to, item.place, 0, item.event)
        for item in closed
        if item.event.frames is None
    )
    partial = [item.event for item in closed if item.event.frames is not None]
    result = []
    for start, after in zip_longest(starts, starts[1:]):
        item, valid_from = start.seen, start.valid_from
        end, ended_by, closing = _end(start, after, whole)
        result.append(
            Observation(
                revision=item.event.revision,
                adapter=item.event.adapter,
                basis=item.event.basis,
                valid_from=valid_from,
                valid_to=end,
                place=item.place,
                change=item.change,
                recorded_at=item.at,
                actor=item.actor,
                operation=item.operation,
                ended_by=ended_by,
                moved_to=closing.to if isinstance(closing, Closed) else None,
                end_commit=closing.commit if closing else None,
                end_author=closing.author if closing else None,
                closed_frames=_partial(partial, valid_from, end),
                commit=item.event.commit,
                author=item.event.author,
            )
        )
    return tuple(result)


class _Start(NamedTuple):
    """Where an observation stands: `behind` is 1 right after what has the same place."""

    valid_from: Instant
    place: int
    behind: int
    seen: Seen


def _yielding(observed: Sequence[Seen]) -> Iterator[_Start]:
    """What a first scan saw is dropped where the history has the same bytes, else it is moved
    behind what the history says of the time before that scan. To tell it again of what was moved
    moves it no further."""
    commits = [(s.event.valid_from, s.place) for s in observed if s.event.basis == COMMIT]
    told = {seen.event.revision for seen in observed if seen.event.basis == COMMIT}
    for seen in observed:
        start = seen.event.valid_from
        if seen.event.basis != FIRST or not commits:
            yield _Start(start, seen.place, 0, seen)
        elif seen.event.revision not in told:
            last = max((commit for commit in commits if commit[0] <= seen.at), default=None)
            is_moved = last is not None and start <= last[0]
            at = (*last, 1 + seen.place) if last and is_moved else (start, seen.place, 0)
            yield _Start(*at, seen)


def _end(
    start: _Start, after: _Start | None, closes: Sequence[tuple[Instant, int, int, Closed]]
) -> tuple[Instant | None, str | None, Observed | Closed | None]:
    """When, why and by what an observation ends."""
    first = bisect_right(closes, start[:3], key=lambda close: close[:3])
    if first < len(closes) and (after is None or closes[first][0] <= after.valid_from):
        end, _, _, event = closes[first]
        return end, event.reason, event
    return (None, None, None) if after is None else (after.valid_from, "changed", after.seen.event)


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
    begun: Iterable[Run] = (),
) -> tuple[Run, ...]:
    """The derived valid time of every frame, in order of time.

    Observations that hold for no time contain nothing. `frames_of` gives the frames of one
    observation's bytes as its adapter sees them. `begun` are runs that hold before the first
    observation, and up to it.
    """
    done: list[Run] = []
    open_runs = {run.frame: run for run in begun}
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
