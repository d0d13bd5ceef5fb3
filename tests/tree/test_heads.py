"""Two heads of a page, side by side as two files."""

from __future__ import annotations

import pytest

from tests.store.workplace import Workplace
from tests.tree.hands import Hands, names


class Conflict:
    """A page with two heads: `ours` in x.md, `theirs` beside it."""

    def __init__(self, place: Workplace) -> None:
        first = place.write("base\n", path="x.md")
        self.page = first.page_id
        self.ours = place.revise(self.page, "ours\n").revision_id
        self.theirs = place.revise(self.page, "theirs\n", branch=first.revision_id).revision_id
        self.sibling = f"x~{self.theirs[4:12]}.md"
        assert place.tree() == {"x.md": b"ours\n", self.sibling: b"theirs\n"}


@pytest.fixture
def conflict(place: Workplace) -> Conflict:
    return Conflict(place)


def newest_parents(place: Workplace, page: str) -> set[str]:
    return set(place.session.log(page)[0].parents)


def test_removing_the_sibling_resolves_with_what_stays(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.remove(conflict.sibling)
    (change,) = hands.sync().resolved
    assert names([change]) == ["x.md"]
    assert newest_parents(place, conflict.page) == {conflict.ours, conflict.theirs}
    assert place.tree() == {"x.md": b"ours\n"}


def test_an_edit_and_the_removal_of_the_sibling_resolve(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.save("x.md", "both\n")
    hands.remove(conflict.sibling)
    assert names(hands.sync().resolved) == ["x.md"]
    assert newest_parents(place, conflict.page) == {conflict.ours, conflict.theirs}
    assert place.tree() == {"x.md": b"both\n"}
    assert place.session.conflicts() == ()


def test_the_sibling_moved_over_the_file_resolves_with_its_text(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.move(conflict.sibling, "x.md")
    assert names(hands.sync().resolved) == ["x.md"]
    assert newest_parents(place, conflict.page) == {conflict.ours, conflict.theirs}
    assert place.tree() == {"x.md": b"theirs\n"}


def test_the_sibling_moved_over_the_file_and_committed_resolves(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.sync()
    hands.move(conflict.sibling, "x.md")
    hands.git("add", "-A")
    assert hands.git("commit", "-qm", "by hand")
    assert names(hands.sync().resolved) == ["x.md"]
    assert place.tree() == {"x.md": b"theirs\n"}


def test_removing_the_file_resolves_with_the_sibling(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.remove("x.md")
    hands.sync()
    assert newest_parents(place, conflict.page) == {conflict.ours, conflict.theirs}
    assert place.tree() == {"x.md": b"theirs\n"}


def test_an_edited_sibling_revises_its_own_head(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.save(conflict.sibling, "theirs 2\n")
    (change,) = hands.sync().revised
    assert newest_parents(place, conflict.page) == {conflict.theirs}
    assert hands.heads(conflict.page) == [b"ours\n", b"theirs 2\n"]
    assert place.tree()["x.md"] == b"ours\n"
    assert change.now is None or change.now.endswith(f"x~{str(change.revision_id)[4:12]}.md")


def test_both_edited_are_two_heads_still(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.save("x.md", "ours 2\n")
    hands.save(conflict.sibling, "theirs 2\n")
    assert len(hands.sync().revised) == 2
    assert hands.heads(conflict.page) == [b"ours 2\n", b"theirs 2\n"]
    assert place.tree()["x.md"] == b"ours 2\n"


def test_an_editor_on_the_sibling_goes_on_saving_under_the_old_name(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    text = "theirs\n"
    for line in ("more\n", "and more\n", "even more\n"):
        text += line
        hands.save(conflict.sibling, text)
        hands.sync()
    assert hands.heads(conflict.page) == [b"ours\n", text.encode()]


def test_the_texts_made_equal_are_one_head(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.save("x.md", "theirs\n")
    hands.sync()
    assert hands.heads(conflict.page) == [b"theirs\n"]
    assert place.tree() == {"x.md": b"theirs\n"}


def test_the_removal_of_both_is_a_tombstone(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.remove("x.md")
    hands.remove(conflict.sibling)
    assert [c.page_id for c in hands.sync().tombstoned] == [conflict.page]


def test_a_head_that_nobody_has_seen_is_not_resolved_away(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.remove(conflict.sibling)
    place.revise(conflict.page, "theirs 2\n", conflict.theirs)
    hands.sync()
    assert hands.heads(conflict.page) == [b"ours\n", b"theirs 2\n"]
    assert sorted(place.tree().values()) == [b"ours\n", b"theirs 2\n"]


def test_of_three_heads_only_the_removed_one_is_resolved(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    base = place.session.log(conflict.page)[-1].revision_id
    place.revise(conflict.page, "third\n", branch=base)
    hands.remove(conflict.sibling)
    hands.sync()
    assert hands.heads(conflict.page) == [b"ours\n", b"third\n"]


def test_a_leftover_sibling_is_never_a_page(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    place.revise(conflict.page, "both\n", conflict.ours, conflict.theirs)
    assert place.tree() == {"x.md": b"both\n"}
    hands.save(conflict.sibling, "theirs\n")
    report = hands.sync()
    assert report.created == ()
    assert len(report.reverted) == 1
    assert place.tree() == {"x.md": b"both\n"}


def test_a_resolved_sibling_that_is_edited_is_a_head_again(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    place.revise(conflict.page, "both\n", conflict.ours, conflict.theirs)
    hands.save(conflict.sibling, "theirs\nmore\n")
    hands.sync()
    assert newest_parents(place, conflict.page) == {conflict.theirs}
    assert hands.heads(conflict.page) == [b"both\n", b"theirs\nmore\n"]


def test_a_page_in_conflict_is_renamed_with_its_sibling(
    place: Workplace, hands: Hands, conflict: Conflict
) -> None:
    hands.move("x.md", "notes/x.md")
    hands.move(conflict.sibling, f"notes/{conflict.sibling}")
    report = hands.sync()
    assert [c.page_id for c in report.renamed] == [conflict.page]
    assert (report.created, report.resolved) == ((), ())
    assert place.tree() == {"notes/x.md": b"ours\n", f"notes/{conflict.sibling}": b"theirs\n"}


def test_a_revision_of_equal_heads_has_all_of_them_as_parents(
    place: Workplace, hands: Hands
) -> None:
    first = place.write("base\n", path="x.md")
    equal = {
        place.revise(first.page_id, "same\n", branch=first.revision_id).revision_id
        for _ in range(2)
    }
    hands.save("x.md", "more\n")
    hands.sync()
    assert newest_parents(place, first.page_id) == equal


def test_a_file_open_in_an_editor_while_its_page_was_renamed(
    place: Workplace, hands: Hands
) -> None:
    text = "one\ntwo\nthree\nfour\n"
    page = place.write(text, path="x.md").page_id
    hands.move("x.md", "y.md")
    hands.sync()
    hands.save("x.md", text + "mine\n")
    assert [c.page_id for c in hands.sync().revised] == [page]
    assert place.tree() == {"y.md": (text + "mine\n").encode()}
