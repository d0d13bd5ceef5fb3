"""The watcher's state machine: nothing is forgotten, nothing waits too long."""

from __future__ import annotations

import math

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from pcpfs.sources.debounce import Debounce, Look, Reconcile, Timing

TIMING = Timing(quiet=0.1, limit=1.0, echo=2.0, interval=30.0)


def begun() -> Debounce:
    """A machine after its first full look and the echo of that, at second 3."""
    state, _ = Debounce(TIMING).due(0.0)
    state, task = state.done(0.5).due(2.5)
    assert task == Reconcile(frozenset(), doubted=False)
    return state.done(3.0)


def test_it_begins_with_a_full_look() -> None:
    state, task = Debounce(TIMING).due(0.0)
    assert task == Reconcile(frozenset(), doubted=True)
    assert state.due(99.0)[1] is None


def test_events_are_looked_at_together_once_it_is_quiet() -> None:
    state = begun().noticed(["a"], False, 10.0).noticed(["b"], False, 10.05)
    assert state.due(10.14)[1] is None
    assert state.wait(10.05) > 0.09
    assert state.due(10.16)[1] == Look(frozenset(["a", "b"]))


def test_a_storm_is_looked_at_after_the_limit() -> None:
    state = begun()
    for step in range(20):
        state = state.noticed([f"p{step}"], False, 10.0 + step * 0.05)
        assert state.due(10.0 + step * 0.05)[1] is None
    assert state.due(11.0)[1] == Look(frozenset(f"p{step}" for step in range(20)))


def test_doubt_makes_it_look_at_everything_and_once_more_after_a_while() -> None:
    state, task = begun().noticed(["a"], True, 10.0).due(10.2)
    assert task == Reconcile(frozenset(["a"]), doubted=True)
    state = state.done(10.5)
    assert state.due(12.4)[1] is None
    state, task = state.due(12.5)
    assert task == Reconcile(frozenset(), doubted=False)
    assert state.done(12.6).due(42.5)[1] is None


def test_it_looks_at_everything_at_intervals_even_in_a_storm() -> None:
    state = begun().noticed(["a"], False, 32.99)
    assert begun().due(33.0)[1] == Reconcile(frozenset(), doubted=False)
    assert state.due(33.0)[1] == Reconcile(frozenset(["a"]), doubted=False)


def test_what_happens_while_a_task_is_in_hand_waits_for_the_next() -> None:
    state, _ = begun().noticed(["a"], False, 10.0).due(10.2)
    state = state.noticed(["a"], False, 10.3)
    assert state.due(20.0)[1] is None
    assert math.isinf(state.wait(20.0))
    assert state.done(20.0).due(20.0)[1] == Look(frozenset(["a"]))


def test_a_failed_task_comes_again_after_a_rest() -> None:
    state, _ = begun().noticed(["a"], True, 10.0).due(10.2)
    state = state.failed(10.3)
    assert state.due(11.2)[1] is None
    assert state.due(11.4)[1] == Reconcile(frozenset(["a"]), doubted=True)


def test_nothing_noticed_changes_nothing() -> None:
    state = begun()
    assert state.noticed([], False, 10.0) == state


class Watching(RuleBasedStateMachine):
    """Random events, ticks, successes and failures against a model of what is owed."""

    def __init__(self) -> None:
        super().__init__()
        self.state = Debounce(TIMING)
        self.now = 0.0
        self.owed: set[str] = set()
        self.owed_all = True
        self.waiting_since: float | None = 0.0
        self.rested = 0.0

    def _owe(self) -> None:
        if self.waiting_since is None:
            self.waiting_since = self.now

    @rule(seconds=st.sampled_from([0.0, 0.03, 0.09, 0.2, 0.6, 5.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(paths=st.sets(st.sampled_from("abcde"), min_size=1), doubtful=st.booleans())
    def events(self, paths: set[str], doubtful: bool) -> None:
        self.state = self.state.noticed(paths, doubtful, self.now)
        self.owed |= paths
        self.owed_all |= doubtful
        self._owe()

    @rule()
    def tick(self) -> None:
        before = self.state.in_hand
        overdue = self._is_overdue()
        self.state, task = self.state.due(self.now)
        assert task is None or before is None
        assert task is not None or not overdue
        if task is not None:
            assert self.owed == task.paths
            assert isinstance(task, Reconcile) or not self.owed_all
            self.owed, self.owed_all, self.waiting_since = set(), False, None

    def _is_overdue(self) -> bool:
        if self.state.in_hand is not None or self.waiting_since is None:
            return False
        return self.now >= max(self.waiting_since + TIMING.limit, self.rested)

    @precondition(lambda self: self.state.in_hand is not None)
    @rule()
    def task_is_done(self) -> None:
        self.state = self.state.done(self.now)

    @precondition(lambda self: self.state.in_hand is not None)
    @rule()
    def task_fails(self) -> None:
        task = self.state.in_hand
        assert task is not None
        self.state = self.state.failed(self.now)
        self.owed |= task.paths
        self.owed_all |= isinstance(task, Reconcile)
        self.rested = self.now + TIMING.limit
        self._owe()

    @invariant()
    def waiting_as_long_as_told_gives_a_task(self) -> None:
        wait = self.state.wait(self.now)
        if not math.isinf(wait):
            assert self.state.due(self.now + wait + 1e-9)[1] is not None

    @invariant()
    def a_full_look_is_always_to_come(self) -> None:
        assert self.state.in_hand is not None or not math.isinf(self.state.wait(self.now))


TestWatching = Watching.TestCase
TestWatching.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
