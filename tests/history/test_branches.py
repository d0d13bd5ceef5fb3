"""Branches beside the line: what they did is told and named, and holds at no time."""

from __future__ import annotations

import threading

import pytest

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins
from pcpfs.sources import beside_apply, past_apply
from pcpfs.sources.roots import HistoryWish
from pcpfs.sources.service import Sources
from pcpfs.sources.watch import Watch
from pcpfs.store.branch_reading import against_branch
from pcpfs.store.branches import recorded_branches
from pcpfs.store.searches.symbol_life import differences, lives
from pcpfs.store.upkeeping.fsck import fsck
from tests.history.branching import ALL, ODD, life, steps, text
from tests.history.project import NOW, Project, at, function
from tests.store.workplace import ANNA


class TestTelling:
    def test_the_life_of_a_symbol_names_branch_commit_and_author(self, forked: Project) -> None:
        report = forked.add(ALL).roots[0].history
        assert report is not None
        assert (report.commits, report.branches, report.beside) == (2, 1, 2)
        assert life(forked, "f") == [
            ("changed", 8, "a.py", None),
            ("moved", 6, "b.py", (ODD,)),
            ("changed", 5, "a.py", (ODD,)),
            ("opened", 0, "a.py", None),
        ]
        step = steps(forked, "f")[1]
        assert (step.commit, step.author) == (forked.commits[2], "Ada <ada@example.org>")
        assert step.was == "f in a.py"
        assert life(forked, "h") == [("opened", 5, "only.py", (ODD,))]
        assert [row[:2] for row in life(forked, "f", branch=ODD)] == [("moved", 6), ("changed", 5)]
        assert [row[:2] for row in life(forked, "f", branch="main")] == [
            ("changed", 8),
            ("opened", 0),
        ]
        with pytest.raises(NotFound, match="no branch 'x'"):
            life(forked, "f", branch="x")
        with pytest.raises(NotFound, match="did nothing"):
            life(forked, "h", branch="main")

    def test_the_life_of_a_file_and_its_texts(self, forked: Project) -> None:
        forked.add(ALL)
        session = forked.place.session
        assert [(e.commit, e.branches, e.reason) for e in session.log("a.py")] == [
            (forked.commits[3], None, None),
            (forked.commits[2], (ODD,), "moved"),
            (forked.commits[1], (ODD,), None),
            (forked.commits[0], None, None),
        ]
        assert [(e.opened, e.closed) for e in session.log("a.py", branch=ODD)] == [(0, 2), (1, 1)]
        (entry,) = session.log("only.py")
        assert (entry.commit, entry.opened) == (forked.commits[1], 1)
        assert session.payload(entry.revision_id) == function("h", 1).encode()
        assert session.manifest(entry.revision_id).created_by == ANNA
        assert text(forked, "b.py", ODD) == function("f", 2) + function("g", 1)
        assert text(forked, "/sources/app/only.py", f"refs/heads/{ODD}") == function("h", 1)
        assert text(forked, "a.py", "main").startswith(function("f", 3))
        assert text(forked, "a.py", ODD, Pins(as_of=at(5))).startswith(function("f", 2))
        assert text(forked, "a.py", ODD, Pins(as_of=at(4))).startswith(function("f", 1))
        with pytest.raises(NotFound, match=r"has no a\.py"):
            text(forked, "a.py", ODD)
        forked.place.write("x", path="n.md")
        with pytest.raises(UsageError, match="no file of a source"):
            text(forked, "n.md", ODD)

    def test_differences(self, forked: Project) -> None:
        forked.add(ALL)
        reader = forked.place.session.reader(NOW)
        (found,) = differences(reader, "f", branch=ODD)
        assert found.before is not None
        assert found.after is not None
        assert (found.before.path, found.after.path, found.after.commit) == (
            "a.py",
            "b.py",
            forked.commits[2],
        )
        assert "-    return 3\n+    return 2\n" in found.text
        (new,) = differences(reader, "h", branch=ODD)
        assert new.before is None
        with pytest.raises(NotFound, match="neither the line nor"):
            differences(reader, "h", branch="main")
        with pytest.raises(NotFound, match="only other branches"):
            differences(reader, "h")
        assert "+    return 3" in differences(reader, "f")[0].text
        whole = against_branch(reader, "only.py", ODD, NOW)
        assert (whole.before, whole.symbols) == (
            None,
            {"added": ("h",), "removed": (), "changed": ()},
        )

    def test_a_symbol_that_a_branch_calls_otherwise(self, project: Project) -> None:
        project.commit({"a.py": function("f", 1)}, 0)
        project.git("checkout", "-q", "-b", "x")
        project.commit({"a.py": function("k", 1)}, 1)
        project.commit({"a.py": None, "b.py": function("k", 1)}, 2)
        project.git("checkout", "-q", "main")
        project.add(ALL)
        told = [("moved", 2, "b.py"), ("renamed", 1, "a.py"), ("opened", 0, "a.py")]
        assert [row[:3] for row in life(project, "f")] == told
        assert [row[:3] for row in life(project, "k")] == told
        (found,) = differences(project.place.session.reader(NOW), "f", branch="x")
        assert "-def f():\n+def k():\n" in found.text

    def test_a_symbol_that_a_branch_has_no_more(self, project: Project) -> None:
        project.commit({"a.py": function("f", 1) + function("g", 1)}, 0)
        project.git("checkout", "-q", "-b", "x")
        project.commit({"a.py": function("g", 1)}, 1)
        project.git("checkout", "-q", "main")
        project.add(ALL)
        (found,) = differences(project.place.session.reader(NOW), "f", branch="x")
        assert found.after is None
        assert "-    return 1" in found.text
        assert steps(project, "f")[0].reason == "changed"
        (same,) = differences(project.place.session.reader(NOW), "g", branch="x")
        assert same.text == ""


class TestHolding:
    def test_a_file_of_a_branch_only_is_nowhere_but_in_logs(self, forked: Project) -> None:
        forked.add(ALL)
        place = forked.place
        page = place.session.resolve("only.py").page
        with pytest.raises(NotFound, match="nothing that held"):
            place.session.payload("only.py")
        for pins in (NOW, Pins(as_of=at(5)), Pins(as_of=at(100))):
            assert place.session.search("h", pins=pins).results == ()
            assert place.session.frames_of(page, pins) == ()
        assert [view.pages for view in place.session.scopes()] == [1]
        assert fsck(place.store).problems == ()

    def test_it_gives_way_where_its_path_names_something_else(self, forked: Project) -> None:
        forked.add(ALL)
        note = forked.place.write("x\n", path="only.py")
        assert forked.place.session.resolve("only.py").page == note.page_id

    def test_a_commit_that_comes_onto_the_line_holds_from_then_on(self, forked: Project) -> None:
        forked.add(ALL)
        forked.git("reset", "-q", "--hard", ODD)
        report = forked.told(forked.sync())
        assert (report.beside, report.retracted) == (0, 1)
        assert [row[:2] for row in life(forked, "f")] == [
            ("moved", 6),
            ("changed", 5),
            ("opened", 0),
        ]
        assert {row[3] for row in life(forked, "f")} == {None}
        assert forked.place.session.payload("only.py") == function("h", 1).encode()


class TestFollowing:
    def test_what_is_recorded_costs_nothing_again(
        self, forked: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forked.add(ALL)
        before = forked.place.git("rev-parse", "HEAD")

        def walk(*_: object) -> None:
            raise AssertionError("nothing is to be walked")

        monkeypatch.setattr("pcpfs.sources.beside_history.first_parents", walk)
        assert forked.told(forked.sync()).beside == 0
        assert forked.place.git("rev-parse", "HEAD") == before

    def test_a_new_name_for_a_branch_reads_no_commit(
        self, forked: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        forked.add(ALL)
        forked.git("branch", "-m", ODD, "plain")
        forked.git("update-ref", "refs/remotes/origin/plain", "plain")
        forked.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/plain")
        forked.git("pack-refs", "--all")
        monkeypatch.delattr("pcpfs.sources.beside_history.edits_of")
        assert forked.told(forked.sync()).branches == 2
        assert life(forked, "h")[0][3] == ("plain", "origin/plain")

    def test_a_branch_that_is_gone_tells_nothing_but_at_its_record_time(
        self, forked: Project
    ) -> None:
        forked.add(ALL)
        then = forked.place.clock.now()
        forked.git("branch", "-D", ODD)
        forked.sync()
        assert [row[0] for row in life(forked, "f")] == ["changed", "opened"]
        with pytest.raises(NotFound):
            life(forked, "h")
        reader = forked.place.session.reader(Pins(recorded_as_of=then))
        assert len(lives(reader, "h")) == 1
        forked.git("branch", ODD, forked.commits[2])
        assert forked.told(forked.sync()).beside == 2
        assert life(forked, "h") == [("opened", 5, "only.py", (ODD,))]
        rows = forked.place.store.catalog.besides("1")
        assert len(rows) == len({(row.page_id, row.commit_id) for row in rows})

    def test_a_force_push_takes_back_what_it_replaced(self, forked: Project) -> None:
        forked.add(ALL)
        forked.git("checkout", "-q", ODD)
        forked.commit({"b.py": function("f", 9)}, 7, "--amend")
        forked.git("checkout", "-q", "main")
        assert forked.told(forked.sync()).beside == 1
        assert text(forked, "b.py", ODD) == function("f", 9)
        assert forked.commits[2] not in {step.commit for step in steps(forked, "f")}

    def test_off_by_default_on_until_it_is_taken_back(self, forked: Project) -> None:
        forked.add()
        with pytest.raises(NotFound):
            life(forked, "h")
        forked.sync(ALL)
        assert life(forked, "h")
        forked.sync(HistoryWish())
        assert life(forked, "h")
        forked.sync(HistoryWish(all_branches=False))
        with pytest.raises(NotFound):
            life(forked, "h")
        assert forked.told(forked.sync()).branches is None
        forked.sync(ALL)
        assert life(forked, "h")

    def test_a_walk_that_was_cut_short_is_taken_up_again(
        self, forked: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(past_apply, "BATCH_BYTES", 1)
        write, parts = beside_apply.BesideApplier.write, [0]

        def dies(self: beside_apply.BesideApplier, *given: object) -> None:
            parts[0] += 1
            if parts[0] > 2:
                raise KeyboardInterrupt
            write(self, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(beside_apply.BesideApplier, "write", dies)
        with pytest.raises(KeyboardInterrupt):
            forked.add(ALL)
        monkeypatch.undo()
        forked.place = forked.place.reopened()
        assert 0 < len(forked.place.store.catalog.besides("1")) < 4
        forked.sync()
        rows = forked.place.store.catalog.besides("1")
        assert len(rows) == len({(row.page_id, row.commit_id) for row in rows}) == 4
        assert life(forked, "f")[1:3] == [
            ("moved", 6, "b.py", (ODD,)),
            ("changed", 5, "a.py", (ODD,)),
        ]
        assert fsck(forked.place.store).problems == ()

    def test_a_watcher_follows(self, forked: Project) -> None:
        forked.add(ALL)
        with Sources(forked.place.store, ANNA) as sources:
            lines = []
            watch = Watch(sources, lines.append, threading.Event())
            watch.begin([])
            try:
                forked.git("update-ref", "refs/remotes/origin/x", forked.commits[1])
                forked.git("branch", "-D", ODD)
                for _ in range(40):
                    watch.turn()
                    tips = recorded_branches(
                        forked.place.store.catalog, sources.roots.all()[0].root_id
                    ).tips
                    if set(tips) == {"refs/remotes/origin/x"}:
                        break
                assert set(tips) == {"refs/remotes/origin/x"}
            finally:
                watch.end()
        assert [row[3] for row in life(forked, "h")] == [("origin/x",)]
