"""`tree/`: readable heads, exactly the payload bytes, and never over somebody's edit."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import PcpfsError
from tests.store.workplace import Workplace, contents

FAST = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

ODD_BYTES = {
    "front matter": b"---\ntitle: x\n---\n",
    "three dashes only": b"---",
    "mixed line ends": b"a\r\nb\nc\rd\n\r",
    "no final line feed": b"last line",
    "many final line feeds": b"a\n\n\n\n",
    "empty": b"",
    "one line feed": b"\n",
    "invalid UTF-8": b"\xff\xfe\x00\xc3\x28",
    "NUL": b"a\0b",
    "a mark at the start": b"\xef\xbb\xbftext",
    "UTF-16": "héllo\r\n".encode("utf-16"),
    "conflict markers": b"<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n",
    "an ident keyword": b"$Id: 0123 $ $Revision$\n",
    "a huge line": b"x" * 1_000_000,
    "spaces": b"  trailing  \t\n",
    "an escape": b"\x1b[31mred\x1b[0m\n",
}


@pytest.mark.parametrize("name", ODD_BYTES)
def test_bytes_in_are_bytes_out_everywhere(place: Workplace, name: str) -> None:
    raw = ODD_BYTES[name]
    written = place.write(raw, path="x.md")
    assert place.session.payload(written.page_id) == raw
    assert place.tree() == {"x.md": raw}
    assert place.git("status", "--porcelain") == ""
    clone = place.path.parent / "clone"
    place.git("clone", "-q", str(place.path), str(clone))
    assert contents(clone / "scopes") == contents(place.path / "scopes")


def test_fifty_megabytes_come_back_identical(place: Workplace) -> None:
    raw = b"0123456\r" * (50 << 17)
    written = place.write(raw, path="big.bin", media_type="application/octet-stream")
    assert place.session.payload(written.page_id) == raw
    assert place.tree_file("big.bin").read_bytes() == raw
    assert place.git("status", "--porcelain") == ""


@FAST
@given(raw=st.binary(max_size=200))
def test_any_bytes_come_back(place: Workplace, raw: bytes) -> None:
    written = place.write(raw)
    assert place.session.payload(written.page_id) == raw
    assert (place.path / written.path).read_bytes() == raw


class TestClaims:
    def test_of_two_pages_with_one_path_the_smaller_id_keeps_it(self, place: Workplace) -> None:
        one = place.write("one", path="x.md")
        other = place.write("other", path="x.md")
        assert one.page_id < other.page_id
        assert place.tree() == {"x.md": b"one", f"x~{other.page_id[-6:]}.md": b"other"}
        assert other.path.endswith(f"x~{other.page_id[-6:]}.md")

    @pytest.mark.parametrize("rival", ["X.MD", "x.MD"])
    def test_paths_that_some_systems_confuse_are_one_claim(
        self, place: Workplace, rival: str
    ) -> None:
        place.write("one", path="x.md")
        other = place.write("other", path=rival)
        stem, _, suffix = rival.partition(".")
        assert place.tree() == {"x.md": b"one", f"{stem}~{other.page_id[-6:]}.{suffix}": b"other"}

    def test_a_path_that_becomes_free_goes_to_the_page_that_waits(self, place: Workplace) -> None:
        one = place.write("one", path="x.md")
        place.write("other", path="x.md")
        place.session.tombstone(one.page_id, "wrong")
        assert place.tree() == {"x.md": b"other"}
        place.session.restore(one.page_id, "right")
        assert set(place.tree().values()) == {b"one", b"other"}
        assert place.tree()["x.md"] == b"one"
        assert place.git("status", "--porcelain") == ""

    def test_other_scopes_do_not_matter(self, place: Workplace) -> None:
        place.write("one", path="x.md")
        place.write("other", path="x.md", scope="project:b")
        assert place.tree() == {"x.md": b"one"}
        assert place.tree("project:b") == {"x.md": b"other"}

    def test_a_scope_below_another_shares_no_file_with_it(self, place: Workplace) -> None:
        place.write("outer", scope="a", path="tree/pages/x.md")
        place.write("inner", scope="a:tree", path="x.md")
        assert place.tree("a") == {"tree/pages/x.md": b"outer"}
        assert place.tree("a:tree=") == {"x.md": b"inner"}
        assert {s.scope for s in place.session.scopes()} == {"a", "a:tree="}

    def test_the_longest_names_can_be_claimed_twice_and_branch(self, place: Workplace) -> None:
        name = "é" * 98 + ".md"
        place.write("one", path=name)
        other = place.write("other", path=name)
        place.revise(other.page_id, "b")
        place.revise(other.page_id, "c", branch=other.revision_id)
        assert sorted(place.tree().values()) == [b"b", b"c", b"one"]


class TestHeads:
    def test_a_second_head_stands_beside_the_first(self, place: Workplace) -> None:
        first = place.write("one", path="x.md")
        second = place.revise(first.page_id, "two")
        third = place.revise(first.page_id, "three", branch=first.revision_id)
        assert sorted(place.tree().values()) == [b"three", b"two"]
        names = {f"x~{second.revision_id[4:12]}.md", f"x~{third.revision_id[4:12]}.md"}
        assert set(place.tree()) - {"x.md"} <= names
        place.revise(first.page_id, "both", second.revision_id, third.revision_id)
        assert place.tree() == {"x.md": b"both"}
        assert place.git("status", "--porcelain") == ""

    def test_names_never_swap_under_an_open_editor(self, place: Workplace) -> None:
        first = place.write("one", path="x.md")
        place.revise(first.page_id, "two")
        third = place.revise(first.page_id, "three", branch=first.revision_id)
        sibling = f"x~{third.revision_id[4:12]}.md"
        assert place.tree() == {"x.md": b"two", sibling: b"three"}
        place.revise(first.page_id, "four", third.revision_id)
        assert place.tree()["x.md"] == b"two"

    def test_equal_heads_are_one_file(self, place: Workplace) -> None:
        first = place.write("one", path="x.md")
        for _ in range(2):
            place.revise(first.page_id, "same", branch=first.revision_id)
        assert place.tree() == {"x.md": b"same"}


class TestLifecycle:
    def test_a_tombstone_takes_the_file_and_empty_folders_away(self, place: Workplace) -> None:
        page = place.write(path="notes/deep/x.md").page_id
        place.write(path="notes/y.md")
        place.session.tombstone(page, "wrong")
        assert set(place.tree()) == {"notes/y.md"}
        assert not place.tree_file("notes/deep").exists()
        place.session.restore(page, "right")
        assert set(place.tree()) == {"notes/y.md", "notes/deep/x.md"}
        assert place.git("status", "--porcelain") == ""

    def test_an_archived_page_keeps_its_file(self, place: Workplace) -> None:
        page = place.write("text", path="x.md").page_id
        place.session.archive(page, "done")
        assert place.tree() == {"x.md": b"text"}

    def test_a_new_title_never_renames_the_file(self, place: Workplace) -> None:
        page = place.write(title="Old").page_id
        place.revise(page, "text\n", title="New")
        assert set(place.tree()) == {"old.md"}


class TestEdits:
    """Only sync and watch turn edits into changes; everything else leaves them alone."""

    def test_an_edited_file_is_never_overwritten_and_named(self, place: Workplace) -> None:
        page = place.write("one", path="x.md").page_id
        place.tree_file("x.md").write_bytes(b"mine")
        revised = place.revise(page, "two")
        assert place.tree() == {"x.md": b"mine"}
        assert any("scopes/project/a/tree/x.md" in warning for warning in revised.warnings)
        assert place.session.payload(page) == b"two"
        assert place.store.edits() == ("scopes/project/a/tree/x.md",)

    def test_an_edited_file_survives_a_tombstone(self, place: Workplace) -> None:
        page = place.write("one", path="x.md").page_id
        place.tree_file("x.md").write_bytes(b"mine")
        assert place.session.tombstone(page, "wrong").warnings
        assert place.tree() == {"x.md": b"mine"}

    def test_an_edit_survives_a_reopening_without_the_catalog(self, place: Workplace) -> None:
        page = place.write("one", path="x.md").page_id
        place.tree_file("x.md").write_bytes(b"mine")
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        again.revise(page, "two")
        assert again.tree() == {"x.md": b"mine"}
        again.close()

    def test_a_file_that_was_there_before_a_page_claims_its_name_is_left(
        self, place: Workplace
    ) -> None:
        place.write(path="y.md")
        place.tree_file("x.md").write_bytes(b"mine")
        written = place.write("theirs", path="x.md")
        assert place.tree_file("x.md").read_bytes() == b"mine"
        assert written.warnings
        assert place.session.payload(written.page_id) == b"theirs"

    def test_a_file_that_a_person_removed_is_laid_by_the_next_change(
        self, place: Workplace
    ) -> None:
        page = place.write("one", path="x.md").page_id
        place.tree_file("x.md").unlink()
        assert place.store.edits() == ("scopes/project/a/tree/x.md",)
        place.revise(page, "two")
        assert place.tree() in ({"x.md": b"two"}, {})

    @pytest.mark.parametrize("change", ["tombstone", "revise"])
    def test_a_folder_that_a_person_removed_harms_nothing(
        self, place: Workplace, change: str
    ) -> None:
        page = place.write("one", path="notes/deep/x.md").page_id
        shutil.rmtree(place.tree_file("notes"))
        if change == "revise":
            place.revise(page, "two")
        else:
            place.session.tombstone(page, "wrong")
        again = place.reopened()
        assert again.write("more\n").created
        again.close()

    @pytest.mark.parametrize("change", ["tombstone", "revise"])
    def test_a_file_in_the_place_of_a_folder_is_left_alone(
        self, place: Workplace, change: str
    ) -> None:
        page = place.write("one", path="notes/x.md").page_id
        shutil.rmtree(place.tree_file("notes"))
        place.tree_file("notes").write_bytes(b"mine")
        if change == "revise":
            assert place.revise(page, "two").warnings
            assert place.session.payload(page) == b"two"
        else:
            place.session.tombstone(page, "wrong")
        assert place.tree() == {"notes": b"mine"}
        again = place.reopened()
        assert again.write("more\n").created
        again.close()

    def test_a_folder_in_the_place_of_a_file_is_left_alone(self, place: Workplace) -> None:
        page = place.write("one", path="x.md").page_id
        place.tree_file("x.md").unlink()
        place.tree_file("x.md").mkdir()
        (place.tree_file("x.md") / "mine").write_bytes(b"mine")
        assert place.revise(page, "two").warnings
        place.session.tombstone(page, "wrong")
        assert place.tree() == {"x.md/mine": b"mine"}

    def test_nothing_is_written_through_a_link(self, place: Workplace, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "x.md").write_bytes(b"private")
        page = place.write("one", path="y.md").page_id
        place.tree_file("notes").symlink_to(outside)
        place.tree_file("y.md").unlink()
        place.tree_file("y.md").symlink_to(outside / "x.md")
        place.write("evil", path="notes/z.md")
        over = place.write("evil", path="notes/x.md")
        place.revise(page, "evil")
        place.session.tombstone(over.page_id, "wrong")
        assert contents(outside) == {"x.md": b"private"}
        assert place.session.payload(over.page_id) == b"evil"

    def test_a_link_above_tree_is_not_followed_either(
        self, place: Workplace, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        place.write("one", path="y.md")
        for folder in ("tree", "payloads"):
            link = place.path / "scopes/project/b" / folder
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(outside)
        with suppress(PcpfsError):  # refusing is as good as leaving alone
            place.write("evil", scope="project:b", path="z.md")
        assert contents(outside) == {}
