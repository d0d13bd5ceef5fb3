"""What a mount is made of, as far as it needs no FUSE."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.errors import Busy, Conflict, NotFound, UsageError
from pcpfs.fuse.listing import Listing
from pcpfs.fuse.mounting import check
from pcpfs.fuse.searching import PatientSearch
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.view.nodes import Directory, File, listed
from tests.store.workplace import ANNA, Workplace

NAMES = tuple(f"{n:02d}" for n in range(20))


def folder() -> Directory:
    return listed(lambda: dict.fromkeys(NAMES, File(0, Instant(0), bytes)))


def taken(listing: Listing, start: int, most: int) -> Iterator[str]:
    """What a kernel takes: so many names, and it may have asked for more than it has room for."""
    for given_so_far, (number, name, _) in enumerate(listing.starting(start)):
        if given_so_far == most:
            return
        assert number == start + given_so_far
        yield name


@given(st.lists(st.integers(0, 9), max_size=30))
def test_a_folder_is_read_in_pieces_without_loss(pieces: list[int]) -> None:
    listing = Listing(folder)
    names: list[str] = []
    for most in [*pieces, 100]:
        names += taken(listing, len(names), most)
    assert names == [".", "..", *NAMES]


@given(st.lists(st.tuples(st.integers(0, 22), st.integers(1, 9)), max_size=12))
def test_a_folder_may_be_read_from_anywhere(jumps: list[tuple[int, int]]) -> None:
    listing, whole = Listing(folder), [".", "..", *NAMES]
    for start, most in jumps:
        assert list(taken(listing, start, most)) == whole[start : start + most]


def test_a_mount_needs_an_empty_folder_beside_the_store(tmp_path: Path) -> None:
    store, free = tmp_path / "store", tmp_path / "free"
    for path in (store / "tree", free):
        path.mkdir(parents=True)
    check(free, store, non_empty=False)
    with pytest.raises(NotFound, match="mkdir"):
        check(tmp_path / "nothing", store, non_empty=False)
    for inside in (store, store / "tree", tmp_path):
        with pytest.raises(UsageError):
            check(inside, store, non_empty=True)
    (free / "mine").touch()
    with pytest.raises(Conflict, match="--non-empty"):
        check(free, store, non_empty=False)
    check(free, store, non_empty=True)


def test_who_searches_waits_no_longer_than_they_may(place: Workplace) -> None:
    place.write("a basket of apples", path="x.md")
    search = PatientSearch(place.path, ANNA, longest=0.0)
    with pytest.raises(Busy):
        search("basket", pins=Pins(), limit=5)
    for _ in range(100):
        try:
            found = search("basket", pins=Pins(), limit=5).results
        except Busy:
            time.sleep(0.1)
        else:
            break
    assert [hit.title for hit in found] == [place.session.manifest("x.md").title]


def test_a_glance_waits_for_no_writer(place: Workplace) -> None:
    page = place.write("one").page_id
    other = Workplace.at(place.path, place.clock)
    with place.store.writing("write", ANNA), place.store.catalog.writing():
        assert other.session.reader(Pins(), glance=True).payload(page) == b"one"
    other.close()


def test_a_glance_sees_no_catalog_that_was_removed(place: Workplace) -> None:
    page = place.write("one").page_id
    place.session.reader(Pins(), glance=True)
    for name in os.listdir(place.path / ".pcpfs"):
        if name.startswith("catalog"):
            os.unlink(place.path / ".pcpfs" / name)
    with pytest.raises(Busy):
        place.session.reader(Pins(), glance=True)
    place.store.refresh()
    assert place.session.reader(Pins(), glance=True).payload(page) == b"one"
