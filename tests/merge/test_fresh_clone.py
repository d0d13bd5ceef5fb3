"""The first command in a clone: what git checked out counts as laid, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.store.trees.take_edits import EditTaker
from tests.merge.clones import Family, push, run
from tests.store.workplace import ANNA, Workplace
from tests.tree.hands import NO_TIME, PERSON, TREE, Hands, names


@pytest.fixture
def other(family: Family, tmp_path: Path) -> Path:
    """A clone in which nobody has run a command yet, of four pages, one with two heads."""
    one = family.clones[0]
    page = one.write("common\n", path="heads.md")
    one.revise(page.page_id, "first\n", page.revision_id)
    one.revise(page.page_id, "second\n", branch=page.revision_id)
    for name in ("kept", "edited", "removed"):
        one.write(f"{name}\nas it was\n", path=f"{name}.md")
    push(one)
    run(tmp_path, "clone", "--quiet", str(family.hub), str(tmp_path / "other"))
    return tmp_path / "other"


def test_nothing_is_written_where_all_is_right(other: Path) -> None:
    before = {file: file.stat().st_mtime_ns for file in other.glob("scopes/**/tree/*")}
    head = run(other, "rev-parse", "HEAD")
    place = Workplace.at(other)
    assert place.store.edits() == ()
    assert {base.path for base in place.store.local.all_bases()} == {
        file.relative_to(other).as_posix() for file in before
    }
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert run(other, "rev-parse", "HEAD") == head
    place.close()


@pytest.mark.parametrize("is_committed", [False, True])
def test_what_a_person_did_before_is_theirs(other: Path, is_committed: bool) -> None:
    (other / TREE / "edited.md").write_text("edited\nby a person\n")
    (other / TREE / "new.md").write_text("quite new\n")
    (other / TREE / "removed.md").unlink()
    if is_committed:
        run(other, "add", "-A")
        run(other, *PERSON, "commit", "-qm", "by hand")
    place = Workplace.at(other)
    assert place.tree()["edited.md"] == b"edited\nby a person\n"
    report = EditTaker(place.store, ANNA, NO_TIME).take().report
    assert names(report.revised) == ["edited.md"]
    assert names(report.created) == ["new.md"]
    (revised,) = report.revised
    assert Hands(place).texts(revised.page_id) == [
        b"edited\nas it was\n", b"edited\nby a person\n",
    ]  # fmt: skip
    assert Hands(place).heads(revised.page_id) == [b"edited\nby a person\n"]
    place.close()
