"""What can be derived may go: caches, catalogs, copies and clones give the same answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.model.answers import plain
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, contents


def answers(place: Workplace) -> object:
    """Everything that is asked of a store, in order."""
    session = place.session
    pages = [row.page_id for row in place.store.catalog.pages()]
    found = [session.search(words) for words in ("apple", "apple pear", "ap*", '"red apple"')]
    about = [
        (session.manifest(p), session.log(p), session.relations(p), session.facets(p))
        for p in pages
    ]
    return plain([found, about, session.scopes(), session.conflicts(), session.suspects()])


def fill(place: Workplace) -> None:
    """A little of everything that authored pages can be."""
    first = place.write("red apple\n", title="One", tags=("t",))
    other = place.write("pear and apple\n", path="notes/x.md", scope="project:b")
    place.revise(first.page_id, "green apple\n")
    place.revise(first.page_id, "blue apple\n", branch=first.revision_id)
    place.session.link(other.page_id, "supports", first.page_id)
    place.session.archive(place.write("apple pie\n").page_id, "done")
    place.session.tombstone(place.write("rotten apple\n").page_id, "wrong")
    place.write("apple\n", path="notes/x.md", scope="project:b")


class TestDisposable:
    def test_without_its_caches_a_store_gives_the_same_answers_in_the_same_order(
        self, place: Workplace
    ) -> None:
        fill(place)
        before = answers(place)
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert answers(again) == before
        assert fsck(again.store).ok
        assert again.git("status", "--porcelain") == ""
        again.close()

    def test_a_reindex_gives_the_same_answers(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        assert place.store.reindex() == 5
        assert answers(place) == before

    def test_a_git_clone_gives_the_same_answers(self, place: Workplace, tmp_path: Path) -> None:
        fill(place)
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone")
        assert answers(clone) == answers(place)
        assert fsck(clone.store).ok
        clone.close()

    @pytest.mark.parametrize(
        "damage",
        [
            lambda file: file.write_bytes(b""),
            lambda file: file.write_bytes(b"garbage" * 1000),
            lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
            lambda file: file.unlink(),
        ],
        ids=["empty", "garbage", "half", "missing"],
    )
    def test_a_damaged_catalog_is_built_anew(
        self, place: Workplace, damage: Callable[[Path], object]
    ) -> None:
        fill(place)
        before = answers(place)
        place.close()
        damage(place.path / ".pcpfs/catalog.sqlite")
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_catalog_with_damage_inside_is_built_anew(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.close()
        file = place.path / ".pcpfs/catalog.sqlite"
        raw = bytearray(file.read_bytes())
        raw[8192:-4096] = bytes(len(raw) - 8192 - 4096)
        file.write_bytes(raw)
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_catalog_of_another_version_is_built_anew(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.store.catalog.set_meta("version", "0")
        place.store.catalog.db.execute("DROP TABLE span")
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_log_that_an_old_catalog_left_harms_no_new_one(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        copy = place.path.parent / "copy"
        shutil.copytree(place.path, copy)  # the catalog's write-ahead log is full now
        (copy / ".pcpfs/catalog.sqlite").write_bytes(b"garbage" * 1000)
        other = Workplace.at(copy, place.clock)
        assert answers(other) == before
        assert fsck(other.store).ok
        other.close()

    def test_a_catalog_that_vanishes_under_an_open_store_comes_back(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        shutil.rmtree(place.path / ".pcpfs")
        assert answers(place) == before
        assert place.write("apple\n").created

    def test_somebody_elses_index_is_never_opened(self, place: Workplace, tmp_path: Path) -> None:
        fill(place)
        before = answers(place)
        place.session.flush_indexes()
        place.close()
        folder = place.path / ".pcpfs/index"
        for name in contents(folder):
            if name != "lock":
                (folder / name).write_bytes(b"\x80\x04cos\nsystem\n(S'touch evil'\ntR.")
        again = place.reopened()
        assert answers(again) == before
        again.close()


class TestCopies:
    def test_a_copied_folder_is_a_new_clone_with_all_that_was_in_it(self, place: Workplace) -> None:
        fill(place)
        before, clone = answers(place), place.store.local.clone
        copy = place.path.parent / "copy"
        shutil.copytree(place.path, copy)
        other = Workplace.at(copy)
        assert other.store.local.clone != clone
        assert other.store.store_id == place.store.store_id
        assert answers(other) == before
        other.close()

    def test_the_same_folder_stays_the_same_clone(self, place: Workplace) -> None:
        clone = place.store.local.clone
        assert place.reopened().store.local.clone == clone

    def test_a_moved_folder_works_on(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.close()
        moved = place.path.parent / "moved to ünïcode"
        place.path.rename(moved)
        other = Workplace.at(moved)
        assert answers(other) == before
        assert other.write("more apple\n").created
        assert other.git("status", "--porcelain") == ""
        other.close()
