"""The fold: a pure function of the set of a page's changes (DESIGN §2)."""

from __future__ import annotations

from dataclasses import replace

from pcpfs.model.changes import (
    LifecycleSet,
    Linked,
    Named,
    Noted,
    Relation,
    Retracted,
    RevisionWritten,
    ScopeTitled,
    UnknownEvent,
    Unlinked,
)
from pcpfs.model.ids import RelationId, RootId
from pcpfs.model.pages import Facets
from pcpfs.model.roots import RootAdded
from pcpfs.store.folding.fold import (
    equal_heads,
    latest,
)
from pcpfs.store.folding.scope_fold import fold_scope
from tests.store.folding import (
    ANNA,
    CLONE,
    PAGE,
    SCOPE,
    History,
    at,
    closed,
    envelope,
    intervals,
    rev,
    saw,
    seconds,
)

A, B, C, D = map(rev, "abcd")


def test_changes_come_after_those_they_name_whatever_their_clocks_say() -> None:
    history = History()
    first = history.add(100, RevisionWritten(A))
    second = history.add(50, RevisionWritten(B, (A,)))
    third = history.add(0, Named("x.md"))
    assert [change for change, _ in history.fold().changes] == [first, second, third]
    assert history.fold().heads == (B,)


def test_changes_that_know_nothing_of_each_other_go_by_time_then_id() -> None:
    history = History()
    late = history.add(2, Named("late"), after=())
    early = history.add(1, Named("early"), after=())
    twins = sorted([history.add(3, Named(name), after=()) for name in ("p", "q", "r")])
    assert [change for change, _ in history.fold().changes] == [early, late, *twins]


def test_a_wrong_clock_reorders_nothing_and_only_dates() -> None:
    right, wrong = History(), History()
    for clock, history in ((1, right), (-(10**6), wrong)):
        first = history.add(0, RevisionWritten(A), Named("x.md"))
        second = history.add(10 * clock, RevisionWritten(B, (A,)), after=[first])
        history.add(20 * clock, LifecycleSet("archived", ""), after=[second])
    ours, theirs = right.fold(), wrong.fold()
    assert (ours.heads, ours.named, ours.lifecycle) == (
        theirs.heads,
        theirs.named,
        theirs.lifecycle,
    )
    assert [step.revision for step in ours.steps] == [step.revision for step in theirs.steps]


def test_a_missing_change_makes_the_page_incomplete_and_no_error() -> None:
    history = History()
    first = history.add(0, RevisionWritten(A))
    history.add(1, RevisionWritten(B, (A,)))
    assert not history.fold().incomplete
    del history.changes[first]
    state = history.fold()
    assert state.incomplete
    assert state.heads == (B,)


def test_what_the_next_change_comes_after_is_what_no_other_names() -> None:
    history = History()
    root = history.add(0, RevisionWritten(A))
    left = history.add(1, Named("l"), after=[root])
    right = history.add(1, Named("r"), after=[root])
    assert latest(history.changes) == tuple(sorted((left, right)))
    merged = history.add(2, Named("m"), after=[left, right])
    assert latest(history.changes) == (merged,)


def test_unknown_events_and_notes_change_nothing() -> None:
    plain, noisy = History(), History()
    for history, extra in ((plain, ()), (noisy, (UnknownEvent({"type": "x"}), Noted({"a": 1})))):
        history.add(0, RevisionWritten(A), Named("x.md"), *extra)
    one, other = plain.fold(), noisy.fold()
    assert (one.heads, one.named, one.lifecycle) == (other.heads, other.named, other.lifecycle)
    assert not other.incomplete


def test_the_latest_lifecycle_and_path_hold() -> None:
    history = History()
    history.add(0, RevisionWritten(A), Named("a.md"))
    assert history.fold().lifecycle == "active"
    history.add(1, LifecycleSet("tombstoned", "wrong"), Named("b.md"))
    assert (history.fold().lifecycle, history.fold().why, history.fold().named) == (
        "tombstoned",
        "wrong",
        Named("b.md"),
    )
    history.add(2, LifecycleSet("active", "right after all"))
    assert history.fold().lifecycle == "active"


def test_a_relation_is_there_until_it_is_withdrawn() -> None:
    relation = Relation(RelationId("rel_" + "0" * 26), A, "supports", PAGE, B, ANNA, at(0))
    history = History()
    history.add(0, RevisionWritten(A), Linked(relation))
    assert list(history.fold().relations.values()) == [relation]
    history.add(1, Unlinked(relation.relation_id))
    assert not history.fold().relations


class TestHeads:
    def test_a_revision_that_is_nobodys_parent_is_a_head(self) -> None:
        history = History()
        history.add(0, RevisionWritten(A))
        history.add(1, RevisionWritten(B, (A,)))
        assert history.fold().heads == (B,)

    def test_two_children_of_one_parent_are_two_heads_and_the_later_speaks(self) -> None:
        history = History()
        root = history.add(0, RevisionWritten(A))
        history.add(1, RevisionWritten(B, (A,)), after=[root])
        history.add(2, RevisionWritten(C, (A,)), after=[root])
        assert history.fold().heads == (C, B)

    def test_a_revision_with_both_as_parents_resolves(self) -> None:
        history = History()
        root = history.add(0, RevisionWritten(A))
        left = history.add(1, RevisionWritten(B, (A,)), after=[root])
        right = history.add(2, RevisionWritten(C, (A,)), after=[root])
        history.add(3, RevisionWritten(D, (B, C)), after=[left, right])
        assert history.fold().heads == (D,)

    def test_a_branch_from_an_older_revision_leaves_the_head_beside_it(self) -> None:
        history = History()
        for when, event in enumerate(
            [RevisionWritten(A), RevisionWritten(B, (A,)), RevisionWritten(C, (A,))]
        ):
            history.add(when, event)
        assert history.fold().heads == (C, B)

    def test_heads_that_say_the_same_are_one(self) -> None:
        bodies = {A: envelope("same"), B: envelope("same"), C: envelope("other")}
        assert equal_heads((A, B, C), bodies.__getitem__) == (A, C)

    def test_heads_with_other_facets_are_two(self) -> None:
        bodies = {A: envelope("same"), B: replace(envelope("same"), facets=Facets(title="x"))}
        assert equal_heads((A, B), bodies.__getitem__) == (A, B)

    def test_a_retracted_revision_is_none(self) -> None:
        history = History()
        history.add(0, RevisionWritten(A))
        wrong = history.add(1, RevisionWritten(B, (A,)))
        history.add(2, Retracted((wrong,)))
        assert history.fold().heads == (A,)


class TestTimeline:
    def test_observations_hold_from_their_own_time_to_the_next(self) -> None:
        history = History()
        history.add(9, saw("a", 1))
        history.add(10, saw("b", 5))
        assert intervals(history.fold().timeline) == [(A, 1, 5), (B, 5, None)]
        assert history.fold().in_force is not None

    def test_back_filled_history_comes_first_whatever_the_order_of_commands(self) -> None:
        history = History()
        history.add(100, saw("c", 50))
        history.add(200, saw("a", 1), saw("b", 20))
        assert intervals(history.fold().timeline) == [(A, 1, 20), (B, 20, 50), (C, 50, None)]

    def test_of_equal_times_the_later_change_holds_and_the_earlier_for_no_time(self) -> None:
        history = History()
        history.add(1, saw("a", 5))
        history.add(2, saw("b", 5))
        assert intervals(history.fold().timeline) == [(A, 5, 5), (B, 5, None)]

    def test_of_equal_times_in_one_change_the_later_event_holds(self) -> None:
        history = History()
        history.add(1, saw("b", 5), saw("a", 5))
        assert intervals(history.fold().timeline) == [(B, 5, 5), (A, 5, None)]

    def test_the_earliest_later_close_ends_an_observation(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 9))
        history.add(3, closed("a", 7))
        assert intervals(history.fold().timeline) == [(A, 1, 7)]
        assert history.fold().in_force is None

    def test_a_close_between_two_observations_leaves_a_gap(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 4, reason="moved"))
        history.add(3, saw("b", 8))
        (first, second) = history.fold().timeline
        assert intervals([first, second]) == [(A, 1, 4), (B, 8, None)]
        assert (first.ended_by, second.ended_by) == ("moved", None)

    def test_bytes_that_come_back_at_the_moment_of_the_close_hold_on(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 4))
        history.add(3, saw("a", 4))
        assert intervals(history.fold().timeline) == [(A, 1, 4), (A, 4, None)]

    def test_a_close_at_the_start_of_what_it_closes_leaves_no_time(self) -> None:
        history = History()
        history.add(1, saw("a", 4))
        history.add(2, closed("a", 4))
        assert intervals(history.fold().timeline) == [(A, 4, 4)]

    def test_a_close_ends_what_back_filling_puts_before_it(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 20))
        history.add(3, saw("b", 15))
        assert intervals(history.fold().timeline) == [(A, 1, 15), (B, 15, 20)]

    def test_a_retracted_observation_never_was(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        wrong = history.add(2, saw("b", 5))
        history.add(3, Retracted((wrong,)))
        assert intervals(history.fold().timeline) == [(A, 1, None)]

    def test_a_retracted_close_heals(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        wrong = history.add(2, closed("a", 5))
        history.add(3, Retracted((wrong,)))
        assert history.fold().in_force is not None

    def test_intervals_are_half_open_and_without_a_moment_no_clock_is_asked(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 10**9))
        first, future = history.fold().timeline
        assert [first.holds(at(t)) for t in (0.5, 1, 10**9 - 1, 10**9)] == [
            False,
            True,
            True,
            False,
        ]
        assert future.holds(None)
        assert not first.holds(None)

    def test_an_observation_knows_its_change_and_where_its_bytes_went(self) -> None:
        history = History()
        change = history.add(7, saw("a", 1))
        gone = replace(closed("a", 9, reason="moved"), to=PAGE)
        history.add(8, gone)
        (seen,) = history.fold().timeline
        assert (seen.change, seconds(seen.recorded_at), seen.basis) == (change, 7, "mtime")
        assert (seen.ended_by, seen.moved_to) == ("moved", PAGE)


def test_a_scope_has_the_title_and_the_roots_that_came_last() -> None:
    root = RootAdded(RootId("root_" + "0" * 26), "app", "git", CLONE)
    history = History()
    history.add(0, ScopeTitled("A"))
    history.add(1, root, ScopeTitled("B"))
    state = fold_scope(SCOPE, history.changes)
    assert (state.title, list(state.roots.values())) == ("B", [root])
    assert fold_scope(SCOPE, {}).title == SCOPE
