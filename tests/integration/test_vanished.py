"""`sync`: what is gone closes, what moved is followed, what was not seen stays."""

from __future__ import annotations

import subprocess

import pytest

from pcpfs.errors import NotFound
from pcpfs.model.answers import FrameView
from pcpfs.model.instants import Instant
from pcpfs.sources.status import status
from pcpfs.store.upkeeping.fsck import fsck
from tests.integration.source_tree import SourceTree
from tests.privileges import bound_by_permissions
from tests.store.workplace import as_of


def open_frames(app: SourceTree, path: str = "a.py") -> dict[str, FrameView]:
    return {frame.qualified_name: frame for frame in app.place.session.frames_of(path)}


class TestGone:
    def test_a_deleted_file_closes_all_of_its_frames(self, added: SourceTree) -> None:
        frames = open_frames(added)
        (added.path / "a.py").unlink()
        report = added.report()
        assert (report.removed, report.files) == (1, 1)
        assert report.closed == len(frames) - 1  # the file itself is no symbol
        assert open_frames(added) == {}
        assert added.symbols("first") == ()
        assert added.place.session.search("apples").results == ()
        closed = added.place.session.frame(frames["first"].frame_id)
        assert closed.valid_to == added.place.session.log("a.py")[0].valid_to
        assert added.place.session.frame_source(closed.frame_id).startswith(b"def first")
        assert added.place.session.manifest("a.py").lifecycle_status == "active"

    def test_a_restored_file_heals_and_opens_a_new_run(self, added: SourceTree) -> None:
        frames = open_frames(added)
        (added.path / "a.py").unlink()
        added.sync()
        added.write("a.py")
        report = added.report()
        assert (report.added, report.opened) == (1, len(frames) - 1)
        healed = open_frames(added)
        assert {n: f.digest for n, f in healed.items()} == {n: f.digest for n, f in frames.items()}
        (_, _, gone), (_, back, end) = added.intervals("a.py")
        assert gone is not None
        assert gone <= back
        assert end is None
        assert healed["first"].valid_from == back
        if gone < back:
            with pytest.raises(NotFound):
                added.place.session.frame(healed["first"].frame_id, as_of(gone))

    def test_a_revert_is_the_same_revision_again(self, added: SourceTree) -> None:
        first = added.place.session.manifest("a.py").revision_id
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        added.edit("a.py", "return 3", "return 2")
        added.sync()
        assert added.place.session.manifest("a.py").revision_id == first
        assert [text.count("return 2") for text, _, _ in added.intervals("a.py")] == [1, 0, 1]

    def test_a_deleted_folder_closes_all_below(self, app: SourceTree) -> None:
        app.write("pkg/a.py")
        app.write("pkg/sub/b.py", "def deep():\n    pass\n")
        app.write("pkgx.py", "def beside():\n    pass\n")
        app.add()
        subprocess.run(["rm", "-rf", str(app.path / "pkg")], check=True)
        assert app.report().removed == 2
        assert app.symbols("deep") == ()
        assert len(app.symbols("beside")) == 1

    def test_a_file_in_the_place_of_a_folder_and_back(self, app: SourceTree) -> None:
        app.write("x/a.py")
        app.add()
        (app.path / "x/a.py").unlink()
        (app.path / "x").rmdir()
        app.write("x", "just a file\n")
        report = app.report()
        assert (report.files, report.removed, report.added) == (1, 1, 1)
        (app.path / "x").unlink()
        app.write("x/a.py")
        app.sync()
        assert app.symbol("first").path == "x/a.py"

    def test_what_becomes_ignored_closes_with_that_reason_and_comes_back(
        self, added: SourceTree
    ) -> None:
        added.write(".gitignore", "b.py\n")
        report = added.report()
        assert report.removed == 1
        assert {s.path: s.reason for s in report.skipped} == {"b.py": "ignored"}
        assert added.symbols("untouched") == ()
        (added.path / ".gitignore").unlink()
        added.sync()
        assert len(added.symbols("untouched")) == 1

    def test_a_file_that_becomes_binary_or_too_large_closes(self, added: SourceTree) -> None:
        added.write("a.py", b"\0\0\0")
        added.write("b.py", b"#" * 2_000_000)
        reasons = {s.path: s.reason for s in added.report().skipped}
        assert reasons == {"a.py": "binary", "b.py": "too_large"}
        assert added.symbols("first") == added.symbols("untouched") == ()


class TestUnreadable:
    """Unreadable is never deleted."""

    @pytest.mark.parametrize("instead", ["nothing", "a file"])
    def test_a_missing_root_closes_nothing(self, added: SourceTree, instead: str) -> None:
        moved = added.path.with_name("moved")
        added.path.rename(moved)
        if instead == "a file":
            added.path.write_text("not a folder")
        commits = added.place.commits()
        report = added.report()
        assert (report.state, report.closed, report.removed) == ("unavailable", 0, 0)
        assert added.place.commits() == commits
        assert len(added.symbols("first")) == 1
        (root,) = status(added.place.session).roots
        assert root.state == "unavailable"
        assert status(added.place.session).stale == ()
        if instead == "a file":
            added.path.unlink()
        moved.rename(added.path)
        assert added.report().unchanged == 2

    def test_a_store_never_deletes_what_it_may_not_read(self, added: SourceTree) -> None:
        added.write("sub/c.py", "def below():\n    pass\n")
        added.sync()
        for path in ("a.py", "sub"):
            (added.path / path).chmod(0)
        with bound_by_permissions():
            report = added.report()
            verified = added.verify()
        reasons = {(skip.path, skip.reason) for skip in report.skipped}
        assert reasons == {("a.py", "unreadable"), ("sub", "unreadable")}
        assert (report.removed, report.closed) == (0, 0)
        assert len(added.symbols("first")) == len(added.symbols("below")) == 1
        assert verified.ok
        assert verified.unknown > 0
        for path in ("a.py", "sub"):
            (added.path / path).chmod(0o755)
        assert added.report().unchanged == 3

    def test_a_root_that_may_not_be_read_is_unavailable(self, added: SourceTree) -> None:
        added.path.chmod(0)
        with bound_by_permissions():
            report = added.report()
        added.path.chmod(0o755)
        assert (report.removed, report.closed, report.state) == (0, 0, "unavailable")
        assert added.report().unchanged == 2


class TestRenamed:
    def test_a_rename_closes_the_old_page_and_opens_the_new_one(self, added: SourceTree) -> None:
        before = added.symbol("first")
        (added.path / "a.py").rename(added.path / "moved.py")
        report = added.report()
        assert (report.renamed, report.added, report.removed) == (1, 0, 0)
        after = added.symbol("first")
        assert (after.path, after.digest) == ("moved.py", before.digest)
        assert after.page_id != before.page_id
        (relation,) = added.place.session.relations("moved.py", direction="out")
        assert relation.relation.type == "renamed_from"
        assert relation.relation.to_page == before.page_id

    def test_at_no_moment_is_the_file_at_both_places(self, added: SourceTree) -> None:
        before = added.place.clock.now()
        (added.path / "a.py").rename(added.path / "moved.py")
        added.sync()
        assert added.symbol("first", as_of=before).path == "a.py"
        edge = added.symbol("first").valid_from
        assert edge is not None
        assert added.symbol("first", as_of=edge).path == "moved.py"
        assert added.symbol("first", as_of=Instant(edge.microseconds - 1)).path == "a.py"

    def test_the_history_follows(self, added: SourceTree) -> None:
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        (added.path / "a.py").rename(added.path / "moved.py")
        added.sync()
        added.edit("moved.py", "return 3", "return 4")
        added.sync()
        log = added.place.session.log("moved.py")
        texts = [added.place.session.payload(entry.revision_id) for entry in log]
        found = [text[text.rindex(b"return") :].strip() for text in texts]
        assert found == [b"return 4", b"return 3", b"return 3", b"return 2"]

    def test_a_file_that_came_back_to_its_old_name_is_there_once(self, added: SourceTree) -> None:
        for old, new in (("a.py", "m.py"), ("m.py", "a.py"), ("a.py", "m.py")):
            (added.path / old).rename(added.path / new)
            assert added.report().renamed == 1
            assert added.symbol("first").path == new
        assert fsck(added.place.store).problems == ()
        assert len(added.place.session.log("m.py")) >= 2

    def test_two_files_that_change_places_are_two_edits(self, added: SourceTree) -> None:
        a, b = (added.path / "a.py").read_bytes(), (added.path / "b.py").read_bytes()
        added.write("a.py", b)
        added.write("b.py", a)
        report = added.report()
        assert (report.changed, report.renamed) == (2, 0)
        assert added.symbol("first").path == "b.py"

    def test_a_copy_is_no_rename(self, added: SourceTree) -> None:
        added.write("copy.py")
        report = added.report()
        assert (report.added, report.renamed) == (1, 0)
        assert len(added.symbols("first")) == 2

    def test_a_moved_folder_moves_each_file(self, app: SourceTree) -> None:
        for name in ("x/__init__.py", "x/a.py", "y/__init__.py"):
            app.write(name, f"def in_{name[0]}{len(name)}():\n    pass\n")
        app.write("x/empty.py", "")
        app.add()
        (app.path / "x").rename(app.path / "z")
        report = app.report()
        assert (report.renamed, report.removed, report.added) == (3, 0, 0)
