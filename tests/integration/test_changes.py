"""`sync`: exactly the frames that changed close and open."""

from __future__ import annotations

import os

from pcpfs.model.answers import FrameView
from pcpfs.model.instants import Instant
from tests.integration.source_tree import PYTHON, SourceTree
from tests.store.workplace import as_of


def open_frames(app: SourceTree, path: str = "a.py") -> dict[str, FrameView]:
    return {frame.qualified_name: frame for frame in app.place.session.frames_of(path)}


def mtime(app: SourceTree, path: str) -> Instant:
    return Instant.of_nanoseconds((app.path / path).stat().st_mtime_ns)


class TestChanged:
    def test_exactly_the_frames_that_changed_close_and_open(self, added: SourceTree) -> None:
        before = open_frames(added)
        added.edit("a.py", "return 2", "return 3")
        report = added.report()
        after = open_frames(added)
        changed = mtime(added, "a.py")
        assert (report.changed, report.added, report.removed) == (1, 0, 0)
        assert (report.opened, report.closed) == (2, 2)  # the method, and the class around it
        for name in ("first", "os", "Basket.size"):
            if name in before:
                assert after[name] == before[name] or after[name].valid_to is None
                assert after[name].valid_from == before[name].valid_from
        for name in ("Basket", "Basket.second"):
            assert after[name].frame_id == before[name].frame_id
            assert after[name].digest != before[name].digest
            assert after[name].valid_from == changed
        old = added.place.session.frame(
            before["Basket"].frame_id, as_of(Instant(changed.microseconds - 1))
        )
        assert (old.digest, old.valid_to) == (before["Basket"].digest, changed)

    def test_the_edge_belongs_to_the_new_and_before_it_the_old_is_served(
        self, added: SourceTree
    ) -> None:
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        edge = mtime(added, "a.py")
        session, frame = added.place.session, added.symbol("Basket.second").frame_id
        assert frame is not None
        assert session.frame_source(frame).endswith(b"return 3")
        assert session.frame_source(frame, as_of(edge)).endswith(b"return 3")
        before = as_of(Instant(edge.microseconds - 1))
        assert session.frame_source(frame, before).endswith(b"return 2")
        assert session.payload("a.py", before) == PYTHON.encode()

    def test_an_unchanged_function_moves_without_closing(self, added: SourceTree) -> None:
        before = open_frames(added)["first"]
        added.write("a.py", "# a comment\n\n" + PYTHON)
        assert added.report().closed == 0
        after = open_frames(added)["first"]
        assert after.lines == (before.lines[0] + 2, before.lines[1] + 2)
        assert (after.valid_from, after.digest) == (before.valid_from, before.digest)
        then = as_of(Instant(mtime(added, "a.py").microseconds - 1))
        assert added.place.session.frame(after.frame_id, then).lines == before.lines
        assert added.place.session.frame_source(after.frame_id, then).startswith(b"def first")

    def test_other_pages_are_not_touched(self, added: SourceTree) -> None:
        log = added.place.session.log("b.py")
        added.edit("a.py", "return 2", "return 3")
        added.sync()
        assert added.place.session.log("b.py") == log

    def test_each_sync_that_changes_something_is_one_commit(self, added: SourceTree) -> None:
        commits = added.place.commits()
        added.edit("a.py", "return 2", "return 3")
        added.edit("b.py", "return 0", "return 1")
        added.write("c.py")
        report = added.sync()
        assert added.place.commits() == commits + 1
        assert report.commit == added.place.git("rev-parse", "HEAD").strip()
        message = added.place.git("log", "-1", "--format=%B")
        assert message.startswith("sync: app +1 ~2\n")
        assert "Pcpfs-Operation: sync" in message
        assert added.place.git("status", "--porcelain") == ""

    def test_a_touched_or_rewritten_file_changes_nothing(self, added: SourceTree) -> None:
        commits = added.place.commits()
        added.touch(added.path / "a.py")
        added.write("b.py", (added.path / "b.py").read_bytes())
        report = added.sync()
        assert (report.commit, report.roots[0].unchanged) == (None, 2)
        assert added.place.commits() == commits

    def test_an_edit_that_kept_size_and_time_is_still_seen(self, added: SourceTree) -> None:
        times = (added.path / "a.py").stat()
        for _ in range(4):
            added.sync()  # so that the cache trusts what it knows
        file = added.path / "a.py"
        file.write_bytes(file.read_bytes().replace(b"return 2", b"return 9"))
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert added.report().changed == 1
        assert added.place.session.payload("a.py").count(b"return 9") == 1

    def test_a_file_time_from_before_the_last_look_is_not_believed(self, added: SourceTree) -> None:
        seen = added.place.clock.time
        added.write("a.py", "def first():\n    pass\n", at="2020-01-01")
        added.sync()
        (_, start, end), (text, since, _) = added.intervals("a.py")
        assert text == "def first():\n    pass\n"
        assert since > seen > start
        assert end == since

    def test_a_file_time_in_the_future_is_shown_as_dated_and_serves_now(
        self, added: SourceTree
    ) -> None:
        added.write("a.py", "def future():\n    pass\n", at="2090-01-01")
        added.sync()
        assert added.place.session.payload("a.py") == b"def future():\n    pass\n"
        assert str(added.symbol("future").valid_from) == "2090-01-01T00:00:00Z"
        added.write("a.py", "def back():\n    pass\n")
        added.sync()
        assert added.place.session.payload("a.py") == b"def back():\n    pass\n"
        assert added.symbols("future") == ()

    def test_a_broken_file_keeps_what_parses_and_says_so(self, added: SourceTree) -> None:
        added.write("a.py", PYTHON + "\ndef broken(:\n")
        added.sync()
        assert "first" in open_frames(added)
        assert (added.place.session.manifest("a.py").error_count or 0) > 0

    def test_the_diff_of_a_source_names_its_symbols(self, added: SourceTree) -> None:
        text = PYTHON.replace("return 2", "return 3").replace("first", "newest")
        added.write("a.py", text)
        added.sync()
        symbols = added.place.session.diff("a.py").symbols
        assert symbols is not None
        assert symbols["added"] == ("newest",)
        assert symbols["removed"] == ("first",)
        assert set(symbols["changed"]) == {"Basket", "Basket.second"}
        assert "+        return 3\n" in added.place.session.diff("a.py").text
