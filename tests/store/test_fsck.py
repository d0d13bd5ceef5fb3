"""fsck names whatever is not what it says, and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, paths_of


@pytest.fixture
def filled(place: Workplace) -> Workplace:
    first = place.write("apple\n", path="x.md")
    other = place.write("pear\n", scope="project:b")
    place.revise(first.page_id, "green apple\n")
    place.session.link(first.page_id, "supports", other.page_id)
    place.session.archive(other.page_id, "done")
    return place


def named(place: Workplace) -> set[str]:
    return {problem.path for problem in fsck(place.store).problems}


def relative(place: Workplace, file: Path) -> str:
    return file.relative_to(place.path).as_posix()


def truth_files(place: Workplace) -> list[Path]:
    return [f for f in paths_of(place.path, "*") if "tree" not in f.parts]


def test_a_sound_store_has_no_problems(filled: Workplace) -> None:
    report = fsck(filled.store)
    assert report.problems == ()
    assert report.ok
    assert report.checked >= len(truth_files(filled))


def test_a_flipped_byte_in_any_file_of_the_truth_is_named(filled: Workplace) -> None:
    for file in truth_files(filled):
        whole = file.read_bytes()
        raw = bytearray(whole)
        raw[len(raw) // 2] ^= 1
        file.write_bytes(raw)
        assert relative(filled, file) in named(filled)
        file.write_bytes(whole)
    assert fsck(filled.store).ok


def test_a_missing_file_of_the_truth_is_named_with_and_without_the_catalog(
    filled: Workplace,
) -> None:
    for file in truth_files(filled):
        whole = file.read_bytes()
        file.unlink()
        assert relative(filled, file) in named(filled)
        filled.close()
        shutil.rmtree(filled.path / ".pcpfs")
        again = filled.reopened()
        assert relative(again, file) in named(again)
        again.close()
        file.write_bytes(whole)
        shutil.rmtree(filled.path / ".pcpfs")
        filled = filled.reopened()
    assert fsck(filled.store).ok
    filled.close()


def test_a_truncated_or_swapped_payload_is_named(filled: Workplace) -> None:
    one, other = [f for f in truth_files(filled) if "payloads" in f.parts][:2]
    raw = one.read_bytes()
    one.write_bytes(raw[:-1])
    assert relative(filled, one) in named(filled)
    one.write_bytes(other.read_bytes())
    assert relative(filled, one) in named(filled)


def test_a_stray_file_among_a_pages_is_named(filled: Workplace) -> None:
    folder = paths_of(filled.path, "rev_*")[0].parent
    for name in ("chg_x (conflicted copy).json", "notes.txt"):
        (folder / name).write_text("?")
        assert relative(filled, folder / name) in named(filled)


def test_a_file_of_another_page_is_named(filled: Workplace) -> None:
    one = paths_of(filled.path, "rev_*")[0]
    other = next(f for f in paths_of(filled.path, "rev_*") if f.parent != one.parent)
    moved = other.parent / one.name
    moved.write_bytes(one.read_bytes())
    assert relative(filled, moved) in named(filled)


def test_a_catalog_that_lies_is_named(filled: Workplace) -> None:
    filled.store.catalog.db.execute("UPDATE page SET title = 'lie'")
    assert {p.code for p in fsck(filled.store).problems} == {"catalog"}
    filled.store.reindex()
    assert fsck(filled.store).ok


def test_an_index_that_lacks_documents_is_named(filled: Workplace) -> None:
    filled.session.flush_indexes()
    filled.store.catalog.db.execute("UPDATE document SET key = key || 'x' WHERE past = 0")
    assert "index" in {p.code for p in fsck(filled.store).problems}
    filled.store.reindex()
    assert fsck(filled.store).ok


def test_edits_in_tree_are_no_problems(filled: Workplace) -> None:
    filled.tree_file("x.md").write_bytes(b"mine")
    assert fsck(filled.store).ok


def test_a_file_that_is_in_no_commit_is_named(filled: Workplace) -> None:
    file = paths_of(filled.path, "chg_*")[0]
    filled.git("rm", "-q", "--cached", relative(filled, file))
    filled.git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "-m", "dropped")
    assert (relative(filled, file), "uncommitted") in {
        (p.path, p.code) for p in fsck(filled.store).problems
    }


def test_fsck_changes_nothing(filled: Workplace) -> None:
    file = paths_of(filled.path, "rev_*")[0]
    file.write_bytes(b"{}")
    before = filled.git("status", "--porcelain"), filled.commits()
    fsck(filled.store)
    assert (filled.git("status", "--porcelain"), filled.commits()) == before
    assert file.read_bytes() == b"{}"
