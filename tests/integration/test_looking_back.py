"""Looking back by world time and by record time; looking again with `verify` and `status`."""

from __future__ import annotations

import os

import pytest

from pcpfs.errors import NotFound
from pcpfs.model.instants import Instant
from pcpfs.sources.status import status
from tests.integration.source_tree import PYTHON, SourceTree
from tests.store.workplace import as_of, recorded


def mtime(app: SourceTree, path: str) -> Instant:
    return Instant.of_nanoseconds((app.path / path).stat().st_mtime_ns)


class TestLookingBack:
    def test_search_and_symbol_answer_as_of_then(self, added: SourceTree) -> None:
        start = added.place.clock.now()
        added.write("a.py", "def renewed():\n    return 'pears'\n")
        added.sync()
        session = added.place.session
        assert session.search("pears", pins=as_of(start)).results == ()
        assert added.symbols("renewed", as_of=start) == ()
        (old,) = session.search("apples", pins=as_of(start)).results
        assert old.qualified_name == "first"
        assert "apples" in old.excerpt
        assert session.search("apples").results == ()
        (symbol,) = added.symbols("first", as_of=start)
        assert symbol.valid_to == mtime(added, "a.py")

    def test_world_time_and_record_time_are_told_apart(self, app: SourceTree) -> None:
        app.write("a.py", at="2020-01-01")
        before = app.place.clock.now()
        app.add()
        then = app.place.clock.now()
        early = Instant.read("2021-01-01")
        assert len(app.symbols("first", as_of=early)) == 1
        assert app.symbols("first", recorded_as_of=before) == ()
        assert app.symbols("first", as_of=early, recorded_as_of=before) == ()
        (app.path / "a.py").unlink()
        app.sync()
        assert len(app.symbols("first", recorded_as_of=then)) == 1
        assert app.place.session.search("apples", pins=recorded(then)).results != ()
        assert app.symbols("first") == ()

    def test_before_everything_all_is_empty(self, added: SourceTree) -> None:
        for pins in (as_of("1990-01-01"), recorded("1990-01-01")):
            session = added.place.session
            assert session.search("apples", pins=pins).results == ()
            assert session.symbol("first", pins=pins).results == ()
            with pytest.raises(NotFound):
                session.payload("a.py", pins)
            if pins.as_of:
                assert session.frames_of("a.py", pins) == ()

    def test_a_file_that_was_recorded_later_is_unknown_then(self, added: SourceTree) -> None:
        then = added.place.clock.now()
        added.write("late.py", "def late():\n    pass\n")
        written = Instant(added.place.clock.time.microseconds + 600_000)
        added.sync()
        assert added.symbols("late", recorded_as_of=then) == ()
        assert added.symbols("late", as_of=then) == ()
        assert len(added.symbols("late", as_of=written)) == 1


class TestVerifyAndStatus:
    def test_a_fresh_store_is_valid(self, added: SourceTree) -> None:
        report = added.verify()
        assert (report.stale, report.gone, report.unknown) == (0, 0, 0)
        assert report.checked == report.valid == len(report.frames) > 4
        assert status(added.place.session).stale == ()

    def test_each_frame_is_valid_stale_or_gone(self, added: SourceTree) -> None:
        added.write(
            "a.py", PYTHON.replace("return 2", "return 3").replace("def first", "def other")
        )
        (added.path / "b.py").unlink()
        report = added.verify()
        found = {(check.path, check.qualified_name): check for check in report.frames}
        assert found["a.py", "first"].status == "gone"
        assert found["a.py", "Basket.second"].status == "stale"
        assert found["a.py", "Basket.second"].replacement_digest is not None
        assert found["a.py", "a.py"].status == "stale"
        assert found["b.py", "untouched"].status == "gone"
        assert not report.ok
        assert report.checked == report.valid + report.stale + report.gone
        stale = {(s.path, s.status) for s in status(added.place.session).stale}
        assert ("b.py", "gone") in stale
        assert {path for path, _ in stale} == {"a.py", "b.py"}
        added.sync()
        assert added.verify().ok
        assert status(added.place.session).stale == ()

    def test_verify_is_not_fooled_by_times(self, added: SourceTree) -> None:
        for _ in range(4):
            added.sync()
        file = added.path / "b.py"
        times = file.stat()
        file.write_bytes(file.read_bytes().replace(b"return 0", b"return 9"))
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert not added.verify().ok

    def test_status_is_not_fooled_by_times_either(self, added: SourceTree) -> None:
        added.write("kept.py", "def kept():\n    return 1\n")
        added.sync()
        times = (added.path / "b.py").stat()
        (added.path / "a.py").touch()
        (added.path / "kept.py").chmod(0o600)
        assert status(added.place.session).stale == ()
        added.edit("b.py", "return 0", "return 9")
        os.utime(added.path / "b.py", ns=(times.st_atime_ns, times.st_mtime_ns))
        added.write(".gitignore", "kept.py\n", at="2001-01-01")
        stale = [(s.path, s.status) for s in status(added.place.session).stale]
        assert stale == [(".gitignore", "new"), ("b.py", "changed"), ("kept.py", "ignored")]
        added.sync()
        assert status(added.place.session).stale == ()

    def test_a_new_file_is_stale_until_the_next_sync(self, added: SourceTree) -> None:
        added.write("new.py")
        (stale,) = status(added.place.session).stale
        assert (stale.path, stale.status) == ("new.py", "new")

    def test_status_counts(self, added: SourceTree) -> None:
        added.place.write("note\n")
        found = status(added.place.session)
        assert (found.pages, found.roots[0].files) == (3, 2)
        assert found.roots[0].symbols == added.add().roots[0].symbols
        assert found.roots[0].last_sync is not None
        assert (found.conflicts, found.incomplete, found.damaged, found.edits) == ((), (), (), ())
