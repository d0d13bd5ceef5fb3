"""What a person committed in `tree/` with plain git is never dropped, whosever side it is on."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.store.trees.take_edits import EditTaker
from pcpfs.store.upkeeping.fsck import fsck
from tests.merge.clones import Clone, Family, push, run
from tests.store.workplace import ANNA
from tests.tree.hands import NO_TIME

LINES = [f"line {number}\n" for number in range(1, 9)]
FILE = "scopes/project/a/tree/x.md"


def changed(number: int, by: str) -> str:
    lines = list(LINES)
    lines[number - 1] = f"line {number} {by}\n"
    return "".join(lines)


def commit(folder: Path, text: str) -> None:
    """A person edits the file and commits it with their git."""
    (folder / FILE).write_text(text)
    run(folder, "commit", "--quiet", "-am", "by hand")


def pulled(folder: Path, how: str) -> None:
    run(folder, "pull", "--quiet", how, "--no-edit", fails=True)


def held(clone: Clone) -> str:
    """All lines that are in revisions after a `sync`: a clean merge of a person's git may hold
    both edits in one text."""
    EditTaker(clone.store, ANNA, NO_TIME).take()
    rows = clone.store.catalog.query("SELECT page_id, revision_id FROM revision")
    return "".join(clone.session.payload(f"{page}@{rev}").decode() for page, rev in rows)


def check_sound(clone: Clone) -> None:
    assert clone.store.edits() == ()
    assert clone.status() == ""
    assert fsck(clone.store).problems == ()


def cloned(family: Family, name: str) -> Path:
    """A clone that nobody has opened with pcpfs."""
    run(family.folder, "clone", "--quiet", str(family.hub), name)
    return family.folder / name


def check_kept(folder: Path, *expected: str) -> None:
    """Whoever opens this clone finds these lines in revisions, and all well."""
    clone = Clone.at(folder)
    clone.session.scopes()
    try:
        lines = held(clone)
        for line in expected:
            assert line in lines
        check_sound(clone)
    finally:
        clone.close()


@pytest.mark.parametrize("how", ["--no-rebase", "--rebase"])
@pytest.mark.parametrize("theirs", [1, 8], ids=["conflict", "apart"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "known"])
def test_my_own_commit_meets_a_revision(
    family: Family, how: str, theirs: int, is_new: bool
) -> None:
    one = family.clones[0]
    page = one.write("".join(LINES), path="x.md").page_id
    push(one)
    mine = cloned(family, "mine")
    if not is_new:
        Clone.at(mine).close()
    one.revise(page, changed(theirs, "of the hub"))
    push(one)
    commit(mine, changed(1, "by hand"))
    pulled(mine, how)
    check_kept(mine, "line 1 by hand\n", f"line {theirs} of the hub\n")


@pytest.mark.parametrize("how", ["--no-rebase", "--rebase"])
@pytest.mark.parametrize("theirs", [1, 8], ids=["conflict", "apart"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "known"])
def test_my_own_commit_meets_one_made_elsewhere(
    family: Family, how: str, theirs: int, is_new: bool
) -> None:
    one = family.clones[0]
    one.write("".join(LINES), path="x.md")
    push(one)
    other, mine = cloned(family, "other"), cloned(family, "mine")
    if not is_new:
        Clone.at(mine).close()
    commit(other, changed(theirs, "elsewhere"))
    run(other, "push", "--quiet", "origin", "main")
    commit(mine, changed(1, "by hand"))
    pulled(mine, how)
    check_kept(mine, "line 1 by hand\n", f"line {theirs} elsewhere\n")


@pytest.mark.parametrize("how", ["--no-rebase", "--rebase"])
@pytest.mark.parametrize("theirs", [1, 8], ids=["conflict", "apart"])
def test_a_kept_edit_that_travels_before_it_was_taken_in(
    family: Family, how: str, theirs: int
) -> None:
    one = family.clones[0]
    page = one.write("".join(LINES), path="x.md").page_id
    push(one)
    mine = cloned(family, "mine")
    one.revise(page, changed(theirs, "of the hub"))
    push(one)
    commit(mine, changed(1, "by hand"))
    pulled(mine, how)
    clone = Clone.at(mine)
    clone.session.scopes()
    clone.close()
    run(mine, "push", "--quiet", "origin", "main")
    one.close()
    pulled(one.path, how)
    one.open()
    one.write("more\n", path="y.md")
    push(one)
    pulled(mine, how)
    clone.open()
    try:
        lines = held(one)
        run(one.path, "push", "--quiet", "origin", "main")
        clone.close()
        pulled(mine, how)
        clone.open()
        for found in (lines, held(clone)):
            assert "line 1 by hand\n" in found
            assert f"line {theirs} of the hub\n" in found
        check_sound(clone)
        check_sound(one)
    finally:
        clone.close()
