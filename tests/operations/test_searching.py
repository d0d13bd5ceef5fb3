"""Modes, filters and cursors of a search (PCP SearchPages)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import SearchAnswer
from pcpfs.model.instants import Instant
from pcpfs.model.requests import MODES, Filters
from tests.store.workplace import Workplace, as_of


def titles(answer: SearchAnswer) -> list[str]:
    return [hit.title for hit in answer.results]


@pytest.fixture
def written(place: Workplace) -> Workplace:
    """Three pages that speak of tides: one owner's, one back-filled, one in another scope."""
    place.write("# Alpha\nthe Tide rises\n", path="a.md", epistemic={"authority": "owner"})
    place.write(
        "# Beta\nthe tide falls\n",
        path="b.md",
        valid_from=Instant.read("2020-01-01"),
        relations=(("depends_on", "a.md"),),
    )
    place.write(
        "# Gamma\na tide\n", scope="project:b", path="g.md", relations=(("inspired_by", "b.md"),)
    )
    return place


@pytest.mark.parametrize("mode", ["semantic", "hybrid", "Text", ""])
def test_a_mode_that_is_not_declared_is_refused(place: Workplace, mode: str) -> None:
    assert mode not in place.session.capabilities()["search_modes"]  # type: ignore[operator]
    with pytest.raises(UsageError, match="exact, text, graph, temporal, auto"):
        place.session.search("tide", mode=mode)


def test_semantic_search_is_declared_absent(place: Workplace) -> None:
    told = place.session.capabilities()
    assert told["search_modes"] == list(MODES)
    assert "semantic" in told["absent_search_modes"]  # type: ignore[operator]


def test_each_mode_says_its_channel_and_why(written: Workplace) -> None:
    session = written.session
    for mode, query in (
        ("exact", "Alpha"),
        ("text", "tide"),
        ("graph", "a.md"),
        ("temporal", ""),
    ):
        answer = session.search(query, mode=mode)
        assert answer.mode == mode
        assert answer.results
        for hit in answer.results:
            assert hit.channel in (mode, "text")
            assert hit.why


def test_exact_takes_upper_and_lower_case_as_they_are(written: Workplace) -> None:
    assert titles(written.session.search("the Tide rises", mode="exact")) == ["Alpha"]
    assert titles(written.session.search("the tide rises", mode="exact")) == []


def test_an_id_is_found_exactly_by_auto(written: Workplace) -> None:
    page = written.session.search("Beta").results[0]
    for name in (page.page_id, page.page_id[:16], page.revision_id):
        answer = written.session.search(name)
        assert answer.mode == "exact"
        assert [(hit.page_id, hit.why) for hit in answer.results] == [(page.page_id, "the id")]


def test_graph_walks_relations_both_ways_and_keeps_their_types(written: Workplace) -> None:
    """PCP-L2"""
    answer = written.session.search("a.md", mode="graph", filters=Filters(depth=2))
    assert [(hit.title, hit.why) for hit in answer.results] == [
        ("Beta", "depends_on ←"),
        ("Gamma", "depends_on ←, inspired_by ←"),
    ]
    only = Filters(depth=2, relation_types=("inspired_by",))
    assert titles(written.session.search("a.md", mode="graph", filters=only)) == []


def test_graph_leaves_out_other_scopes_and_does_not_pass_through_them(written: Workplace) -> None:
    """PCP-S1, PCP-L3"""
    written.write("# Delta\n", path="d.md", relations=(("cites_page", "g.md"),))
    found = written.session.search(
        "b.md", mode="graph", scopes=["project:a"], filters=Filters(depth=3)
    )
    assert titles(found) == ["Alpha"]
    with pytest.raises(NotFound):
        written.session.search("g.md", mode="graph", scopes=["project:a"])


def test_temporal_goes_by_when_it_holds_not_by_when_it_was_stored(written: Workplace) -> None:
    """PCP-T1"""
    answer = written.session.search("", mode="temporal")
    assert titles(answer) == ["Gamma", "Alpha", "Beta"]
    assert titles(written.session.search("falls tide", mode="temporal")) == ["Beta"]
    held = written.session.search("", mode="temporal", pins=as_of("2021-01-01"))
    assert titles(held) == ["Beta"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (Filters(epistemic=(("authority", "owner"),)), ["Alpha"]),
        (Filters(epistemic=(("integrity", "owner"),)), []),
        (Filters(relation_types=("inspired_by",)), ["Beta", "Gamma"]),
        (Filters(created_before=Instant.read("2039-01-01")), []),
        (Filters(created_after=Instant.read("2039-01-01")), ["Alpha", "Beta", "Gamma"]),
        (Filters(lifecycle=("archived",)), []),
        (Filters(lifecycle=("active", "archived")), ["Alpha", "Beta", "Gamma"]),
        (Filters(path="b.*"), ["Beta"]),
        (Filters(kinds=("event",)), []),
    ],
    ids=str,
)
def test_filters_hold_in_every_mode(written: Workplace, filters: Filters, found: list[str]) -> None:
    for mode, query in (("text", "tide"), ("temporal", "tide"), ("exact", "tide")):
        answer = written.session.search(query, mode=mode, filters=filters)
        wanted = [t for t in found if mode != "exact" or t != "Alpha"]
        assert sorted(titles(answer)) == wanted, mode


def test_recording_intervals_are_half_open(written: Workplace) -> None:
    first = written.session.log("a.md")[0].created_at
    for filters, found in (
        (Filters(created_after=first), True),
        (Filters(created_before=first), False),
    ):
        answer = written.session.search("tide", filters=filters)
        assert ("Alpha" in titles(answer)) is found


def test_each_state_is_found_only_when_asked_for(place: Workplace) -> None:
    """PCP-T2, PCP-T3"""
    pages = {name: place.write(f"# {name}\ntide\n", path=f"{name}.md") for name in "NRAT"}
    place.revise("R.md", "# New\nwave\n")
    place.session.archive("A.md", "old")
    place.session.tombstone("T.md", "wrong")
    for status, name in (("active", "N"), ("superseded", "R"), ("archived", "A")):
        for mode in ("text", "temporal"):
            answer = place.session.search("tide", mode=mode, filters=Filters(lifecycle=(status,)))
            assert [hit.revision_id for hit in answer.results] == [pages[name].revision_id]
            told = answer.results[0].lifecycle_status
            assert told == (None if status == "active" else status)
    audit = place.session.search("tide", filters=Filters(lifecycle=("tombstoned",)))
    assert [hit.lifecycle_status for hit in audit.results] == ["tombstoned"]
    assert place.session.payload(pages["A"].page_id) == b"# A\ntide\n"


def test_old_texts_of_an_archived_page_are_past_all_the_same(place: Workplace) -> None:
    page = place.write("# Old\ntide\n", path="a.md")
    place.revise("a.md", "# New\nwave\n")
    place.session.archive("a.md", "old")
    for mode in ("text", "temporal"):
        for statuses, found in (
            (("archived",), []),
            (("superseded",), []),
            (("archived", "superseded"), [page.revision_id]),
        ):
            answer = place.session.search("tide", mode=mode, filters=Filters(lifecycle=statuses))
            assert [hit.revision_id for hit in answer.results] == found


def parts(place: Workplace, limit: int, between: Iterator[object]) -> list[str]:
    """All results in parts, with something done after each."""
    found: list[str] = []
    cursor = None
    while True:
        answer = place.session.search("tide", limit=limit, cursor=cursor)
        found += [hit.page_id for hit in answer.results]
        cursor = answer.cursor
        if cursor is None:
            return found
        next(between, None)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(seed=st.randoms(use_true_random=False), limit=st.integers(1, 4))
def test_a_cursor_holds_while_others_write(place: Workplace, seed: object, limit: int) -> None:
    """What was there from the first part to the last comes exactly once, whoever writes between."""
    for page in place.store.catalog.pages("lifecycle = 'active'"):
        place.session.tombstone(page.page_id, "of the example before")
    kept = [place.write(f"tide {'wave ' * n}\n", path=f"{n}.md").page_id for n in range(7)]

    def meddling() -> Iterator[object]:
        for number in range(40):
            match seed.randrange(4):  # type: ignore[attr-defined]
                case 0:
                    yield place.write(f"tide tide {number}\n")
                case 1:
                    yield place.revise(seed.choice(kept), f"tide {number}\n")  # type: ignore[attr-defined]
                case 2:
                    yield place.write("wave " * number)
                case _:
                    yield place.session.flush_indexes()

    found = parts(place, limit, meddling())
    assert len(found) == len(set(found))
    assert set(kept) <= set(found)


def test_a_cursor_belongs_to_its_question(written: Workplace) -> None:
    cursor = written.session.search("tide", limit=1).cursor
    assert cursor
    for other in (
        {"query": "wave"},
        {"query": "tide", "filters": Filters(tags=("x",))},
        {"query": "tide", "mode": "temporal"},
        {"query": "tide", "pins": as_of("2041-01-01")},
    ):
        with pytest.raises(UsageError, match="cursor"):
            written.session.search(**other, cursor=cursor)  # type: ignore[arg-type]
