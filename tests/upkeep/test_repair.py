"""Whatever byte is changed anywhere in a store is found, named, and mended as far as git has it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.upkeeping.fsck import FsckReport, fsck
from pcpfs.store.upkeeping.maintain import maintain
from pcpfs.store.upkeeping.repair import RepairReport, mend_to_open, repair
from tests.store.workplace import ANNA, SCOPE, Workplace, contents, paths_of


@pytest.fixture
def filled(place: Workplace, tmp_path: Path) -> Workplace:
    """Pages, a second scope, a link, a source, an index that has been searched."""
    page = place.write("apple\n", path="x.md")
    other = place.write("pear\n", scope="project:b")
    place.revise(page.page_id, "green apple\n")
    place.session.link(page.page_id, "supports", other.page_id)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text('def apple():\n    """An apple."""\n')
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(tmp_path / "code", Namespace(SCOPE)))
    place.session.search("apple")
    return place


def flip(file: Path, place: int | None = None) -> None:
    """Change one bit."""
    raw = bytearray(file.read_bytes())
    raw[len(raw) // 2 if place is None else place] ^= 1
    file.chmod(0o644)
    file.write_bytes(raw)


def named(report: FsckReport) -> set[str]:
    return {problem.path for problem in report.problems}


def repaired(place: Workplace) -> RepairReport:
    return repair(place.store, None, mend_to_open(place.path))


def relative(place: Workplace, file: Path) -> str:
    return file.relative_to(place.path).as_posix()


def truth_files(place: Workplace) -> list[Path]:
    return [file for file in paths_of(place.path, "*") if "tree" not in file.parts]


def flipped(file: Path) -> None:
    flip(file)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def removed(file: Path) -> None:
    file.unlink()


def test_a_sound_store_is_left_as_it_is(filled: Workplace) -> None:
    before, commits = contents(filled.path / "scopes"), filled.commits()
    report = repaired(filled)
    assert (report.ok, report.repaired, report.problems) == (True, (), ())
    assert (contents(filled.path / "scopes"), filled.commits()) == (before, commits)


@pytest.mark.parametrize("damage", [flipped, emptied, removed])
def test_every_file_of_the_truth_comes_back_from_git(
    filled: Workplace, damage: Callable[[Path], None]
) -> None:
    files = truth_files(filled)
    before, commits = contents(filled.path / "scopes"), filled.commits()
    for file in files:
        damage(file)
    shutil.rmtree(filled.path / ".pcpfs")
    place = filled.reopened()
    paths = {relative(place, file) for file in files}
    missed = paths - named(fsck(place.store))
    assert missed == set()
    report = repaired(place)
    assert report.problems == ()
    assert paths <= {problem.path for problem in report.repaired}
    assert contents(place.path / "scopes") == before
    assert place.commits() == commits
    assert [hit.title for hit in place.session.search("green").results] != []
    place.close()


def test_the_caches_are_built_anew(filled: Workplace) -> None:
    question = filled.session.search("apple").results
    index = next(file for file in (filled.path / ".pcpfs" / "index").rglob("*.trm"))
    flip(index)
    catalog = sqlite3.connect(filled.path / ".pcpfs" / "catalog.sqlite")
    catalog.execute("UPDATE page SET title = 'other'")
    catalog.execute("DELETE FROM change")
    catalog.commit()
    catalog.close()
    report = repaired(filled)
    assert relative(filled, index) in {problem.path for problem in report.repaired}
    assert {problem.code for problem in report.repaired} >= {"catalog", "index"}
    assert report.ok
    assert filled.session.search("apple").results == question


def test_a_flipped_byte_in_any_file_of_the_index_is_named(filled: Workplace) -> None:
    for kind in ("owner", "seal.json", "*.toc", "*.trm", "*.pst", "*.key.col", "*.row.col"):
        filled.session.flush_indexes()
        file = next(iter((filled.path / ".pcpfs" / "index").rglob(kind)))
        flip(file)
        assert relative(filled, file) in named(fsck(filled.store)), kind
        assert repaired(filled).ok


def test_a_flipped_byte_of_the_catalog_is_named_or_changes_nothing(filled: Workplace) -> None:
    filled.session.flush_indexes()
    filled.store.catalog.tidy()
    filled.close()
    file = filled.path / ".pcpfs" / "catalog.sqlite"
    whole, chance = file.read_bytes(), random.Random(7)
    seen = dump(file)
    for place in sorted(chance.sample(range(100, len(whole)), 25)):
        file.write_bytes(whole)
        flip(file, place)
        is_same = dump(file) == seen
        again = Workplace.at(filled.path)
        assert is_same or not fsck(again.store).ok or said(dump(file)) == said(seen), place
        again.close()
    file.write_bytes(whole)


def said(lines: list[str] | None) -> set[str]:
    """Without what tells a catalog that was built anew from the one before."""
    own = ('INSERT INTO "meta"', 'INSERT INTO "pending"')
    return {line for line in lines or () if not line.startswith(own)}


def dump(file: Path) -> list[str] | None:
    database = sqlite3.connect(file)
    try:
        sound = database.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)]
        return list(database.iterdump()) if sound else None
    except sqlite3.Error:
        return None
    finally:
        database.close()


@pytest.mark.parametrize("name", ["README.md", "AGENTS.md", ".gitattributes", ".gitignore"])
def test_generated_files_are_laid_anew(filled: Workplace, name: str) -> None:
    file = filled.path / name
    whole = file.read_bytes()
    for damage in (flipped, removed):
        damage(file)
        assert name in named(fsck(filled.store))
        assert repaired(filled).ok
        assert file.read_bytes() == whole


def test_damaged_settings_come_back_and_an_edit_is_committed(filled: Workplace) -> None:
    file = filled.path / "pcpfs.toml"
    whole = file.read_bytes()
    for damaged in (
        b"",
        whole[:80],
        whole.replace(b"format", b"formbt"),
        whole.replace(b'store_id = "st_', b'store_id = "st_00000000000000000000000000" #'),
    ):
        file.write_bytes(damaged)
        filled.close()
        assert [problem.path for problem in mend_to_open(filled.path)] == ["pcpfs.toml"]
        assert file.read_bytes() == whole
    edited = whole.replace(b'default_policy = "global"', b'default_policy = "strict"')
    file.write_bytes(edited)
    place = Workplace.at(filled.path)
    assert "pcpfs.toml" in named(fsck(place.store))
    assert repaired(place).ok
    assert file.read_bytes() == edited
    assert place.git("show", "HEAD:pcpfs.toml").encode() == edited
    place.close()


def test_another_owner_in_the_settings_is_named_and_left(filled: Workplace) -> None:
    file = filled.path / "pcpfs.toml"
    file.write_bytes(file.read_bytes().replace(b"user:anna", b"user:mallory"))
    report = repaired(filled)
    assert {problem.path for problem in report.problems} == {"pcpfs.toml"}
    assert b"user:anna" in filled.git("show", "HEAD:pcpfs.toml").encode()


def test_what_is_in_no_commit_is_committed_and_strays_are_only_named(filled: Workplace) -> None:
    file = paths_of(filled.path, "chg_*")[0]
    filled.git("rm", "-q", "--cached", relative(filled, file))
    filled.git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "-m", "dropped")
    stray = file.parent / "note.txt"
    stray.write_text("mine")
    report = repaired(filled)
    assert relative(filled, stray) in {problem.path for problem in report.problems}
    assert stray.read_text() == "mine"
    assert relative(filled, file) in filled.git("ls-tree", "-r", "--name-only", "HEAD")


def test_an_edit_in_tree_stays(filled: Workplace) -> None:
    filled.tree_file("x.md").write_text("mine\n")
    flip(paths_of(filled.path, "rev_*")[0])
    repaired(filled)
    assert filled.tree_file("x.md").read_text() == "mine\n"


def test_a_file_that_a_commit_dropped_comes_back_from_the_history(filled: Workplace) -> None:
    before = contents(filled.path / "scopes")
    file = next(f for f in paths_of(filled.path, "rev_*") if "project/b" in f.as_posix())
    filled.git("rm", "-q", relative(filled, file))
    filled.git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "-m", "dropped")
    assert repaired(filled).problems == ()
    assert contents(filled.path / "scopes") == before
    assert relative(filled, file) in filled.git("ls-tree", "-r", "--name-only", "HEAD")


def objects(place: Workplace) -> Iterator[Path]:
    folder = place.path / ".git" / "objects"
    yield from sorted(file for file in folder.rglob("*") if file.is_file())


@pytest.mark.parametrize("packed", [False, True])
def test_damaged_git_objects_are_named_and_blobs_and_trees_come_back(
    filled: Workplace, packed: bool
) -> None:
    if packed:
        maintain(filled.store)
    kinds = dict(
        line.split()[:2]
        for line in filled.git("cat-file", "--batch-check", "--batch-all-objects").splitlines()
    )
    head = filled.git("rev-list", "--objects", "--no-object-names", "HEAD^!").split()
    files = [f for f in objects(filled) if f.suffix == ".pack"] or [
        f for f in objects(filled) if kinds.get(f.parent.name + f.name) in ("blob", "tree")
        and f.parent.name + f.name in head
    ]  # fmt: skip
    assert files
    for file in files[:12]:
        raw = bytearray(file.read_bytes())
        blob = next(k for k in head if kinds[k] == "blob")
        at = _offset(filled, file, blob) if packed else len(raw) // 2
        flip(file, at)
        found = fsck(filled.store)
        assert relative(filled, file) in named(found), (file, found.problems)
    report = repaired(filled)
    assert report.problems == ()
    assert "git" in {problem.code for problem in report.repaired}
    filled.git("fsck", "--full")


def _offset(place: Workplace, pack: Path, blob: str) -> int:
    """Somewhere within the packed data of a blob."""
    listed = place.git("verify-pack", "-v", str(pack.with_suffix(".idx")))
    line = next(line.split() for line in listed.splitlines() if line.startswith(blob))
    return int(line[4]) + int(line[3]) - 3


def test_a_damaged_index_of_git_is_rebuilt_from_head(filled: Workplace) -> None:
    flip(filled.path / ".git" / "index")
    assert ".git/index" in named(fsck(filled.store))
    assert repaired(filled).ok
    assert filled.git("status", "--porcelain") == ""


def test_a_branch_that_names_no_commit_is_pointed_at_the_last_one(filled: Workplace) -> None:
    head = filled.git("rev-parse", "HEAD").strip()
    (filled.path / ".git" / "refs" / "heads" / "main").write_text("1" * 40 + "\n")
    place = filled.reopened()
    assert not fsck(place.store).ok
    assert repaired(place).problems == ()
    assert place.git("rev-parse", "HEAD").strip() == head
    place.close()


def test_a_damaged_state_of_this_clone_is_moved_aside(filled: Workplace) -> None:
    filled.close()
    folder = filled.path / ".git" / "pcpfs"
    for log in ("-wal", "-shm"):
        (folder / f"local.sqlite{log}").unlink(missing_ok=True)
    file = folder / "local.sqlite"
    damaged = b"\0" * 3000 + file.read_bytes()[3000:]
    file.write_bytes(damaged)
    assert [problem.code for problem in mend_to_open(filled.path)] == ["local"]
    assert (folder / "damaged" / "local.sqlite").read_bytes() == damaged
    place = Workplace.at(filled.path)
    assert fsck(place.store).ok
    place.close()
