"""An erased page leaves the text index of its scope, which is not built anew for it, by whichever
engine on disk."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.ports import SearchIndex
from pcpfs.store.erasure.erasing import delete
from tests.erasure.hideouts import holds
from tests.store.workplace import ANNA, SCOPE, Workplace

WHY = "not ours to keep"
WORDS = ("4711heron", "oldheron", "blueheron")


@pytest.fixture(params=["whoosh", "fts5"])
def place(place: Workplace, request: pytest.FixtureRequest) -> Iterator[Workplace]:
    """A store with that engine."""
    place.close()
    file = place.path / "pcpfs.toml"
    file.write_text(file.read_text().replace('"whoosh"', f'"{request.param}"'))
    chosen = place.reopened()
    yield chosen
    chosen.close()


@pytest.fixture
def page(place: Workplace) -> str:
    """A page whose earlier text lies dead in one part of the index, and its last in another."""
    page = place.write("# Harbour\nthe word was oldheron\n", path="key.md").page_id
    for number in range(3):
        place.write(f"# Tides {number}\nhigh water and low water\n")
    place.session.flush_indexes()
    place.revise(page, "# Harbour\nthe word is 4711heron, or blueheron\n")
    place.session.flush_indexes()
    place.write("# Boats\nhigh masts\n", scope="project:other")
    place.session.flush_indexes()
    return page


def indexes(place: Workplace) -> Iterator[SearchIndex]:
    searcher = place.store.text_indexes(lambda scope, keys: ())
    for past in (0, 1):
        yield from searcher.readers(place.store.catalog, SCOPE, past)
    searcher.close()


def vocabulary(place: Workplace) -> set[str]:
    return {term for index in indexes(place) for term in index.terms_from("")}


def built_at(place: Workplace) -> dict[Path, int]:
    """By the mark that only a new index gets."""
    return {path: os.stat(path).st_mtime_ns for path in (place.path / ".pcpfs").rglob("owner")}


def test_no_word_of_it_is_left_and_the_rest_is_found_as_before(place: Workplace, page: str) -> None:
    assert any("oldheron" in term for term in vocabulary(place))
    built = built_at(place)
    erased = delete(place.store, ANNA, page, WHY, proven=True)
    assert erased.proof is not None
    assert erased.proof.ok
    assert built_at(place) == built
    assert not [term for term in vocabulary(place) if "heron" in term or "harbour" in term]
    assert holds(place.path, *WORDS) == []
    found = place.session.search("high water")
    assert len(found.results) == 4
    assert built_at(place) == built
    place.store.reindex()
    assert place.session.search("high water") == found


def test_an_index_that_is_damaged_is_thrown_away(place: Workplace, page: str) -> None:
    for seal in (place.path / ".pcpfs").rglob("seal.json"):
        seal.unlink()
    delete(place.store, ANNA, page, WHY)
    assert holds(place.path, *WORDS) == []
    assert len(place.session.search("high water").results) == 4
