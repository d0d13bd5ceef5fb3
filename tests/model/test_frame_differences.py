"""Differences of frames: what an adapter sees in a version, said by what it saw before."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.errors import Corrupt
from pcpfs.model.changes import Change, Observed
from pcpfs.model.frame_differences import Base, Difference, Kept
from pcpfs.model.frames import Extraction, Symbol
from pcpfs.model.ids import ChangeId, CloneId, Digest, PageId, RevisionId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from tests.model.strategies import extractions

BASE = Base(RevisionId.of(b"before"), ChangeId.of(b"that told of it"))
DOCUMENTED = 2


def between(before: Extraction, after: Extraction) -> Difference:
    return Difference.between(BASE, before, after, Digest.of(after.encode()))


def written(difference: Difference) -> Difference:
    """As it comes back from the change that it stands in."""
    event = Observed(RevisionId.of(b"after"), Instant(0), "seen", "python-1", difference=difference)
    page, clone = PageId("pg_" + "0" * 26), CloneId("cl_" + base32(bytes(16)))
    change = Change(
        Namespace("project:a"),
        page,
        Instant(0),
        clone,
        Principal("user:anna"),
        "sync",
        (),
        (event,),
    )
    (back,) = Change.decode(change.encode(), "x").events
    assert isinstance(back, Observed)
    assert back.difference is not None
    return back.difference


def module(*functions: tuple[str, int]) -> Extraction:
    """Functions of so many lines of ten bytes, each with documentation right before it."""
    lines = [0, *accumulate(DOCUMENTED + length for _, length in functions)]
    symbols = tuple(
        Symbol(
            "function",
            name,
            name,
            f"def {name}()",
            f"Says {name}.",
            (start + DOCUMENTED + 1, start + DOCUMENTED + length),
            (10 * (start + DOCUMENTED), 10 * (start + DOCUMENTED + length)),
            Digest.of(f"{name}{length}".encode()),
            (10 * start, 10 * (start + DOCUMENTED)),
        )
        for start, (name, length) in zip(lines, functions, strict=False)
    )
    return Extraction("python", 1, "python", symbols, line_count=lines[-1])


functions = st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 3)), max_size=12)


@given(st.lists(functions, min_size=2, max_size=6))
def test_versions_come_back_one_from_the_other(versions: list[list[tuple[str, int]]]) -> None:
    seen = [module(*version) for version in versions]
    told = [written(between(before, after)) for before, after in pairwise(seen)]
    now = seen[0]
    for difference, after in zip(told, seen[1:], strict=True):
        now = difference.applied(now, "x")
        assert now == after
        assert now.encode() == after.encode()


@given(extractions, extractions)
def test_whatever_two_extractions_hold_one_leads_to_the_other(
    before: Extraction, other: Extraction
) -> None:
    after = replace(other, adapter=before.adapter, version=before.version)
    difference = between(before, after)
    assert written(difference) == difference
    assert difference.applied(before, "x") == after


@given(functions, functions)
def test_an_unchanged_version_is_one_run_and_a_reordered_one_has_nothing_new(
    first: list[tuple[str, int]], second: list[tuple[str, int]]
) -> None:
    one, both = module(*first), module(*first, *second)
    assert between(one, one).symbols == ((Kept(0, len(first)),) if first else ())
    turned = between(both, module(*second, *first))
    assert all(isinstance(part, Kept) for part in turned.symbols)


def test_an_edit_of_one_function_is_that_function_and_how_far_the_rest_moved() -> None:
    before = module(("a", 3), ("b", 3), ("c", 3), ("d", 3))
    after = module(("a", 3), ("b", 5), ("c", 3), ("d", 3))
    difference = between(before, after)
    assert difference.symbols == (Kept(0, 1), after.symbols[1], Kept(2, 2, 2, 20))
    assert difference.others == {"line_count": 22}
    assert difference.to_json() == {
        "digest": Digest.of(after.encode()),
        "from": {"change": BASE.change, "revision": BASE.revision},
        "line_count": 22,
        "symbols": [
            {"at": 0, "count": 1},
            after.symbols[1].to_json(),
            {"at": 2, "bytes": 20, "count": 2, "lines": 2},
        ],
    }


def test_from_another_base_or_damaged_it_leads_nowhere() -> None:
    before, after = module(("a", 1), ("b", 1)), module(("a", 2), ("b", 1))
    difference = between(before, after)
    with pytest.raises(Corrupt, match="not what they were"):
        difference.applied(module(("a", 1), ("b", 2)), "x")
    with pytest.raises(Corrupt, match="no 1 symbols from number 1"):
        difference.applied(module(("a", 1)), "x")
    with pytest.raises(Corrupt, match="not what they were"):
        replace(difference, others={"line_count": 4}).applied(before, "x")


@pytest.mark.parametrize(
    "run", [{"at": -1, "count": 1}, {"at": 0, "count": 0}, {"at": 0, "count": True}, {"at": "0"}]
)
def test_a_run_is_of_whole_numbers(run: dict[str, object]) -> None:
    value = between(module(("a", 1)), module(("b", 1))).to_json() | {"symbols": [run]}
    with pytest.raises((Corrupt, KeyError)):
        Difference.from_json(value)
