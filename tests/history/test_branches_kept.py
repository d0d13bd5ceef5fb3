"""Branches beside the line: odd repositories, and what upkeep makes of what is known of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pcpfs.errors import NotFound
from pcpfs.sources import past_reading
from pcpfs.sources.roots import HistoryWish
from pcpfs.sources.thinning import thin
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.exchanges.exchange import export, import_store
from pcpfs.store.searches.symbol_life import differences
from pcpfs.store.upkeeping.fsck import fsck
from tests.history.branching import ALL, ODD, life, steps, text
from tests.history.project import NOW, Project, at, function
from tests.store.workplace import ANNA, Workplace


class TestEdges:
    def test_since_tells_what_branches_did_later(self, forked: Project) -> None:
        forked.add(HistoryWish(at(5), all_branches=True))
        assert [row[:2] for row in life(forked, "f")] == [
            ("changed", 8),
            ("moved", 6),
            ("opened", 0),
        ]
        with pytest.raises(NotFound):  # nothing of it changed later
            text(forked, "only.py", ODD)
        forked.sync(ALL)
        assert text(forked, "only.py", ODD) == function("h", 1)

    def test_a_shallow_clone_tells_what_it_knows(self, forked: Project) -> None:
        clone = Project(forked.path.parent / "shallow", forked.place)
        forked.git("clone", "-q", "--depth=1", "--no-single-branch", f"file://{forked.path}",
                   str(clone.path))  # fmt: skip
        clone.add(ALL)
        assert [row[0] for row in life(clone, "f")] == ["opened"]
        with pytest.raises(NotFound, match="not recorded"):
            text(clone, "a.py", f"origin/{ODD}")
        clone.git("fetch", "-q", "--unshallow")
        clone.commit({"z.py": function("z", 1)}, 20)
        clone.sync()
        assert text(clone, "b.py", f"origin/{ODD}").startswith(function("f", 2))

    def test_a_branch_whose_commit_is_lost_hinders_nobody(self, forked: Project) -> None:
        (forked.path / ".git/refs/heads/lost").write_text("ab" * 20 + "\n")
        report = forked.add(ALL).roots[0].history
        assert report is not None
        assert (report.branches, report.beside) == (2, 2)
        with pytest.raises(NotFound, match="not recorded"):
            text(forked, "a.py", "lost")

    def test_a_folder_of_a_repository_and_its_rules(self, project: Project) -> None:
        project.root = "sub"
        project.commit({"sub/a.py": function("f", 1), "up.py": function("u", 1)}, 0)
        project.git("checkout", "-q", "-b", "x")
        project.commit({"up.py": function("u", 2)}, 1)
        project.commit({".gitignore": "hidden.py\n", "sub/hidden.py": function("s", 1)}, 2)
        project.commit({"sub/a.py": function("f", 2)}, 3)
        project.git("checkout", "-q", "main")
        project.add(ALL)
        paths = {row.path for row in project.place.store.catalog.pages("is_source")}
        assert paths == {"a.py"}
        assert [row[:3] for row in life(project, "f")] == [
            ("changed", 3, "a.py"),
            ("opened", 0, "a.py"),
        ]

    def test_many_branches_cost_what_their_commits_do(
        self, project: Project, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        project.commit({f"m{n}.py": function(f"f{n}", 1) for n in range(20)}, 0)
        for number in range(8):
            project.git("checkout", "-q", "-b", f"b{number}", "main")
            project.commit({f"m{number}.py": function(f"f{number}", 2)}, 1)
            project.git("branch", f"same{number}")
        project.git("checkout", "-q", "main")
        read: list[int] = []
        contents = past_reading.PastReading.contents

        def counted(self: past_reading.PastReading, steps: list[object]) -> object:
            found = contents(self, steps)  # type: ignore[arg-type]
            read.append(len(found))
            return found

        monkeypatch.setattr(past_reading.PastReading, "contents", counted)
        project.add(ALL)
        assert read == [20, 16]
        assert life(project, "f3")[0][3] == ("b3", "same3")


class TestUpkeep:
    def test_an_erased_file_leaves_nothing_of_its_branches(self, forked: Project) -> None:
        forked.add(ALL)
        place = forked.place
        page = place.session.resolve("a.py").page
        found = delete(place.store, ANNA, page, "not ours", proven=True)
        assert found.proof is not None
        assert found.proof.ok, found.proof.traces
        assert [name.path for name in found.derived] == ["b.py"]
        delete(place.store, ANNA, place.session.resolve("b.py").page, "not ours")
        forked.git("checkout", "-q", ODD)
        forked.commit({"b.py": function("f", 7)}, 30)
        forked.git("checkout", "-q", "main")
        forked.sync()
        assert {row.path for row in place.store.catalog.pages("1")} == {"only.py"}
        assert fsck(place.store).problems == ()

    def test_what_branches_have_is_kept_what_only_lost_ones_had_goes(self, forked: Project) -> None:
        forked.add(ALL)
        place = forked.place
        place.clock.go_to("2041-01-01T00:00:00Z")
        assert thin(place.store, ANNA).payloads == 0
        forked.git("branch", "-D", ODD)
        forked.sync()
        assert thin(place.store, ANNA).payloads == 0  # git has it still
        forked.git("reflog", "expire", "--expire=now", "--all")
        forked.git("gc", "-q", "--prune=now")
        assert thin(place.store, ANNA).payloads == 2
        assert fsck(place.store).problems == ()

    def test_versions_that_were_saves_before_have_frames_files(self, project: Project) -> None:
        """What a save changed stands in its change, which no branch can name."""
        many = "".join(function(f"f{n}", 1) for n in range(60))
        project.commit({"a.py": many}, 0)
        project.add(None)
        for number in (2, 3):
            project.lay({"a.py": many + function("g", number)})
            project.sync()
        project.git("checkout", "-q", "-b", "x")
        project.commit({"a.py": many + function("g", 2)}, 5)
        project.commit({"a.py": many + function("g", 3)}, 6)
        project.git("checkout", "-q", "main")
        project.sync(ALL)
        assert [row[:2] for row in life(project, "g", branch="x")] == [
            ("changed", 6),
            ("opened", 5),
        ]
        assert fsck(project.place.store).problems == ()
        assert differences(project.place.session.reader(NOW), "g", branch="x")[0].after

    def test_a_copy_of_the_store_and_a_catalog_built_anew_tell_the_same(
        self, forked: Project, empty_store: Path, tmp_path: Path
    ) -> None:
        forked.add(ALL)
        place = forked.place
        told = steps(forked, "f")
        place.store.reindex()
        assert steps(forked, "f") == told
        export(place.session, (), tmp_path / "copy")
        forked.place = Workplace.at(shutil.copytree(empty_store, tmp_path / "other"))
        try:
            import_store(forked.place.session, tmp_path / "copy")
            assert steps(forked, "f") == told
            assert text(forked, "only.py", ODD) == function("h", 1)
            assert fsck(forked.place.store).problems == ()
        finally:
            forked.place.close()
            forked.place = place
