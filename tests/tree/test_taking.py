"""What a person does in `tree/` becomes the right revision, page, name or tombstone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pcpfs.store.trees.take_edits import TreeReport
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import ANNA, Workplace
from tests.tree.hands import Hands, names

POEM = "roses\nviolets\nsugar\nhoney\nyou\n"


def test_nothing_done_is_nothing_taken(place: Workplace, hands: Hands) -> None:
    place.write("one\n", path="x.md")
    before = place.commits()
    assert hands.sync() == TreeReport()
    assert place.commits() == before


class TestEdits:
    def test_an_edit_is_a_revision_of_what_was_laid(self, place: Workplace, hands: Hands) -> None:
        first = place.write("one\n", path="x.md", tags=("red",))
        hands.save("x.md", "two\n")
        report = hands.sync()
        (change,) = report.revised
        assert (change.page_id, names([change])) == (first.page_id, ["x.md"])
        newest = place.session.log(first.page_id)[0]
        assert newest.parents == (first.revision_id,)
        assert (newest.operation, newest.created_by) == ("edit", ANNA)
        assert place.session.manifest(first.page_id).heads == (change.revision_id,)
        assert place.session.facets(first.page_id).tags == ("red",)
        assert place.git("log", "-1", "--format=%s").strip() == "edit: two"
        assert fsck(place.store).ok

    def test_several_files_are_one_commit(self, place: Workplace, hands: Hands) -> None:
        for name in "abc":
            place.write(name, path=f"{name}.md")
            hands.save(f"{name}.md", f"{name} more")
        before = place.commits()
        assert names(hands.sync().revised) == ["a.md", "b.md", "c.md"]
        assert place.commits() == before + 1

    def test_a_file_saved_again_with_the_same_bytes_is_no_edit(
        self, place: Workplace, hands: Hands
    ) -> None:
        place.write("one\n", path="x.md")
        place.tree_file("x.md").unlink()
        hands.save("x.md", "one\n")
        assert hands.sync() == TreeReport()

    def test_an_archived_page_is_revised_and_stays_archived(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.session.archive(page, "done")
        hands.save("x.md", "two\n")
        assert names(hands.sync().revised) == ["x.md"]
        assert place.session.manifest(page).lifecycle_status == "archived"

    def test_an_edit_of_a_tombstoned_page_brings_it_back(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "two\n")
        place.session.tombstone(page, "wrong")
        report = hands.sync()
        assert (names(report.restored), names(report.revised)) == (["x.md"], ["x.md"])
        assert place.session.payload(page) == b"two\n"
        assert place.tree() == {"x.md": b"two\n"}

    def test_an_edit_of_a_page_that_was_revised_meanwhile_is_a_second_head(
        self, place: Workplace, hands: Hands
    ) -> None:
        first = place.write("one\n", path="x.md")
        hands.save("x.md", "mine\n")
        place.revise(first.page_id, "theirs\n")
        (change,) = hands.sync().revised
        assert hands.heads(first.page_id) == [b"mine\n", b"theirs\n"]
        assert len(change.heads) == 2
        assert place.session.log(change.revision_id)[0].parents == (first.revision_id,)
        sibling = f"x~{change.revision_id[4:12]}.md"
        assert place.tree() == {"x.md": b"theirs\n", sibling: b"mine\n"}

    def test_every_other_command_leaves_an_edit_alone(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        rival = place.write("rival\n", path="x.md").page_id
        hands.save("x.md", "mine\n")
        place.revise(page, "theirs\n")
        place.revise(rival, "rival 2\n")
        place.session.archive(page, "done")
        assert place.tree()["x.md"] == b"mine\n"
        hands.sync()
        assert hands.heads(page) == [b"mine\n", b"theirs\n"]


class TestNewFiles:
    @pytest.mark.parametrize(
        ("name", "text", "media_type", "title"),
        [
            ("x.md", b"# A title\n\ntext\n", "text/markdown", "A title"),
            ("x.md", b"---\ntitle: Front\ntags: [a, b]\n---\ntext\n", "text/markdown", "Front"),
            ("notes/deep/x.txt", b"first line\nsecond\n", "text/plain", "first line"),
            ("x.json", b"{}", "application/json", "x.json"),
            ("x.odd", b"some words", "text/plain", "some words"),
            ("x", b"no ending", "text/plain", "no ending"),
            ("photo.png", b"\x89PNG\0", "image/png", "photo.png"),
            ("x.odd", b"\xff\0", "application/octet-stream", "x.odd"),
        ],
    )
    def test_a_new_file_is_a_page(
        self, hands: Hands, name: str, text: bytes, media_type: str, title: str
    ) -> None:
        place = hands.place
        hands.save(name, text)
        (change,) = hands.sync().created
        manifest = place.session.manifest(change.page_id)
        assert manifest.title == title
        assert place.session.payload(change.page_id) == text
        assert place.tree() == {name: text}
        revision = place.session.manifest(change.page_id)
        assert revision.payload is not None
        assert revision.payload.media_type == media_type

    def test_a_file_in_the_tree_of_a_new_scope_makes_the_scope(
        self, place: Workplace, hands: Hands
    ) -> None:
        hands.save("x.md", "text\n", scope="thread:2040-01")
        (change,) = hands.sync().created
        assert place.session.manifest(change.page_id).scope == "thread:2040-01"

    def test_a_copy_is_a_page_of_its_own(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("copy.md", "one\n")
        (change,) = hands.sync().created
        assert change.page_id != page
        assert place.tree() == {"x.md": b"one\n", "copy.md": b"one\n"}

    def test_a_file_that_was_there_before_a_page_claimed_its_name(
        self, place: Workplace, hands: Hands
    ) -> None:
        hands.save("x.md", "mine\n")
        page = place.write("theirs\n", path="x.md").page_id
        (change,) = hands.sync().created
        assert place.session.payload(page) == b"theirs\n"
        assert place.session.payload(change.page_id) == b"mine\n"
        mine = f"x~{change.page_id[-6:]}.md"
        assert place.tree() == {"x.md": b"theirs\n", mine: b"mine\n"}

    @pytest.mark.parametrize(
        "name", ["x.md~", ".x.md.swp", "4913", "#x.md#", ".#x.md", "x.tmp", ".DS_Store", "d~/x.md"]
    )
    def test_what_editors_leave_is_never_a_page(
        self, place: Workplace, hands: Hands, name: str
    ) -> None:
        hands.save(name, "swap")
        assert hands.taken().report == TreeReport()
        assert place.tree() == {name: b"swap"}

    @pytest.mark.parametrize(
        "name", ["con.md", "a?b.md", "x.", ".hidden.md", ".obsidian/app.json", "x .md/ y.md"]
    )
    def test_a_name_that_is_not_portable_is_reported(
        self, place: Workplace, hands: Hands, name: str
    ) -> None:
        hands.save(name, "text")
        (left,) = hands.taken().report.left
        assert left.path.startswith("scopes/project/a/tree/")
        assert left.reason
        assert place.tree() == {name: b"text"}

    def test_a_name_that_is_no_unicode_is_reported(self, place: Workplace, hands: Hands) -> None:
        folder = place.tree_file("x").parent
        folder.mkdir(parents=True)
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_bytes(b"text")
        (left,) = hands.taken().report.left
        assert "Unicode" in left.reason


class TestClaims:
    @pytest.mark.parametrize("rival", ["X.md", "x.MD"])
    def test_names_that_some_systems_confuse_stay_apart(
        self, place: Workplace, hands: Hands, rival: str
    ) -> None:
        place.write("one\n", path="x.md")
        hands.save(rival, "rival\n")
        (change,) = hands.sync().created
        stem, _, suffix = rival.partition(".")
        marked = f"{stem}~{change.page_id[-6:]}.{suffix}"
        assert place.tree() == {"x.md": b"one\n", marked: b"rival\n"}
        assert change.now is not None
        assert change.now.endswith(marked)

    def test_two_forms_of_one_letter_stay_apart(self, place: Workplace, hands: Hands) -> None:
        hands.save("\u00e9.md", "composed\n")
        hands.save("e\u0301.md", "decomposed\n")
        assert len(hands.sync().created) == 2
        assert sorted(place.tree().values()) == [b"composed\n", b"decomposed\n"]
        assert len({name.casefold() for name in place.tree()}) == 2

    def test_a_change_of_case_is_a_rename(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.move("x.md", "X.md")
        assert [c.page_id for c in hands.sync().renamed] == [page]
        assert place.tree() == {"X.md": b"one\n"}

    def test_the_marked_file_of_a_rival_is_edited_and_renamed(
        self, place: Workplace, hands: Hands
    ) -> None:
        place.write("one\n", path="x.md")
        rival = place.write("rival\n", path="x.md").page_id
        marked = f"x~{rival[-6:]}.md"
        hands.save(marked, "rival 2\n")
        assert [c.page_id for c in hands.sync().revised] == [rival]
        hands.move(marked, "y.md")
        assert [c.page_id for c in hands.sync().renamed] == [rival]
        assert place.tree() == {"x.md": b"one\n", "y.md": b"rival 2\n"}


class TestMoves:
    def test_a_moved_file_is_renamed(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.move("x.md", "notes/y.md")
        report = hands.sync()
        assert [(c.page_id, c.was) for c in report.renamed] == [
            (page, "scopes/project/a/tree/x.md")
        ]
        assert report == TreeReport(renamed=report.renamed)
        assert len(hands.texts(page)) == 1
        assert place.tree() == {"notes/y.md": b"one\n"}
        assert fsck(place.store).ok

    def test_a_moved_and_edited_file_is_renamed_and_revised(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write(POEM, path="x.md").page_id
        hands.move("x.md", "y.md")
        hands.save("y.md", POEM.replace("sugar", "salt"))
        report = hands.sync()
        assert [c.page_id for c in (*report.renamed, *report.revised)] == [page, page]
        assert place.tree() == {"y.md": POEM.replace("sugar", "salt").encode()}

    def test_a_file_that_is_too_different_is_another_page(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write(POEM, path="x.md").page_id
        hands.move("x.md", "y.md")
        hands.save("y.md", "roses\nviolets\nquite\nanother\npoem\n")
        report = hands.sync()
        assert names(report.created) == ["y.md"]
        assert [c.page_id for c in report.tombstoned] == [page]

    def test_of_two_files_alike_none_is_guessed(self, place: Workplace, hands: Hands) -> None:
        page = place.write(POEM, path="x.md").page_id
        hands.remove("x.md")
        for name in ("y.md", "z.md"):
            hands.save(name, POEM + name)
        report = hands.sync()
        assert names(report.created) == ["y.md", "z.md"]
        assert [c.page_id for c in report.tombstoned] == [page]

    def test_a_moved_folder_keeps_its_pages(self, place: Workplace, hands: Hands) -> None:
        pages = {
            f"{number}.md": place.write("same\n", path=f"old/{number}.md").page_id
            for number in range(15)
        }
        hands.move("old", "new/place")
        renamed = hands.sync().renamed
        assert {c.path.rpartition("/")[2]: c.page_id for c in renamed} == pages
        assert set(place.tree()) == {f"new/place/{name}" for name in pages}

    def test_a_file_moved_over_another_revises_that_one(
        self, place: Workplace, hands: Hands
    ) -> None:
        one = place.write("one\n", path="x.md").page_id
        other = place.write("other\n", path="y.md").page_id
        hands.move("x.md", "y.md")
        report = hands.sync()
        assert [c.page_id for c in report.revised] == [other]
        assert [c.page_id for c in report.tombstoned] == [one]
        assert place.session.payload(other) == b"one\n"

    def test_a_file_moved_to_another_scope_is_a_page_that_supersedes_the_old(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.write("z", path="z.md", scope="project:b")
        place.tree_file("x.md").rename(place.tree_file("y.md", "project:b"))
        report = hands.sync()
        (created,) = report.created
        assert [c.page_id for c in report.tombstoned] == [page]
        (relation,) = place.session.relations(created.page_id, direction="out")
        assert (relation.relation.type, relation.relation.to_page) == ("supersedes", page)
