"""Conflicts are seen by everybody, and settled by one text."""

from __future__ import annotations

import pytest

from pcpfs.errors import UsageError
from pcpfs.store.merges.remote import pull, push
from tests.merge.clones import Clone, Family, agree, check_all_alike, our_pull
from tests.store.workplace import ANNA, draft


def two_clones(family: Family, text: str = "text\n") -> tuple[Clone, Clone, str]:
    """Two clones that hold one page."""
    one = family.clones[0]
    page = one.write(text, path="x.md").page_id
    push(one.store, ANNA)
    return one, family.clone(), page


def kinds(clone: Clone) -> list[tuple[str, str]]:
    return [(conflict.page_id, conflict.kind) for conflict in clone.session.conflicts()]


def test_resolving_makes_one_revision_of_all_heads(family: Family) -> None:
    one, other, page = two_clones(family)
    ours = one.revise(page, "text of one\n").revision_id
    theirs = other.revise(page, "text of other\n").revision_id
    agree([one, other], our_pull)
    assert kinds(one) == [(page, "heads")]
    assert len(one.tree()) == 2
    done = one.session.resolve_conflict(page, draft("text of both\n"))
    assert kinds(one) == []
    assert one.tree() == {"x.md": b"text of both\n"}
    assert set(one.session.log(page)[0].parents) == {ours, theirs}
    agree([one, other], our_pull)
    check_all_alike([one, other])
    again = other.session.resolve_conflict(page, draft("text of both\n"))
    assert (again.revision_id, again.created) == (done.revision_id, False)
    with pytest.raises(UsageError, match="no conflict"):
        other.session.resolve_conflict(page, draft("another text\n"))


def test_the_same_text_on_both_sides_is_no_conflict(family: Family) -> None:
    one, other, page = two_clones(family)
    one.revise(page, "the same text\n")
    other.revise(page, "the same text\n")
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert kinds(one) == []
    assert one.tree() == {"x.md": b"the same text\n"}
    one.revise(page, "next\n")
    assert len(one.session.log(page)[0].parents) == 2


def test_a_file_keeps_its_line_of_descent_while_in_conflict(family: Family) -> None:
    one, other, page = two_clones(family)
    one.revise(page, "text of one\n")
    other.revise(page, "text of other\n")
    agree([one, other], our_pull)
    names = {raw: name for name, raw in one.tree().items()}
    mine = next(r for r in one.session.manifest(page).heads if text_of(one, r) == b"text of one\n")
    one.session.revise(page, draft("text of one, on\n"), expect=[mine])
    now = {raw: name for name, raw in one.tree().items()}
    assert now[b"text of other\n"] == names[b"text of other\n"]
    assert (now[b"text of one, on\n"] == "x.md") == (names[b"text of one\n"] == "x.md")


def text_of(clone: Clone, revision: str) -> bytes:
    return clone.session.payload(revision)


@pytest.mark.parametrize("end", ["revise", "restore", "tombstone", "resolve"])
def test_a_tombstone_beside_a_revision_leaves_the_page_readable(family: Family, end: str) -> None:
    one, other, page = two_clones(family)
    one.session.tombstone(page, "wrong")
    other.revise(page, "text of other\n")
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert kinds(one) == [(page, "tombstoned")]
    assert one.session.manifest(page).lifecycle_status == "active"
    assert one.tree() == {"x.md": b"text of other\n"}
    if end == "revise":
        one.revise(page, "text of other, kept\n")
    elif end == "resolve":
        one.session.resolve_conflict(page, draft("text of other\n"))
    else:
        getattr(one.session, end)(page, "both seen")
    assert kinds(one) == []
    assert bool(one.tree()) == (end != "tombstone")
    agree([one, other], our_pull)
    check_all_alike([one, other])


def test_tombstones_of_two_who_knew_all_between_them_hold(family: Family) -> None:
    one, other, page = two_clones(family)
    one.session.tombstone(page, "wrong")
    other.revise(page, "text of other\n")
    other.session.tombstone(page, "wrong as well")
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert kinds(one) == []
    assert one.tree() == {}


def test_two_names_given_at_once_are_in_dispute_until_one_is_given_anew(family: Family) -> None:
    one, other, page = two_clones(family)
    one.rename(page, "one.md")
    other.rename(page, "other.md")
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert kinds(one) == [(page, "path")]
    assert list(one.tree()) in (["one.md"], ["other.md"])
    one.rename(page, "both.md")
    assert kinds(one) == []
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert list(other.tree()) == ["both.md"]


def test_two_pages_of_one_name_are_told(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    first = one.write("text of one\n", path="same.md").page_id
    second = other.write("text of other\n", path="same.md").page_id
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert first < second
    assert kinds(one) == [(second, "path")]
    assert set(one.tree()) == {"same.md", f"same~{second[-6:]}.md"}
    one.session.tombstone(first, "that one goes")
    assert kinds(one) == []
    pull(other.store, ANNA)
    push(one.store, ANNA)
    pull(other.store, ANNA)
    assert other.tree() == {"same.md": b"text of other\n"}


def test_titles_that_are_alike_are_no_conflict(family: Family) -> None:
    one, other = family.clones[0], family.clone()
    first = one.session.write("project:a", draft("# Note\n\none\n"))
    second = other.session.write("project:a", draft("# Note\n\nother\n"))
    agree([one, other], our_pull)
    check_all_alike([one, other])
    assert kinds(one) == []
    assert set(one.tree()) == {"note.md", f"note~{second.page_id[-6:]}.md"}
    moved = one.session.move(second.page_id, "project:b").page_id
    back = one.session.move(moved, "project:a").page_id
    asked = one.write("mine\n", path="note.md").page_id
    assert first.page_id < back < asked
    assert kinds(one) == [(asked, "path")]
