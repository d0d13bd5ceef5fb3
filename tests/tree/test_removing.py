"""What a person does in `tree/` that takes something away, or is in the way."""

from __future__ import annotations

import os
from pathlib import Path

from pcpfs.model.ids import Digest
from pcpfs.store.trees.take_edits import EditTaker, Patience, TreeReport
from tests.store.workplace import ANNA, Workplace, draft
from tests.tree.hands import NO_TIME, Hands, names

POEM = "roses\nviolets\nsugar\nhoney\nyou\n"


class TestRemovals:
    def test_a_removed_file_is_a_tombstone(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="notes/x.md").page_id
        hands.remove("notes/x.md")
        assert [c.page_id for c in hands.sync().tombstoned] == [page]
        assert place.session.manifest(page).lifecycle_status == "tombstoned"
        assert place.session.payload(page) == b"one\n"

    def test_a_removed_file_does_not_come_back_before_it_is_taken(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        rival = place.write("rival\n", path="x.md").page_id
        hands.remove("x.md")
        place.revise(rival, "rival 2\n")
        assert "x.md" not in place.tree()
        assert [c.page_id for c in hands.sync().tombstoned] == [page]
        assert place.tree() == {"x.md": b"rival 2\n"}

    def test_a_file_that_comes_back_restores_its_page(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        hands.sync()
        hands.save("x.md", "one\n")
        assert [c.page_id for c in hands.sync().restored] == [page]
        assert place.session.manifest(page).lifecycle_status == "active"

    def test_another_text_under_the_name_of_a_removed_page_is_a_new_page(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        hands.sync()
        hands.save("x.md", "something else\n")
        (change,) = hands.sync().created
        assert change.page_id != page

    def test_what_was_revised_since_is_not_removed_with_the_old_text(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        place.revise(page, "two\n")
        report = hands.sync()
        assert [left.path for left in report.reverted] == ["scopes/project/a/tree/x.md"]
        assert place.tree() == {"x.md": b"two\n"}

    def test_many_at_once_are_held_back_and_laid_anew(self, place: Workplace, hands: Hands) -> None:
        for number in range(11):
            place.write(f"{number}\n", path=f"{number}.md")
        before = place.tree()
        for name in before:
            hands.remove(name)
        report = hands.sync()
        assert len(report.held_back) == 11
        assert report.tombstoned == ()
        assert place.tree() == before
        for name in before:
            hands.remove(name)
        assert len(hands.sync(accept_removals=True).tombstoned) == 11
        assert place.tree() == {}

    def test_ten_files_are_not_many(self, place: Workplace, hands: Hands) -> None:
        for number in range(10):
            place.write(f"{number}\n", path=f"{number}.md")
            hands.remove(f"{number}.md")
        assert len(hands.sync().tombstoned) == 10

    def test_edits_beside_a_mass_removal_are_taken(self, place: Workplace, hands: Hands) -> None:
        for number in range(12):
            place.write(f"{number}\n", path=f"{number}.md")
        for number in range(11):
            hands.remove(f"{number}.md")
        hands.save("11.md", "edited\n")
        report = hands.sync()
        assert (len(report.held_back), names(report.revised)) == (11, ["11.md"])

    def test_a_scope_that_is_not_there_is_not_removed(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        folder = place.path / "scopes/project"
        folder.rename(place.path.parent / "aside")
        assert hands.taken().report.tombstoned == ()
        (place.path.parent / "aside").rename(folder)
        assert hands.sync() == TreeReport()
        assert place.session.manifest(page).lifecycle_status == "active"


class TestWhatIsInTheWay:
    def test_a_link_is_named_and_left(self, place: Workplace, hands: Hands, tmp_path: Path) -> None:
        page = place.write("one\n", path="x.md").page_id
        outside = tmp_path / "outside.md"
        outside.write_bytes(b"private")
        hands.remove("x.md")
        place.tree_file("x.md").symlink_to(outside)
        (left,) = hands.taken().report.left
        assert "link" in left.reason
        assert place.session.payload(page) == b"one\n"
        assert place.session.manifest(page).lifecycle_status == "active"
        assert outside.read_bytes() == b"private"

    def test_a_linked_folder_is_named_and_left(
        self, place: Workplace, hands: Hands, tmp_path: Path
    ) -> None:
        page = place.write("one\n", path="notes/x.md").page_id
        place.tree_file("notes").rename(tmp_path / "aside")
        place.tree_file("notes").symlink_to(tmp_path / "aside")
        (left,) = hands.taken().report.left
        assert left.path.endswith("tree/notes")
        assert place.session.manifest(page).lifecycle_status == "active"

    def test_a_folder_in_the_place_of_a_file_is_named_and_left(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        place.tree_file("x.md").mkdir()
        (left,) = hands.taken().report.left
        assert "folder" in left.reason
        assert place.session.manifest(page).lifecycle_status == "active"

    def test_a_page_moves_into_a_folder_of_its_own_name_and_back(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="notes").page_id
        hands.move("notes", "aside.md")
        hands.move("aside.md", "notes/x.md")
        assert [change.page_id for change in hands.sync().renamed] == [page]
        assert place.tree() == {"notes/x.md": b"one\n"}
        hands.move("notes/x.md", "aside.md")
        place.tree_file("notes").rmdir()
        hands.move("aside.md", "notes")
        assert [change.page_id for change in hands.sync().renamed] == [page]
        assert place.tree() == {"notes": b"one\n"}

    def test_a_removed_page_makes_room_for_a_folder_of_others(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="notes").page_id
        hands.remove("notes")
        hands.save("notes/new.md", "quite another\n")
        report = hands.sync()
        assert [change.page_id for change in report.tombstoned] == [page]
        assert names(report.created) == ["notes/new.md"]
        assert place.tree() == {"notes/new.md": b"quite another\n"}

    def test_a_file_that_cannot_be_read_is_named_and_left(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        os.mkfifo(place.tree_file("x.md"))
        (left,) = hands.taken().report.left
        assert left.path.endswith("x.md")
        assert place.session.manifest(page).lifecycle_status == "active"

    def test_a_damaged_page_harms_no_other(self, place: Workplace, hands: Hands) -> None:
        damaged = place.write("one\n", path="x.md").page_id
        place.write("two\n", path="y.md")
        folder = place.path / "scopes/project/a/pages" / damaged[-2] / damaged[-1] / damaged
        next(folder.glob("chg_*")).write_bytes(b"{}")
        place.store.reindex()
        hands.save("x.md", "edited\n")
        hands.save("y.md", "edited too\n")
        report = hands.taken().report
        assert names(report.revised) == ["y.md"]
        assert [left.path for left in report.left] == ["scopes/project/a/tree/x.md"]
        assert place.tree()["x.md"] == b"edited\n"


class TestWriting:
    """Somebody is at it while we look."""

    def taken_while(self, place: Workplace, moments: list[bytes | None]) -> TreeReport:
        """One look during which the file holds these one after the other (None: is gone)."""
        file = place.tree_file("x.md")
        coming = iter(moments)

        def pause(seconds: float) -> None:
            for moment in coming:
                file.unlink(missing_ok=True)
                if moment is not None:
                    file.write_bytes(moment)
                break

        taker = EditTaker(place.store, ANNA, Patience(pause=pause))
        return taker.take().report

    def test_an_edit_is_taken_when_two_looks_agree(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "ha")
        report = self.taken_while(place, [b"half", b"half done\n", b"half done\n"])
        assert names(report.revised) == ["x.md"]
        assert hands.texts(page) == [b"one\n", b"half done\n"]

    def test_a_file_that_is_replaced_was_not_removed(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.remove("x.md")
        report = self.taken_while(place, [b"two\n", b"two\n"])
        assert names(report.revised) == ["x.md"]
        assert place.session.manifest(page).lifecycle_status == "active"

    def test_what_never_rests_is_left_and_named(self, place: Workplace, hands: Hands) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "0")
        report = self.taken_while(place, [b"%d" % n for n in range(1, 1000)])
        assert "written" in report.left[0].reason
        assert hands.texts(page) == [b"one\n"]

    def test_an_emptied_file_is_taken_only_after_a_while(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "")
        seen = place.tree_file("x.md").stat().st_mtime_ns // 1000
        place.clock.time = type(place.clock.time)(seen - 500_000)
        taken = EditTaker(place.store, ANNA, NO_TIME).take(wait=False)
        assert (taken.report.revised, taken.unsettled) == ((), True)
        place.clock.time = type(place.clock.time)(seen + 3_000_000)
        assert names(hands.sync().revised) == ["x.md"]
        assert hands.texts(page) == [b"one\n", b""]

    def test_a_text_saved_after_the_look_is_not_overwritten(
        self, place: Workplace, hands: Hands
    ) -> None:
        page = place.write("one\n", path="x.md").page_id
        hands.save("x.md", "two\n")
        hands.sync()
        hands.save("x.md", "three\n")
        place.session.revise(page, draft("agent\n"), expect=place.session.manifest(page).heads)
        assert place.tree()["x.md"] == b"three\n"
        hands.sync()
        assert hands.heads(page) == [b"agent\n", b"three\n"]
        assert Digest.of(b"two\n") in {Digest.of(text) for text in hands.texts(page)}
