"""Where the space goes: every file of a store once, under what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pcpfs.errors import NotPermitted
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.sources.status import status
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.sizes import Sizes, sizes
from tests.store.workplace import ANNA, Workplace

AUTHORED, SOURCE = "what is written\n", "def f():\n    return 1\n"


@pytest.fixture
def filled(place: Workplace, tmp_path: Path) -> Workplace:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.py").write_text(SOURCE)
    (folder / "same.md").write_text(AUTHORED)
    place.write(AUTHORED, path="x.md", scope="project:a:b")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(folder, Namespace("project:a:b")))
    place.git("repack", "-d", "-q")
    return place


def held(found: Sizes) -> dict[tuple[str, str | None], int]:
    return {(part.kind, part.scope): part.bytes for part in found.parts}


def test_the_parts_are_all_files_of_the_store_and_add_up(filled: Workplace) -> None:
    found = sizes(filled.session)
    there = [
        os.lstat(os.path.join(at, name)) for at, _, names in os.walk(filled.path) for name in names
    ]
    folders = [os.lstat(at) for at, _, _ in os.walk(filled.path)]
    assert found.files == len(there) == sum(part.files for part in found.parts)
    assert found.bytes == sum(stat.st_size for stat in there) == sum(held(found).values())
    assert found.disk == sum(stat.st_blocks * 512 for stat in (*there, *folders))
    assert list(found.parts) == sorted(found.parts, key=lambda part: -part.disk)


def test_a_payload_is_of_a_source_unless_an_authored_page_has_it_too(filled: Workplace) -> None:
    found, scope = held(sizes(filled.session)), "project:a:b"
    assert found["payloads", scope] == found["tree", scope] == len(AUTHORED)
    assert found["source payloads", scope] == len(SOURCE)
    assert {"pages", "frames", "scope changes"} <= {kind for kind, of in found if of == scope}
    whole = {kind for kind, of in found if of is None}
    assert {"git packs", "git, other", "catalog", "local", "other"} <= whole


def test_gits_folder_counts_wherever_it_lies_and_a_file_of_two_names_once(
    filled: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    note = filled.path / "note.txt"
    before = sizes(filled.session)
    note.write_bytes(b"12345")
    os.link(note, filled.path / "again.txt")
    after = sizes(filled.session)
    assert (after.files, after.bytes) == (before.files + 1, before.bytes + 5)
    filled.close()
    (filled.path / ".git").rename(tmp_path / "elsewhere" / "git")
    (filled.path / ".git").write_text(f"gitdir: {tmp_path / 'elsewhere' / 'git'}\n")
    moved = Workplace.at(filled.path)
    packs = {part.kind: part for part in after.parts}["git packs"]
    assert packs in sizes(moved.session).parts
    moved.close()


def test_it_is_told_to_the_owner_who_asks(filled: Workplace) -> None:
    assert status(filled.session).size is None
    told = status(filled.session, size=True).size
    assert told is not None
    assert told.files == sizes(filled.session).files
    stranger = Session(filled.store, Principal("user:ben"))
    with pytest.raises(NotPermitted, match="where the space of the store goes"):
        status(stranger, size=True)
    stranger.close()
