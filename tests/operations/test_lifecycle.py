"""Close, suppress, archive and tombstone are different things (PCP-T1, T2, T3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import Conflict, InvalidInstant, NotFound, UsageError
from pcpfs.model.instants import Instant
from pcpfs.model.requests import Filters
from pcpfs.store.undo import undo
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, as_of, contents, recorded

MOMENT = Instant.read("2030-01-01")


def test_a_closed_page_leaves_search_and_is_found_as_of_then(place: Workplace) -> None:
    page = place.write("tide", valid_from=Instant.read("2020-01-01"), path="t.md").page_id
    before = place.session.log(page)[0].created_at
    place.session.close_at(page, MOMENT, "no longer so")
    search = place.session.search
    assert search("tide").results == ()
    assert [h.page_id for h in search("tide", pins=as_of("2029-12-31")).results] == [page]
    assert search("tide", pins=as_of(MOMENT)).results == ()  # half-open
    assert search("tide", pins=as_of("2019-12-31")).results == ()
    assert place.session.payload(page) == b"tide"
    assert place.session.manifest(page).valid_to == MOMENT
    assert place.session.manifest(page).lifecycle_status == "active"
    assert place.tree() == {"t.md": b"tide"}
    assert [h.page_id for h in search("tide", pins=recorded(before)).results] == [page]


def test_an_end_that_lies_ahead_is_told_and_changes_nothing_yet(place: Workplace) -> None:
    page = place.write("tide").page_id
    place.session.close_at(page, Instant.read("2050-01-01"), "the lease ends")
    assert [h.valid_to for h in place.session.search("tide").results] == [
        Instant.read("2050-01-01")
    ]


def test_of_two_ends_the_earlier_holds(place: Workplace) -> None:
    page = place.write("tide", valid_from=Instant.read("2020-01-01")).page_id
    place.session.close_at(page, MOMENT, "so")
    assert not place.session.close_at(page, Instant.read("2031-01-01"), "later").created
    assert place.session.close_at(page, Instant.read("2025-01-01"), "earlier").created
    assert place.session.manifest(page).valid_to == Instant.read("2025-01-01")


def test_a_revision_after_the_end_holds_again(place: Workplace) -> None:
    page = place.write("tide", valid_from=Instant.read("2020-01-01")).page_id
    place.session.close_at(page, MOMENT, "so")
    assert place.revise(page, "tide").created, "the same text, said anew"
    assert [h.page_id for h in place.session.search("tide").results] == [page]
    assert place.session.search("tide", pins=as_of("2035-01-01")).results == ()


def test_closing_is_undone_and_done_again(place: Workplace) -> None:
    page = place.write("tide", valid_from=Instant.read("2020-01-01")).page_id
    place.session.close_at(page, MOMENT, "so")
    for ends in (None, MOMENT, None):
        undo(place.store, place.session.principal)
        assert place.session.manifest(page).valid_to == ends
    assert fsck(place.store).problems == ()


def test_what_cannot_be_closed_is_refused(place: Workplace) -> None:
    page = place.write("tide", valid_from=MOMENT).page_id
    with pytest.raises(UsageError, match="cannot end before"):
        place.session.close_at(page, Instant.read("2029-01-01"), "x")
    first = place.session.manifest(page).revision_id
    place.revise(page, "one")
    place.revise(page, "two", branch=first)
    with pytest.raises(Conflict, match="several heads"):
        place.session.close_at(page, Instant.read("2035-01-01"), "x")
    place.session.tombstone(page, "x")
    with pytest.raises(Conflict):
        place.session.close_at(page, Instant.read("2035-01-01"), "x")


def test_the_same_state_after_the_catalog_is_built_anew(place: Workplace) -> None:
    page = place.write("tide", valid_from=Instant.read("2020-01-01")).page_id
    place.session.close_at(page, MOMENT, "so")
    before = place.session.manifest(page)
    place.store.reindex()
    assert place.session.manifest(page) == before
    assert place.session.search("tide").results == ()


def test_suppression_is_of_one_task_and_leaves_no_trace_in_the_store(
    place: Workplace, tmp_path: Path
) -> None:
    """PCP-T3; SuppressPages: durable state is untouched"""
    page, other = place.write("tide one").page_id, place.write("tide two").page_id
    before = contents(place.path / "scopes"), place.git("rev-parse", "HEAD")
    place.session.suppress("task-1", [page], "read already")
    found = {
        task: {h.page_id for h in place.session.search("tide", task=task).results}
        for task in (None, "task-1", "task-2")
    }
    assert found == {None: {page, other}, "task-1": {other}, "task-2": {page, other}}
    for mode in ("exact", "temporal"):
        answer = place.session.search("tide", mode=mode, task="task-1")
        assert [h.page_id for h in answer.results] == [other]
    assert (contents(place.path / "scopes"), place.git("rev-parse", "HEAD")) == before
    assert place.git("status", "--porcelain") == ""


def test_suppression_survives_the_process_and_ends_after_30_days(place: Workplace) -> None:
    page = place.write("tide").page_id
    place.clock.go_to("2040-02-01")
    (made,) = place.session.suppress("t", [page], "x")
    assert str(made.until).startswith("2040-03-02")
    place = place.reopened()
    assert place.session.search("tide", task="t").results == ()
    place.clock.go_to("2040-03-01T23:00:00Z")
    assert place.session.search("tide", task="t").results == ()
    place.clock.go_to("2040-03-02T00:01:00Z")
    assert len(place.session.search("tide", task="t").results) == 1
    assert place.session.suppressed("t") == ()
    place.close()


def test_suppression_is_lifted(place: Workplace) -> None:
    page = place.write("tide").page_id
    place.session.suppress("t", [page], "x")
    assert [s.page_id for s in place.session.suppressed("t")] == [page]
    assert place.session.lift("t", [page]) == 1
    assert place.session.lift("t", [page]) == 0
    assert len(place.session.search("tide", task="t").results) == 1


def test_a_suppressed_page_takes_no_place_in_a_limited_answer(place: Workplace) -> None:
    pages = [place.write(f"tide {n}").page_id for n in range(4)]
    place.session.suppress("t", pages[:2], "x")
    assert len(place.session.search("tide", task="t", limit=2).results) == 2


@pytest.mark.parametrize("task", ["", "x" * 201, "a\nb"])
def test_a_task_needs_a_name(place: Workplace, task: str) -> None:
    page = place.write("tide").page_id
    with pytest.raises(UsageError):
        place.session.suppress(task, [page], "x")


def test_the_five_ways_of_putting_away_differ(place: Workplace) -> None:
    """PCP-T3: archive, suppress, tombstone, close (delete is another matter)."""
    names = ("suppress", "archive", "tombstone", "close")
    pages = {n: place.write(f"tide {n}", path=f"{n}.md").page_id for n in names}
    session = place.session
    session.suppress("t", [pages["suppress"]], "x")
    session.archive(pages["archive"], "x")
    session.tombstone(pages["tombstone"], "x")
    session.close_at(pages["close"], session.manifest(pages["close"]).created_at, "x")
    states = {n: session.manifest(p).lifecycle_status for n, p in pages.items()}
    assert states == {
        "suppress": "active",
        "archive": "archived",
        "tombstone": "tombstoned",
        "close": "active",
    }
    assert set(place.tree()) == {"suppress.md", "archive.md", "close.md"}
    assert [h.page_id for h in session.search("tide").results] == [pages["suppress"]]
    for name in ("archive", "tombstone"):
        session.restore(pages[name], "back")
    assert len(session.search("tide").results) == 3


@pytest.mark.parametrize(
    ("given", "means"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03-01T13:00:00+01:00", "2026-03-01T12:00:00Z"),
        ("2026-03-01t09:30-05:30", "2026-03-01T15:00:00Z"),
        ("2026-03-01 12:00:00.1234567Z", "2026-03-01T12:00:00.123456Z"),
    ],
)
def test_any_offset_is_taken_and_normalised(place: Workplace, given: str, means: str) -> None:
    page = place.write("x", valid_from=Instant.read(given)).page_id
    assert str(place.session.manifest(page).valid_from) == means


@pytest.mark.parametrize(
    "given", ["2026-03-01T12:00:00", "2026-03-01 12:00", "12:00Z", "2026-02-30"]
)
def test_naive_times_are_refused(given: str) -> None:
    with pytest.raises(InvalidInstant):
        Instant.read(given)


def test_back_filled_facts_keep_their_valid_from(place: Workplace) -> None:
    start, end = Instant.read("2019-01-01"), Instant.read("2020-01-01")
    page = place.write("tide", valid_from=start, valid_to=end).page_id
    place = place.reopened()
    place.store.reindex()
    shown = place.session.manifest(page)
    assert (shown.valid_from, shown.valid_to) == (start, end)
    assert shown.created_at > end
    assert place.session.payload(page, as_of(start)) == b"tide"
    for outside in ("2018-12-31", end):
        with pytest.raises(NotFound):
            place.session.payload(page, as_of(outside))
    place.close()


def test_of_two_heads_the_one_that_was_closed_is_left_out_of_search(place: Workplace) -> None:
    """Also if the other one came later, and whichever of them speaks."""
    first = place.write("high tide\n")
    place.revise(first.page_id, "low tide\n")
    place.session.close_at(first.page_id, place.clock.now(), "over")
    early = Instant.read("2001-01-01")  # so that what is closed comes first by time
    place.revise(first.page_id, "spring tide\n", branch=first.revision_id, valid_from=early)
    everything = Filters(lifecycle=("active", "tombstoned"))
    for words, mode in (("tide", "text"), ("tide", "temporal"), ("", "temporal")):
        for filters in (None, everything):
            hits = place.session.search(words, mode=mode, filters=filters).results
            assert [hit.excerpt for hit in hits] == ["spring tide"], mode
    assert len(place.session.manifest(first.page_id).heads) == 2
    place.store.reindex()
    assert len(place.session.search("", mode="temporal").results) == 1
