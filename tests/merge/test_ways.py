"""Two and three clones that wrote and merged, in every way that a person may take."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.merge.clones import WAYS, Clone, Family, agree, check_all_alike, push

Way = Callable[[Clone], None]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> Way:
    return WAYS[request.param]


def test_a_new_page_on_either_side_is_on_both(family: Family, way: Way) -> None:
    one, other = family.clones[0], family.clone()
    one.write("one line\n")
    other.write("other line\n")
    agree([one, other], way)
    check_all_alike([one, other])
    assert sorted(one.tree().values()) == [b"one line\n", b"other line\n"]


def test_two_revisions_of_one_page_are_two_heads_side_by_side(family: Family, way: Way) -> None:
    one = family.clones[0]
    page = one.write("line 1\nline 2\nline 3\n", path="x.md").page_id
    push(one)
    other = family.clone()
    ours = one.revise(page, "LINE 1\nline 2\nline 3\n").revision_id
    theirs = other.revise(page, "line 1\nline 2\nLINE 3\n").revision_id
    agree([one, other], way)
    check_all_alike([one, other])
    assert set(one.session.manifest(page).heads) == {ours, theirs}
    assert sorted(one.tree().values()) == [b"LINE 1\nline 2\nline 3\n", b"line 1\nline 2\nLINE 3\n"]


def test_three_clones_that_did_everything(family: Family, way: Way) -> None:
    one = family.clones[0]
    pages = [one.write(f"line one\nline two\ntext {n}\n", path=f"notes/{n}.md") for n in range(6)]
    ids = [page.page_id for page in pages]
    push(one)
    other, third = family.clone(), family.clone()
    one.revise(ids[0], "line one, as one says\nline two\ntext 0\n")
    other.revise(ids[0], "line one\nline two\ntext 0, as other says\n")
    third.rename(ids[0], "moved/0.md")
    one.rename(ids[1], "one/1.md")
    other.revise(ids[1], "line one\nline two, and more\ntext 1\n")
    one.session.tombstone(ids[2], "no longer")
    other.session.link(ids[2], "supports", ids[3])
    one.rename(ids[3], "same.md")
    third.write("line one\nanother text\n", path="same.md")
    third.revise(ids[4], "line one\nline two\ntext 4, third\n")
    one.rename(ids[4], "four.md")
    third.session.archive(ids[5], "old")
    other.revise(ids[5], "line one\nline two\ntext 5, other\n")
    agree([one, other, third], way)
    check_all_alike([one, other, third])
    tree = one.tree()
    assert set(tree) >= {"one/1.md", "four.md", "same.md", "notes/5.md"}
    assert tree["one/1.md"] == b"line one\nline two, and more\ntext 1\n"
    assert tree["four.md"] == b"line one\nline two\ntext 4, third\n"
    assert b"line one, as one says\nline two\ntext 0\n" in tree.values()
    assert b"line one\nline two\ntext 0, as other says\n" in tree.values()
