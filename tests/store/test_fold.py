"""The fold: a pure function of the set of a page's changes (DESIGN §2)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.changes import (
    Change,
    LifecycleSet,
    Linked,
    Named,
    Noted,
    Relation,
    Retracted,
    RevisionWritten,
    RootAdded,
    ScopeTitled,
    UnknownEvent,
    Unlinked,
)
from pcpfs.model.ids import ChangeId, Digest, FrameId, RelationId, RootId
from pcpfs.model.pages import Facets
from pcpfs.store.fold import (
    authored_spans,
    equal_heads,
    fold_scope,
    in_order,
    latest,
    runs,
)
from tests.store.folding import (
    ANNA,
    CLONE,
    PAGE,
    SCOPE,
    History,
    at,
    closed,
    envelope,
    fold,
    frame,
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
    assert (ours.heads, ours.path, ours.lifecycle) == (theirs.heads, theirs.path, theirs.lifecycle)
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
    assert (one.heads, one.path, one.lifecycle) == (other.heads, other.path, other.lifecycle)
    assert not other.incomplete


def test_the_latest_lifecycle_and_path_hold() -> None:
    history = History()
    history.add(0, RevisionWritten(A), Named("a.md"))
    assert history.fold().lifecycle == "active"
    history.add(1, LifecycleSet("tombstoned", "wrong"), Named("b.md"))
    assert (history.fold().lifecycle, history.fold().why, history.fold().path) == (
        "tombstoned",
        "wrong",
        "b.md",
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


Frames = Mapping[str, str]


def spans(history: History, texts: Mapping[str, Frames]) -> dict[str, list[tuple[object, ...]]]:
    """The runs of each named frame: digest text, start, end."""
    named = {frame(name): name for frames in texts.values() for name in frames}
    by_revision = {
        rev(text): {frame(n): Digest.of(d.encode()) for n, d in frames.items()}
        for text, frames in texts.items()
    }
    words = {Digest.of(d.encode()): d for frames in texts.values() for d in frames.values()}
    found: dict[str, list[tuple[object, ...]]] = {}
    for run in runs(history.fold().timeline, lambda o: by_revision[o.revision]):
        shown = (words[run.digest], seconds(run.valid_from), seconds(run.valid_to))
        found.setdefault(named[run.frame], []).append(shown)
    return found


class TestRuns:
    def test_an_unchanged_function_stays_open_while_its_file_changes(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5))
        history.add(3, saw("c", 9))
        texts = {"a": {"f": "1", "g": "x"}, "b": {"f": "1", "g": "y"}, "c": {"f": "1", "g": "y"}}
        assert spans(history, texts) == {
            "f": [("1", 1, None)],
            "g": [("x", 1, 5), ("y", 5, None)],
        }

    def test_a_frame_that_vanishes_closes_and_one_that_comes_opens(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5))
        assert spans(history, {"a": {"f": "1"}, "b": {"g": "1"}}) == {
            "f": [("1", 1, 5)],
            "g": [("1", 5, None)],
        }

    def test_a_revert_opens_a_new_run_of_the_old_digest(self) -> None:
        history = History()
        for when, text in ((1, "a"), (5, "b"), (9, "a")):
            history.add(when, saw(text, when))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "2"}}) == {
            "f": [("1", 1, 5), ("2", 5, 9), ("1", 9, None)]
        }

    def test_back_filling_moves_the_start_of_a_run_back(self) -> None:
        history = History()
        history.add(1, saw("b", 50))
        history.add(2, saw("a", 10))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "1"}}) == {"f": [("1", 10, None)]}

    def test_a_gap_ends_a_run_and_healing_opens_a_new_one(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5))
        history.add(3, saw("a", 9))
        assert spans(history, {"a": {"f": "1"}}) == {"f": [("1", 1, 5), ("1", 9, None)]}

    def test_bytes_that_were_back_at_once_never_left(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5))
        history.add(3, saw("a", 5))
        assert spans(history, {"a": {"f": "1"}}) == {"f": [("1", 1, None)]}

    def test_a_close_of_some_frames_leaves_the_others_open(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 5, "f"))
        history.add(3, closed("a", 4, "f"))
        history.add(4, closed("a", 99, "h"))
        texts = {"a": {"f": "1", "g": "1", "h": "1"}}
        assert spans(history, texts) == {
            "f": [("1", 1, 4)],
            "g": [("1", 1, None)],
            "h": [("1", 1, 99)],
        }

    def test_a_frame_that_was_closed_alone_comes_back_with_the_next_observation(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, closed("a", 4, "f"))
        history.add(3, saw("b", 9))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "1"}}) == {
            "f": [("1", 1, 4), ("1", 9, None)]
        }

    def test_an_observation_that_held_for_no_time_contains_nothing(self) -> None:
        history = History()
        history.add(1, saw("a", 1))
        history.add(2, saw("b", 5), saw("a", 5))
        assert spans(history, {"a": {"f": "1"}, "b": {"f": "2"}}) == {"f": [("1", 1, None)]}

    def test_a_run_knows_the_observations_at_its_ends(self) -> None:
        history = History()
        for when in (1, 5, 9):
            history.add(when, saw(str(when), when))
        seen = history.fold().timeline
        (run,) = runs(seen, lambda o: {frame("f"): Digest.of(b"same")})
        assert (run.first, run.last) == (0, 2)


class TestAuthoredSpans:
    def one(self, history: History, **given: float | None) -> list[tuple[float | None, ...]]:
        bodies = {
            A: envelope("a", valid_from=at(given["a_from"]) if given.get("a_from") else None),
            B: envelope(
                "b",
                valid_from=at(given["b_from"] or 0) if given.get("b_from") else None,
                valid_to=at(given["b_to"] or 0) if given.get("b_to") else None,
            ),
            C: envelope("c"),
        }
        found = authored_spans(history.fold().steps, bodies.__getitem__)
        return [(seconds(span.valid_from), seconds(span.valid_to)) for span in found]

    def line(self) -> History:
        history = History()
        history.add(10, RevisionWritten(A))
        history.add(20, RevisionWritten(B, (A,)))
        return history

    def test_a_revision_holds_from_its_recording_until_its_child(self) -> None:
        assert self.one(self.line()) == [(10, 20), (20, None)]

    def test_a_given_start_moves_it_and_what_came_before(self) -> None:
        assert self.one(self.line(), b_from=15) == [(10, 15), (15, None)]
        assert self.one(self.line(), a_from=3) == [(3, 20), (20, None)]

    def test_a_given_end_ends_it(self) -> None:
        assert self.one(self.line(), b_to=30) == [(10, 20), (20, 30)]

    def test_a_child_from_before_its_parent_leaves_the_parent_no_time(self) -> None:
        assert self.one(self.line(), b_from=5) == [(10, 10), (5, None)]

    def test_two_children_end_their_parent_at_the_earlier(self) -> None:
        history = self.line()
        history.add(15, RevisionWritten(C, (A,)))
        assert self.one(history) == [(10, 15), (20, None), (15, None)]


def test_a_scope_has_the_title_and_the_roots_that_came_last() -> None:
    root = RootAdded(RootId("root_" + "0" * 26), "app", "git", CLONE)
    history = History()
    history.add(0, ScopeTitled("A"))
    history.add(1, root, ScopeTitled("B"))
    state = fold_scope(SCOPE, history.changes)
    assert (state.title, list(state.roots.values())) == ("B", [root])
    assert fold_scope(SCOPE, {}).title == SCOPE


texts = st.sampled_from("abc")
events = st.one_of(
    st.builds(saw, texts, st.integers(0, 9)),
    st.builds(closed, texts, st.integers(0, 9)),
    st.builds(closed, texts, st.integers(0, 9), st.sampled_from("fg")),
    st.builds(lambda t, p: RevisionWritten(rev(t), (rev(p),)), texts, texts),
    st.builds(LifecycleSet, st.sampled_from(["active", "archived"]), st.just("")),
    st.builds(Named, texts),
)


@st.composite
def histories(draw: st.DrawFn) -> dict[ChangeId, Change]:
    """Any acyclic history: each change comes after some of those before it."""
    history = History()
    for _ in range(draw(st.integers(1, 7))):
        known = list(history.changes)
        after = draw(st.lists(st.sampled_from(known), unique=True, max_size=3)) if known else []
        history.add(draw(st.integers(0, 9)), *draw(st.lists(events, max_size=2)), after=after)
    return history.changes


def shuffled(changes: Mapping[ChangeId, Change], seed: int) -> dict[ChangeId, Change]:
    items = list(changes.items())
    random.Random(seed).shuffle(items)
    return dict(items)


@given(histories(), st.integers())
def test_the_order_in_which_files_arrive_does_not_matter(
    changes: dict[ChangeId, Change], seed: int
) -> None:
    assert fold(shuffled(changes, seed)) == fold(changes)


@given(histories(), st.integers())
def test_every_change_is_folded_once_and_after_those_it_names(
    changes: dict[ChangeId, Change], seed: int
) -> None:
    order, incomplete = in_order(shuffled(changes, seed))
    places = {change: number for number, (change, _) in enumerate(order)}
    assert set(places) == set(changes)
    assert not incomplete
    for change, body in changes.items():
        assert all(places[after] < places[change] for after in body.after)


@given(histories(), st.data())
def test_any_part_of_the_files_can_be_folded(
    changes: dict[ChangeId, Change], data: st.DataObject
) -> None:
    kept = data.draw(st.lists(st.sampled_from(sorted(changes)), unique=True))
    part = {change: changes[change] for change in kept}
    state = fold(part)
    named = {after for body in part.values() for after in body.after}
    assert state.incomplete == bool(named - set(part))


@given(histories())
def test_of_all_observations_at_most_one_holds_at_any_moment(
    changes: dict[ChangeId, Change],
) -> None:
    timeline = fold(changes).timeline
    for half in range(-1, 21):
        assert sum(o.holds(at(half / 2)) for o in timeline) <= 1
    assert sum(o.holds(None) for o in timeline) <= 1
    starts = [o.valid_from for o in timeline]
    assert starts == sorted(starts)
    assert all(o.valid_to is None or o.valid_to >= o.valid_from for o in timeline)


@given(histories(), st.dictionaries(texts, st.dictionaries(st.sampled_from("fgh"), texts)))
def test_runs_say_at_every_moment_what_the_observation_in_force_says(
    changes: dict[ChangeId, Change], contents: dict[str, dict[str, str]]
) -> None:
    timeline = fold(changes).timeline
    frames: dict[object, dict[FrameId, Digest]] = {
        rev(text): {frame(n): Digest.of(d.encode()) for n, d in contents.get(text, {}).items()}
        for text in "abc"
    }
    found = runs(timeline, lambda o: frames[o.revision])
    for half in range(-1, 21):
        moment = at(half / 2)
        expected = {
            (name, digest)
            for o in timeline
            if o.holds(moment)
            for name, digest in frames[o.revision].items()
            if name not in o.closed_frames or moment < o.closed_frames[name]
        }
        holding = [
            (run.frame, run.digest)
            for run in found
            if run.valid_from <= moment and (run.valid_to is None or moment < run.valid_to)
        ]
        assert len(holding) == len(set(holding))
        assert set(holding) == expected


@given(histories(), st.dictionaries(texts, st.dictionaries(st.sampled_from("fgh"), texts)))
def test_runs_are_maximal(
    changes: dict[ChangeId, Change], contents: dict[str, dict[str, str]]
) -> None:
    timeline = fold(changes).timeline
    frames: dict[object, dict[FrameId, Digest]] = {
        rev(text): {frame(n): Digest.of(d.encode()) for n, d in contents.get(text, {}).items()}
        for text in "abc"
    }
    found = [r for r in runs(timeline, lambda o: frames[o.revision]) if r.valid_to != r.valid_from]
    edges = {(run.frame, run.digest, run.valid_from) for run in found}
    touching = [r for r in found if r.valid_to and (r.frame, r.digest, r.valid_to) in edges]
    assert not touching


@given(histories())
def test_every_authored_revision_is_a_head_or_somebodys_parent(
    changes: dict[ChangeId, Change],
) -> None:
    state = fold(changes)
    parents = {parent for step in state.steps for parent in step.parents}
    assert {s.revision for s in state.steps} == set(state.heads) | (
        parents & {s.revision for s in state.steps}
    )
    assert not set(state.heads) & parents


@pytest.mark.parametrize("moment", [0, 5])
def test_no_changes_are_an_empty_page(moment: int) -> None:
    state = fold({})
    assert (state.heads, state.timeline, state.in_force, state.incomplete) == ((), (), None, False)
    assert state.lifecycle == "active"
