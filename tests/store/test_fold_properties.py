"""What holds of every set of changes, in whatever order its files arrive."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.changes import (
    Change,
    LifecycleSet,
    Named,
    RevisionWritten,
)
from pcpfs.model.ids import ChangeId, Digest, FrameId
from pcpfs.store.folding.fold import in_order
from pcpfs.store.folding.timeline import runs
from tests.store.folding import (
    History,
    at,
    closed,
    fold,
    frame,
    rev,
    saw,
)

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
