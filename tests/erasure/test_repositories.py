"""Erasing in repositories that are not whole or not usual: what cannot be reached is said."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pcpfs.errors import Unavailable
from pcpfs.store.erasure.erasing import Erasure, delete
from pcpfs.store.upkeeping.fsck import fsck
from tests.erasure.hideouts import AGAIN, OTHER, SECRET, TEXT, TITLE, holds
from tests.merge.clones import run
from tests.store.workplace import ANNA, Workplace

WORDS = (SECRET, TITLE, "4711-blue-heron-0815", "notes/key.md")


@pytest.fixture
def origin(place: Workplace) -> Iterator[Path]:
    """A store with a page that leaked, and with an older version of a person's own file."""
    place.write(OTHER, path="tides.md")
    (place.path / "own.txt").write_text("mine, at first\n")
    run(place.path, "add", "own.txt")
    run(place.path, "commit", "-qm", "a file of my own")
    leak = place.write(TEXT, path="notes/key.md").page_id
    (place.path / "own.txt").write_text("mine, as it is now\n")
    run(place.path, "commit", "-qam", "my own file again")
    place.revise(leak, AGAIN)
    place.write("# Boats\nA boat is no ship.\n", path="boats.md")
    run(place.path, "config", "uploadpack.allowFilter", "true")
    run(place.path, "config", "uploadpack.allowAnySHA1InWant", "true")
    return place.path


@contextmanager
def cloned(origin: Path, *how: str) -> Iterator[Workplace]:
    folder = origin.with_name("clone")
    source = str(origin) if "--shared" in how else origin.as_uri()
    run(origin.parent, "clone", "-q", *how, source, str(folder))
    place = Workplace.at(folder)
    place.session.scopes()
    try:
        yield place
    finally:
        place.close()


def erased(place: Workplace) -> Erasure:
    return delete(place.store, ANNA, "notes/key.md", "it was not ours to keep", proven=True)


def check(place: Workplace, found: Erasure) -> None:
    assert found.proof is not None
    assert found.proof.traces == ()
    assert holds(place.path, *WORDS) == []
    assert fsck(place.store).problems == ()
    assert run(place.path, "fsck", "--full", "--no-dangling") == ""
    assert run(place.path, "status", "--porcelain") == ""
    assert place.session.payload("tides.md") == OTHER.encode()


def test_in_a_shallow_clone_what_is_here_goes_and_the_rest_is_named(origin: Path) -> None:
    with cloned(origin, "--depth=3") as place:
        found = erased(place)
        check(place, found)
        assert any("history is cut off here" in said for said in found.warnings)
        assert run(place.path, "rev-list", "--count", "HEAD").strip() == "4"


def test_in_a_clone_without_old_blobs_they_stay_where_they_are(origin: Path) -> None:
    with cloned(origin, "--filter=blob:none") as place:
        assert "?" in run(place.path, "rev-list", "--objects", "--all", "--missing=print")
        found = erased(place)
        check(place, found)
        assert any("left out here" in said for said in found.warnings)
        assert "mine, at first" in run(place.path, "log", "-p", "own.txt")


def test_in_a_clone_without_old_folders_it_is_refused(origin: Path) -> None:
    with cloned(origin, "--filter=tree:0") as place:
        with pytest.raises(Unavailable, match="without the folders of older commits"):
            erased(place)
        run(place.path, "fetch", "-q", "--no-auto-gc", "--refetch", "--filter=blob:none")
        check(place, erased(place))


def test_objects_borrowed_from_another_repository_are_named(origin: Path) -> None:
    with cloned(origin, "--shared") as place:
        found = erased(place)
        assert any("borrowed from" in said for said in found.warnings)
        assert found.proof is not None
        assert not found.proof.ok
        run(place.path, "repack", "-adq")
        (place.path / ".git/objects/info/alternates").unlink()
        assert holds(place.path, *WORDS) == []
        assert fsck(place.store).problems == ()


def test_a_repository_that_names_objects_by_sha256(place: Workplace) -> None:
    place.close()
    shutil.rmtree(place.path / ".git")
    run(place.path, "init", "-q", "-b", "main", "--object-format=sha256")
    run(place.path, "add", "-A")
    run(place.path, "commit", "-qm", "a store in another kind of repository")
    place = place.reopened()
    place.write(OTHER, path="tides.md")
    page = place.write(TEXT, path="notes/key.md").page_id
    run(place.path, "tag", "-a", "v1", "-m", f"about {TITLE}")
    run(place.path, "notes", "add", "-m", SECRET)
    place.revise(page, AGAIN)
    place.tree_file("notes/key.md").write_text(AGAIN + "an edit that was put aside\n")
    run(place.path, "stash", "-q")
    check(place, erased(place))
    place.close()


REFUSED: dict[str, Callable[[Path], None]] = {
    "reftable": lambda git: (git / "reftable").mkdir(),
    "git gc": lambda git: (git / "gc.pid").symlink_to("/proc/self/stat"),
    "BISECT_LOG": lambda git: (git / "BISECT_LOG").touch(),
}


@pytest.mark.parametrize("why", REFUSED)
def test_it_is_refused_while_git_stands_in_the_way(place: Workplace, why: str) -> None:
    page = place.write(TEXT, path="notes/key.md").page_id
    REFUSED[why](place.path / ".git")
    with pytest.raises(Unavailable, match=why):
        erased(place)
    assert place.session.payload(page) == TEXT.encode()
