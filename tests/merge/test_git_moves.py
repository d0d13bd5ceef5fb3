"""git moved otherwise: branches, resets, sources in clones, and merges that wait for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from tests.merge.clones import WAYS, Family, agree, check_all_alike, plain_pull, push, run
from tests.store.workplace import ANNA, SCOPE


def test_switching_branches_and_back_makes_no_edits(family: Family) -> None:
    one = family.clones[0]
    page = one.write("text\n", path="x.md").page_id
    one.plain("branch", "aside")
    one.revise(page, "text, on\n")
    extra = one.write("more\n", path="y.md").page_id
    one.plain("checkout", "--quiet", "aside")
    assert one.tree() == {"x.md": b"text\n"}
    assert one.store.edits() == ()
    assert one.status() == ""
    one.revise(page, "text, aside\n")
    one.plain("checkout", "--quiet", "main")
    assert one.tree() == {"x.md": b"text, on\n", "y.md": b"more\n"}
    assert one.store.edits() == ()
    one.plain("merge", "--quiet", "aside", fails=True)
    assert sorted(one.tree().values()) == [b"more\n", b"text, aside\n", b"text, on\n"]
    assert one.session.payload(extra) == b"more\n"
    assert one.status() == ""
    assert one.store.edits() == ()


def test_a_reset_is_followed(family: Family) -> None:
    one = family.clones[0]
    page = one.write("text\n", path="x.md").page_id
    one.revise(page, "text, on\n")
    one.plain("reset", "--quiet", "--hard", "HEAD~1")
    assert one.tree() == {"x.md": b"text\n"}
    assert one.session.payload(page) == b"text\n"
    assert one.store.edits() == ()


@pytest.mark.usefixtures("asks_a_person")
def test_a_merge_of_a_persons_own_file_waits_and_is_said(
    family: Family, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = family.clones[0], family.clone()
    for clone in (one, other):
        (clone.path / "mine.txt").write_text(f"of {clone.path.name}\n")
        run(clone.path, "add", "mine.txt")
        run(clone.path, "commit", "--quiet", "-m", "mine")
    theirs = one.write("one line\n")
    push(one)
    ours = other.write("other line\n")
    plain_pull(other)
    assert "both sides changed mine.txt" in caplog.text
    assert other.session.payload(ours.page_id) == b"other line\n"
    written = other.write("written meanwhile\n")
    assert any("not committed yet" in warning for warning in written.warnings)
    (other.path / "mine.txt").write_text("of both\n")
    other.plain("add", "mine.txt")
    assert other.session.payload(theirs.page_id) == b"one line\n"
    assert other.status() == ""
    assert (other.path / "mine.txt").read_text() == "of both\n"
    push(other)
    plain_pull(one)
    check_all_alike([one, other])


@pytest.mark.usefixtures("asks_a_person")
def test_a_rebase_that_a_person_steers_is_left_to_them(
    family: Family, caplog: pytest.LogCaptureFixture
) -> None:
    one = family.clones[0]
    page = one.write("text\n", path="x.md").page_id
    one.revise(page, "text, on\n")
    one.plain("-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-i", "HEAD~1", fails=True)
    assert "a rebase waits for you" in caplog.text
    assert one.session.payload(page) == b"text, on\n"
    one.plain("rebase", "--continue")
    assert one.status() == ""
    assert one.tree() == {"x.md": b"text, on\n"}


@pytest.mark.parametrize("way", WAYS)
def test_sources_that_one_clone_observes_are_read_in_all(
    family: Family, tmp_path: Path, way: str
) -> None:
    one = family.clones[0]
    one.write("text\n", path="x.md")
    push(one)
    other = family.clone()
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text("def one():\n    return 1\n")
    with Sources(one.store, ANNA) as sources:
        sources.add(Wanted(root, Namespace(SCOPE), "book"))
    other.write("line\n", path="y.md")
    agree([one, other], WAYS[way])
    (root / "a.py").write_text("def one():\n    return 2\n\ndef two():\n    return 2\n")
    with Sources(one.store, ANNA) as sources:
        sources.sync()
    other.write("one more line\n", path="z.md")
    agree([one, other], WAYS[way])
    check_all_alike([one, other])
    found = [result.qualified_name for result in other.session.symbol("two").results]
    assert found == ["two"]
