"""An edit on an outdated base is a visible second head, never a child of the wrong one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.store.workplace import Workplace
from tests.tree.hands import Hands, names

OLD = "# Title\n\nfirst\nsecond\nthird\n"
NEW = "# Title\n\nfirst\nSECOND\nthird\nfourth\n"


def parents_of(place: Workplace, revision: str | None) -> tuple[str, ...]:
    assert revision is not None
    entries = place.session.log(place.session.resolve(revision).page)
    return next(entry.parents for entry in entries if entry.revision_id == revision)


class TestOldBuffers:
    """The text holds none of the lines that came and all that went: it is from before."""

    def test_a_save_from_an_old_buffer_is_a_second_head(
        self, place: Workplace, hands: Hands
    ) -> None:
        first = place.write(OLD, path="x.md")
        place.revise(first.page_id, NEW)
        hands.save("x.md", OLD + "mine\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (first.revision_id,)
        assert hands.heads(first.page_id) == sorted([NEW.encode(), (OLD + "mine\n").encode()])

    def test_a_save_on_the_newest_text_is_not(self, place: Workplace, hands: Hands) -> None:
        first = place.write(OLD, path="x.md")
        second = place.revise(first.page_id, NEW)
        hands.save("x.md", NEW + "mine\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (second.revision_id,)
        assert hands.heads(first.page_id) == [(NEW + "mine\n").encode()]

    def test_the_newest_text_with_one_of_its_lines_taken_back_is_not(
        self, place: Workplace, hands: Hands
    ) -> None:
        first = place.write(OLD, path="x.md")
        second = place.revise(first.page_id, NEW)
        hands.save("x.md", OLD + "fourth\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (second.revision_id,)

    def test_the_buffer_may_be_several_revisions_old(self, place: Workplace, hands: Hands) -> None:
        first = place.write("same\none\n", path="x.md")
        second = place.revise(first.page_id, "same\ntwo\n")
        place.revise(first.page_id, "same\nthree\n")
        hands.save("x.md", "same\none\nmine\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (first.revision_id,)
        hands.save("x.md", "same\ntwo\nalso mine\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (second.revision_id,)
        assert len(hands.heads(first.page_id)) == 3

    def test_what_oneself_wrote_and_takes_back_is_no_old_buffer(
        self, place: Workplace, hands: Hands
    ) -> None:
        first = place.write("a\n", path="x.md")
        for text in ("a\nb\n", "a\nc\n", "a\nd\n"):
            hands.save("x.md", text)
            hands.sync()
        assert hands.heads(first.page_id) == [b"a\nd\n"]
        assert hands.texts(first.page_id) == [b"a\n", b"a\nb\n", b"a\nc\n", b"a\nd\n"]

    def test_an_editor_that_goes_on_saving_stays_on_its_own_line(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write(OLD, path="x.md").page_id
        place.revise(page, NEW)
        for lines in ("mine\n", "mine\nmore\n", "mine\nmore\neven more\n"):
            hands.save("x.md", OLD + lines)
            hands.sync()
        assert hands.heads(page) == sorted(
            [NEW.encode(), (OLD + "mine\nmore\neven more\n").encode()]
        )
        assert place.tree()["x.md"] == NEW.encode()


class TestEqualTexts:
    def test_an_older_text_over_the_current_one_is_an_edit(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.revise(page, "two\n")
        hands.sync()
        hands.save("x.md", "one\n")
        assert names(hands.sync().revised) == ["x.md"]
        assert hands.texts(page) == [b"one\n", b"two\n", b"one\n"]
        assert hands.heads(page) == [b"one\n"]

    def test_an_older_text_over_one_that_was_revised_meanwhile_is_reverted(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.revise(page, "two\n")
        hands.save("x.md", "one\n")
        place.revise(page, "three\n")
        assert [left.path for left in hands.sync().reverted] == ["scopes/project/a/tree/x.md"]
        assert hands.texts(page) == [b"one\n", b"two\n", b"three\n"]
        assert place.tree() == {"x.md": b"three\n"}

    def test_the_text_of_the_new_head_is_no_edit(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "two\n")
        place.revise(page, "two\n")
        hands.sync()
        assert hands.texts(page) == [b"one\n", b"two\n"]


class TestLostState:
    def test_an_edit_survives_the_loss_of_the_catalog(self, place: Workplace) -> None:
        first = place.write("one\n", path="x.md")
        place.revise(first.page_id, "two\n")
        Hands(place).save("x.md", "two\nmine\n")
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        Hands(again).sync()
        assert Hands(again).heads(first.page_id) == [b"two\nmine\n"]
        again.close()

    def test_without_our_notes_the_base_is_what_git_has(self, place: Workplace) -> None:
        first = place.write("one\n", path="x.md")
        second = place.revise(first.page_id, "two\n")
        Hands(place).save("x.md", "two\nmine\n")
        again = without_notes(place)
        (change,) = Hands(again).sync().revised
        assert parents_of(again, change.revision_id) == (second.revision_id,)
        again.close()

    def test_an_edit_that_was_committed_has_the_commit_before_as_its_base(
        self, place: Workplace
    ) -> None:
        first = place.write("one\n", path="x.md")
        second = place.revise(first.page_id, "two\n")
        hands = Hands(place)
        for text in ("two\nmine\n", "two\nmine\nmore\n"):
            hands.save("x.md", text)
            assert hands.git("commit", "-qam", "by hand")
        again = without_notes(place)
        (change,) = Hands(again).sync().revised
        assert parents_of(again, change.revision_id) == (second.revision_id,)
        assert Hands(again).heads(first.page_id) == [b"two\nmine\nmore\n"]
        again.close()

    def test_what_is_in_no_commit_is_a_head_of_its_own(self, place: Workplace) -> None:
        first = place.write("one\n", path="x.md")
        hands = Hands(place)
        hands.save("x.md", "mine\n")
        assert hands.git("commit", "-qam", "by hand")
        assert hands.git("checkout", "-q", "--orphan", "anew")
        assert hands.git("commit", "-qm", "all in one")
        again = without_notes(place)
        (change,) = Hands(again).sync().revised
        assert parents_of(again, change.revision_id) == ()
        assert Hands(again).heads(first.page_id) == [b"mine\n", b"one\n"]
        again.close()

    def test_a_clone_takes_edits_removals_and_new_files(
        self, place: Workplace, tmp_path: Path
    ) -> None:
        edited = place.write("one\n", path="x.md")
        removed = place.write("gone\n", path="y.md").page_id
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        for name, text in (("x.md", "one\nmine\n"), ("z.md", "new\n")):
            (tmp_path / "clone/scopes/project/a/tree" / name).write_text(text)
        (tmp_path / "clone/scopes/project/a/tree/y.md").unlink()
        clone = Workplace.at(tmp_path / "clone")
        report = Hands(clone).sync()
        assert (names(report.revised), names(report.created)) == (["x.md"], ["z.md"])
        assert [c.page_id for c in report.tombstoned] == [removed]
        assert parents_of(clone, report.revised[0].revision_id) == (edited.revision_id,)
        clone.close()

    def test_a_clone_without_edits_takes_nothing(self, place: Workplace, tmp_path: Path) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.revise(page, "two\n")
        place.revise(page, "three\n", branch=place.session.log(page)[-1].revision_id)
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone")
        before = clone.commits()
        Hands(clone).sync()
        assert clone.commits() == before
        assert clone.tree() == place.tree()
        clone.close()


def without_notes(place: Workplace) -> Workplace:
    """The store after `.git/pcpfs` was lost."""
    place.close()
    shutil.rmtree(place.path / ".git/pcpfs")
    return place.reopened()


class TestGit:
    """What a person does with git of their own."""

    def test_an_edit_that_was_committed_counts(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.sync()
        hands.save("x.md", "two\n")
        hands.save("new.md", "new\n")
        hands.git("add", "-A")
        assert hands.git("commit", "-qm", "by hand")
        report = hands.sync()
        assert (names(report.revised), names(report.created)) == (["x.md"], ["new.md"])
        assert hands.texts(page) == [b"one\n", b"two\n"]

    def test_a_removal_and_a_move_that_were_committed_count(
        self, place: Workplace, hands: Hands
    ) -> None:
        gone = place.write("gone\n", path="x.md").page_id
        moved = place.write("moved\n", path="y.md").page_id
        hands.sync()
        assert hands.git("rm", "-q", "scopes/project/a/tree/x.md")
        assert hands.git("mv", "scopes/project/a/tree/y.md", "scopes/project/a/tree/z.md")
        assert hands.git("commit", "-qm", "by hand")
        report = hands.sync()
        assert [c.page_id for c in report.tombstoned] == [gone]
        assert [c.page_id for c in report.renamed] == [moved]

    def test_an_older_text_that_git_put_there_is_reverted(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        old = place.git("rev-parse", "HEAD").strip()
        place.revise(page, "two\n")
        hands.sync()
        assert hands.git("checkout", "-q", old, "--", "scopes/project/a/tree/x.md")
        assert hands.git("commit", "-qm", "by hand")
        assert [left.path for left in hands.sync().reverted] == ["scopes/project/a/tree/x.md"]
        assert hands.heads(page) == [b"two\n"]
        assert place.tree() == {"x.md": b"two\n"}

    def test_an_older_text_checked_out_without_a_commit_is_an_edit(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        old = place.git("rev-parse", "HEAD").strip()
        place.revise(page, "two\n")
        hands.sync()
        assert hands.git("checkout", "-q", old, "--", "scopes/project/a/tree/x.md")
        assert names(hands.sync().revised) == ["x.md"]
        assert hands.heads(page) == [b"one\n"]

    def test_a_stash_hides_an_edit_and_brings_it_back(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.sync()
        hands.save("x.md", "one\nmine\n")
        assert hands.git("stash", "-q")
        assert hands.sync().revised == ()
        assert hands.git("stash", "pop", "-q")
        hands.sync()
        assert hands.heads(page) == [b"one\nmine\n"]

    def test_a_stash_over_a_revised_page_loses_neither(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write(OLD, path="x.md").page_id
        hands.sync()
        hands.save("x.md", OLD + "mine\n")
        assert hands.git("stash", "-q")
        place.revise(page, NEW)
        hands.sync()
        assert not hands.git("stash", "pop", "-q")
        assert hands.taken().report.revised == ()
        assert hands.git("checkout", "-q", "stash@{0}", "--", "scopes/project/a/tree/x.md")
        hands.sync()
        assert hands.heads(page) == sorted([NEW.encode(), (OLD + "mine\n").encode()])

    def test_another_branch_and_back_is_no_edit(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        old = place.git("rev-parse", "HEAD").strip()
        hands.sync()
        place.revise(page, "two\n")
        place.write("other\n", path="y.md")
        hands.sync()
        assert hands.git("checkout", "-q", old)
        report = hands.sync()
        assert (report.revised, report.tombstoned, report.created) == ((), (), ())
        assert place.tree() == {"x.md": b"one\n"}
        assert hands.git("checkout", "-q", "main")
        report = hands.sync()
        assert (report.revised, report.tombstoned, report.created) == ((), (), ())
        assert place.tree() == {"x.md": b"two\n", "y.md": b"other\n"}
        assert hands.texts(page) == [b"one\n", b"two\n"]

    def test_an_edit_on_an_older_commit_is_based_on_what_was_there(
        self, place: Workplace, hands: Hands
    ) -> None:
        first = place.write("one\n", path="x.md")
        old = place.git("rev-parse", "HEAD").strip()
        place.revise(first.page_id, "two\n")
        hands.sync()
        assert hands.git("checkout", "-q", "-b", "side", old)
        hands.save("x.md", "one\nmine\n")
        (change,) = hands.sync().revised
        assert parents_of(place, change.revision_id) == (first.revision_id,)
        assert hands.heads(first.page_id) == [b"one\nmine\n"]

    def test_text_with_the_marks_of_an_unmerged_conflict_is_no_edit(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.sync()
        path = "scopes/project/a/tree/x.md"
        blob = place.git("hash-object", "-w", path).strip()
        stages = "".join(f"100644 {blob} {stage}\t{path}\n" for stage in (1, 2, 3))
        feed = place.path.parent / "stages"
        feed.write_text(f"0 {'0' * 40}\t{path}\n{stages}")
        with feed.open() as lines:
            import subprocess  # noqa: PLC0415

            subprocess.run(
                ["git", "update-index", "--index-info"], cwd=place.path, stdin=lines, check=True
            )
        hands.save("x.md", "<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n")
        (left,) = hands.taken().report.left
        assert "conflict" in left.reason
        assert hands.texts(page) == [b"one\n"]

    def test_text_with_such_marks_is_an_edit_where_nothing_is_unmerged(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        text = "<<<<<<< ours\none\n=======\ntwo\n>>>>>>> theirs\n"
        hands.save("x.md", text)
        hands.sync()
        assert hands.heads(page) == [text.encode()]

    @pytest.mark.parametrize("sparse", [True, False])
    def test_files_that_git_leaves_out_were_not_removed(
        self, place: Workplace, hands: Hands, sparse: bool
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.sync()
        if sparse:
            place.git("config", "core.sparseCheckout", "true")
            place.git("update-index", "--skip-worktree", "scopes/project/a/tree/x.md")
        hands.remove("x.md")
        assert bool(hands.taken().report.tombstoned) is not sparse
        assert place.session.payload(page) == b"one\n"
