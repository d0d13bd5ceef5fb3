"""What is said of the branches of a source: changes that add up."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.model.branches import Aside, Branches, Fork, Line
from pcpfs.model.instants import Instant

names = st.sampled_from("abcdef")
moments = st.sampled_from([Instant(0), Instant(1)])


@st.composite
def states(draw: st.DrawFn) -> Branches:
    """A commit is on the line or beside it, never both."""
    beside = draw(st.dictionaries(names, st.builds(Aside, st.none() | names, moments)))
    forks = draw(st.dictionaries(names, st.builds(Fork, moments, st.tuples(names))))
    tips = draw(st.dictionaries(names, names))
    apart = {c: fork for c, fork in forks.items() if c not in beside}
    return Branches(tips, beside, apart, line=draw(st.builds(Line, names, st.none() | moments)))


@settings(max_examples=50)
@given(st.lists(states(), max_size=4))
def test_the_changes_from_one_state_to_the_next_add_up(states: list[Branches]) -> None:
    known = Branches()
    for state in states:
        change = known.to(state)
        known = known.then(Branches.from_json(change.to_json()))
        assert known == state
        assert known.to(state).to_json() == {}
