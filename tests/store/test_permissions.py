"""A store that may not be written is read as ever, and says so once when somebody writes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.errors import ReadOnly
from pcpfs.model.answers import Pins
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.view.view import View
from tests.privileges import bound_by_permissions
from tests.store.workplace import Workplace, contents, recorded


def protect(folder: Path, mode: int) -> None:
    """Give or take the right to write, for all that is below."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(mode | (0o111 if path.is_dir() else 0))
    folder.chmod(mode | 0o111)


@pytest.mark.parametrize("part", [".", ".pcpfs", ".git", "scopes"])
def test_reading_needs_no_right_to_write(place: Workplace, part: str) -> None:
    page = place.write("apple\n", path="x.md").page_id
    then = place.clock.now()
    place.revise(page, "green apple\n")
    place.session.search("apple")
    place.close()
    protect(place.path / part, 0o444)
    before = {n: raw for n, raw in contents(place.path).items() if not n.endswith("-shm")}
    with bound_by_permissions():
        reader = place.reopened()
        assert reader.session.payload(page) == b"green apple\n"
        assert reader.session.payload(page, recorded(then)) == b"apple\n"
        assert len(reader.session.search("green").results) == 1
        assert View(reader.session, Pins()).file("/scopes/project/a/x.md").read()
        assert len(reader.session.log(page)) == 2
        reader.close()
    after = {n: raw for n, raw in contents(place.path).items() if not n.endswith("-shm")}
    protect(place.path / part, 0o644)
    if part == ".":
        assert after == before


def test_a_read_only_store_without_caches_is_read_too(place: Workplace) -> None:
    page = place.write("apple\n").page_id
    place.close()
    shutil.rmtree(place.path / ".pcpfs")
    protect(place.path, 0o444)
    with bound_by_permissions():
        reader = place.reopened()
        assert reader.session.payload(page) == b"apple\n"
        assert len(reader.session.search("apple").results) == 1
        reader.close()
    protect(place.path, 0o644)
    assert not (place.path / ".pcpfs").exists()


WRITES: dict[str, Callable[[Workplace, str], object]] = {
    "write": lambda place, page: place.write("more\n"),
    "revise": lambda place, page: place.revise(page, "more\n"),
    "tombstone": lambda place, page: place.session.tombstone(page, "wrong"),
    "link": lambda place, page: place.session.link(page, "supports", page),
}


@pytest.mark.parametrize("part", [".", ".git", "scopes"])
@pytest.mark.parametrize("name", WRITES)
def test_writing_is_one_clear_error_and_loses_nothing(
    place: Workplace, name: str, part: str
) -> None:
    page = place.write("apple\n", path="x.md").page_id
    place.close()
    protect(place.path / part, 0o444)
    with bound_by_permissions():
        writer = place.reopened()
        with pytest.raises(ReadOnly):
            WRITES[name](writer, page)
        assert writer.session.payload(page) == b"apple\n"
        writer.close()
    protect(place.path / part, 0o644)
    again = place.reopened()
    assert again.session.payload(page) == b"apple\n"
    assert WRITES[name](again, page)
    assert fsck(again.store).ok
    assert again.git("status", "--porcelain") == ""
    again.close()
