"""When to look at what: the watcher's state machine. Pure; time is seconds of a monotonic clock.

Drive it so: `noticed` for whatever the events say, `due` to be given a task, then `done` or
`failed`; sleep for `wait`. Nothing that was noticed is forgotten: it is waiting, or in the task in
hand, or was in a task that was done.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds. A task comes after `quiet` without events, at the latest `limit` after the first.

    `interval` is the longest time between two full looks; `echo` is when a full look that was
    caused by doubt is repeated, for what happened while directories were not watched yet.
    """

    quiet: float = 0.075
    limit: float = 1.0
    echo: float = 1.5
    interval: float = 45.0


@dataclass(frozen=True, slots=True)
class Look:
    """Look at these paths and at what is below them."""

    paths: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reconcile:
    """Look at everything; `paths` were noticed meanwhile. `doubted` tells that events asked for
    it, not the clock."""

    paths: frozenset[str]
    doubted: bool


Task = Look | Reconcile


@dataclass(frozen=True, slots=True)
class Debounce:
    """What was noticed in one root and not yet looked at. Starts with a full look."""

    timing: Timing = field(default_factory=Timing)
    dirty: frozenset[str] = frozenset()
    doubtful: bool = True
    first: float = -math.inf
    last: float = -math.inf
    in_hand: Task | None = None
    reconcile_at: float = math.inf
    rest_until: float = -math.inf

    def noticed(self, paths: Iterable[str], doubtful: bool, at: float) -> Debounce:
        """Something happened to these paths; `doubtful` when that may not be all (an overflow, a
        directory came or went, another commit was checked out)."""
        dirty = self.dirty.union(paths)
        if not doubtful and dirty == self.dirty == frozenset():
            return self
        first = self.first if self.is_waiting else at
        return replace(self, dirty=dirty, doubtful=self.doubtful or doubtful, first=first, last=at)

    def due(self, at: float) -> tuple[Debounce, Task | None]:
        """The task for now, if there is one; none while another is in hand."""
        if self.in_hand is not None or at < self._due_at:
            return self, None
        overdue = at >= self.reconcile_at
        if self.doubtful or overdue:
            return self._handing(Reconcile(self.dirty, self.doubtful))
        return self._handing(Look(self.dirty))

    def done(self, at: float) -> Debounce:
        """The task in hand was carried out."""
        if not isinstance(self.in_hand, Reconcile):
            return replace(self, in_hand=None)
        pause = self.timing.echo if self.in_hand.doubted else self.timing.interval
        return replace(self, in_hand=None, reconcile_at=at + pause)

    def failed(self, at: float) -> Debounce:
        """The task in hand was not carried out: all of it waits again, for `limit` at least."""
        task = self.in_hand
        if task is None:
            return self
        doubtful = isinstance(task, Reconcile)
        again = replace(self, in_hand=None, rest_until=at + self.timing.limit)
        return again.noticed(task.paths, doubtful, at)

    def wait(self, at: float) -> float:
        """Seconds until `due` has a task if nothing else happens; infinite while one is in hand."""
        return math.inf if self.in_hand is not None else max(0.0, self._due_at - at)

    @property
    def is_waiting(self) -> bool:
        """Whether something was noticed and is not in hand yet."""
        return self.doubtful or bool(self.dirty)

    @property
    def _due_at(self) -> float:
        settled = min(self.last + self.timing.quiet, self.first + self.timing.limit)
        due = min(settled, self.reconcile_at) if self.is_waiting else self.reconcile_at
        return max(due, self.rest_until)

    def _handing(self, task: Task) -> tuple[Debounce, Task]:
        return replace(self, dirty=frozenset(), doubtful=False, in_hand=task), task
