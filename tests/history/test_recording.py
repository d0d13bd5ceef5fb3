"""Recording a history: at once or later, in parts, again and again, and when it is rewritten."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.sources import past_apply
from pcpfs.sources.roots import HistoryWish
from pcpfs.store.searches.citations import suspicions
from pcpfs.store.upkeeping.fsck import fsck
from tests.history.project import ALL, Project, at, facts, function, line, texts
from tests.store.workplace import Workplace

ONE, TWO, THREE = (function("f", n) for n in (1, 2, 3))


@pytest.fixture
def three(project: Project) -> Project:
    """Three commits of one file."""
    for when, text in ((0, ONE), (10, TWO), (20, THREE)):
        project.commit({"a.py": text}, when)
    return project


def test_what_held_at_a_commit_is_told_as_of_then(three: Project) -> None:
    report = three.add().roots[0]
    assert (three.told(report).commits, three.told(report).observed) == (3, 3)
    assert report.added == report.changed == 0
    assert texts(three.place, "a.py", [0, 9.9, 10, 20, 10**6]) == [ONE, ONE, TWO, THREE, THREE]
    with pytest.raises(NotFound):
        texts(three.place, "a.py", [-1])
    assert line(three.place, "a.py") == [
        (0, 10, "commit"), (10, 20, "commit"), (20, None, "commit")
    ]  # fmt: skip


def test_later_is_the_same_as_at_once(three: Project, empty_store: Path, tmp_path: Path) -> None:
    three.lay({"new.py": ONE, "a.py": TWO + "# dirty\n"})
    other = Workplace.at(shutil.copytree(empty_store, tmp_path / "other"))
    three.add()
    three.add(None, place=other)
    three.sync(HistoryWish(), place=other)
    for path in ("a.py", "new.py"):
        assert line(other, path) == line(three.place, path)
    assert facts(other) == facts(three.place)
    other.close()


def test_what_is_in_the_work_tree_holds_now_whatever_was_committed(three: Project) -> None:
    three.lay({"a.py": ONE})
    three.add()
    assert texts(three.place, "a.py", [25]) == [THREE]
    assert three.place.session.payload("a.py").decode() == ONE
    three.commit({"b.py": ONE}, 30)
    three.git("checkout", "-q", "HEAD~1")
    three.sync()
    assert three.place.session.payload("a.py").decode() == THREE


def test_only_new_commits_are_walked(three: Project) -> None:
    three.add()
    before = three.place.store.git.head()
    assert three.told(three.sync()).commits == 0
    assert three.place.store.git.head() == before
    three.commit({"a.py": ONE, "b.py": TWO}, 30)
    told = three.told(three.sync())
    assert (told.commits, told.observed, told.retracted) == (1, 2, 0)
    assert texts(three.place, "a.py", [29, 30]) == [THREE, ONE]


def test_a_walk_that_was_cut_short_is_taken_up_again(
    three: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    three.commit({"b.py": ONE, "c.py": TWO}, 30)
    monkeypatch.setattr(past_apply, "BATCH_BYTES", 40)
    stop = past_apply.PastApplier.write
    calls = []

    def write(self: past_apply.PastApplier, *given: object) -> None:
        calls.append(given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        stop(self, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(past_apply.PastApplier, "write", write)
    with pytest.raises(KeyboardInterrupt):
        three.add()
    monkeypatch.setattr(past_apply.PastApplier, "write", stop)
    three.place = three.place.reopened()
    told = three.told(three.sync())
    assert told.commits == 4
    assert 0 < told.observed < 5
    assert texts(three.place, "a.py", [0, 10, 20]) == [ONE, TWO, THREE]
    assert texts(three.place, "c.py", [30]) == [TWO]
    assert len(line(three.place, "a.py")) == 3
    three.place.close()


class TestRewriting:
    def test_an_amended_commit_is_retracted(self, three: Project) -> None:
        three.add()
        known = three.place.clock.now()
        three.commit({"a.py": "amended = 1\n"}, 25, "--amend")
        told = three.told(three.sync())
        assert (told.retracted, told.observed) == (1, 1)
        assert texts(three.place, "a.py", [20, 25]) == [TWO, "amended = 1\n"]
        old = three.place.session.payload("a.py", Pins(at(22), known)).decode()
        assert old == THREE

    def test_a_history_that_came_back_counts_again(self, three: Project) -> None:
        three.add()
        three.git("reset", "-q", "--hard", "HEAD~2")
        assert three.told(three.sync()).retracted == 2
        assert texts(three.place, "a.py", [25]) == [ONE]
        three.git("reset", "-q", "--hard", three.commits[-1])
        assert three.told(three.sync()).observed == 2
        assert texts(three.place, "a.py", [0, 10, 25]) == [ONE, TWO, THREE]

    def test_a_file_that_only_lost_commits_had_is_known_to_have_been(self, three: Project) -> None:
        three.commit({"n.py": ONE}, 25)
        three.add()
        session = three.place.session
        frame = session.frames_of("n.py")[-1]
        note = three.place.write("About f.\n", cites=(frame.frame_id,)).page_id
        known = three.place.clock.now()
        for back in (False, True, False):  # the second time there is a past to go on from
            three.git("reset", "-q", "--hard", three.commits[-1 if back else -2])
            three.sync()
            assert (frame.frame_id in {f.frame_id for f in session.frames_of("n.py")}) is back
            assert bool(suspicions(three.place.store.catalog, note)) is not back
            assert session.payload("n.py", Pins(recorded_as_of=known)).decode() == ONE
            assert fsck(three.place.store).problems == ()

    def test_nothing_of_the_old_line_need_be_left(self, three: Project) -> None:
        three.commit({"a.py": None, "b.py": THREE}, 25)
        three.add()
        three.git("checkout", "-q", "--orphan", "anew")
        three.commit({"a.py": TWO}, 40)
        three.git("branch", "-q", "-M", "anew", "main")
        three.git("reflog", "expire", "--expire=now", "--all")
        three.git("gc", "-q", "--prune=now")
        assert three.told(three.sync()).retracted == 4
        with pytest.raises(NotFound):
            texts(three.place, "a.py", [20])
        assert texts(three.place, "a.py", [40]) == [TWO]

    def test_another_branch_changes_nothing_until_it_is_asked_for(self, three: Project) -> None:
        three.add()
        three.git("checkout", "-q", "-b", "side", "HEAD~1")
        three.commit({"a.py": "side = 1\n"}, 40)
        assert three.told(three.sync()).commits == 0
        assert texts(three.place, "a.py", [20]) == [THREE]
        assert three.place.session.payload("a.py").decode() == "side = 1\n"
        told = three.told(three.sync(HistoryWish()))
        assert (told.branch, told.retracted) == ("refs/heads/side", 1)
        assert texts(three.place, "a.py", [20, 40]) == [TWO, "side = 1\n"]

    def test_during_a_rebase_the_branch_stands_where_it_stood(self, three: Project) -> None:
        three.git("checkout", "-q", "-b", "side", "HEAD~2")
        three.commit({"a.py": "side = 1\n"}, 15)
        three.add()
        with pytest.raises(Exception, match="non-zero"):
            three.git("rebase", "main")
        told = three.told(three.sync(HistoryWish()))
        assert (told.branch, told.commits, told.retracted) == ("refs/heads/side", 0, 0)


class TestBeginnings:
    def test_since_begins_with_what_held_then(self, three: Project) -> None:
        told = three.told(three.add(HistoryWish(at(15))).roots[0])
        assert (told.start_at, told.cut, told.commits) == (at(10), "since", 2)
        assert texts(three.place, "a.py", [15, 20]) == [TWO, THREE]
        told = three.told(three.sync(HistoryWish(Instant.read("2000-01-01"))))
        assert (told.start_at, told.cut) == (at(0), None)
        assert texts(three.place, "a.py", [0, 15, 20]) == [ONE, TWO, THREE]
        assert len(line(three.place, "a.py")) == 3

    def test_a_shallow_clone_says_where_its_history_ends(self, three: Project) -> None:
        clone = three.path.parent / "clone"
        three.git("clone", "-q", "--depth=2", f"file://{three.path}", str(clone))
        shallow = Project(clone, three.place)
        told = shallow.told(shallow.add().roots[0])
        assert (told.cut, told.start_at, told.commits) == ("shallow", at(10), 2)
        shallow.git("fetch", "-q", "--unshallow")
        told = shallow.told(shallow.sync())
        assert (told.cut, told.start_at) == (None, at(0))
        assert texts(three.place, "a.py", [0, 10, 20]) == [ONE, TWO, THREE]

    def test_a_partial_clone_knows_what_it_has(self, three: Project) -> None:
        three.commit({"b.py": ONE}, 30)
        three.git("mv", "b.py", "c.py")
        three.commit({"c.py": ONE + "\n"}, 40)  # whether that is a rename git would have to fetch
        three.git("config", "uploadpack.allowFilter", "true")
        clone = three.path.parent / "clone"
        three.git("clone", "-q", "--filter=blob:none", f"file://{three.path}", str(clone))
        partial = Project(clone, three.place)
        assert partial.told(partial.add().roots[0]).commits == 5
        assert texts(three.place, "a.py", [20]) == [THREE]
        assert texts(three.place, "c.py", [40]) == [ONE + "\n"]
        assert [len(line(three.place, name)) for name in ("a.py", "c.py")] == [1, 1]

    def test_what_git_lacks_is_not_what_was_before(self, three: Project) -> None:
        three.git("checkout", "-q", "-b", "x", "main~1")
        three.commit({"a.py": "x = 1\n"}, 15)
        three.git("checkout", "-q", "main")
        for name in ("main~1:a.py", "x:a.py"):
            self.blob(three, name).unlink()
        told = three.told(three.add(HistoryWish(all_branches=True)).roots[0])
        assert (told.observed, told.lacking) == (2, 2)
        assert texts(three.place, "a.py", [0, 9, 20]) == [ONE, ONE, THREE]
        for moment in (10, 19):
            with pytest.raises(NotFound):
                texts(three.place, "a.py", [moment])
        (three.path / "b.py").write_text(TWO)
        three.git("hash-object", "-w", "b.py")
        assert three.told(three.sync(HistoryWish())).lacking == 0
        assert texts(three.place, "a.py", [0, 10, 20]) == [ONE, TWO, THREE]
        assert fsck(three.place.store).problems == ()

    def test_a_damaged_object_says_what_to_do(self, three: Project) -> None:
        blob = self.blob(three, "main~1:a.py")
        blob.chmod(0o600)
        blob.write_bytes(blob.read_bytes()[:-4])
        with pytest.raises(Corrupt, match="git fsck"):
            three.add()

    @staticmethod
    def blob(project: Project, name: str) -> Path:
        """The file of a loose object."""
        found = project.git("rev-parse", name).strip()
        return project.path / ".git" / "objects" / found[:2] / found[2:]

    def test_a_linked_work_tree_and_a_folder_of_a_repository(self, three: Project) -> None:
        three.commit({"sub/x/b.py": ONE, "sub/.gitignore": "ign.py\n", "sub/x/ign.py": TWO}, 30)
        linked = three.path.parent / "linked"
        three.git("worktree", "add", "-q", "--detach", str(linked))
        project = Project(linked, three.place, root="sub/x")
        told = project.told(project.add().roots[0])
        assert (told.branch, told.observed) == (None, 1)
        assert texts(three.place, "b.py", [30]) == [ONE]
        assert {path for path, *_ in facts(three.place)} == {"b.py"}

    def test_a_submodule_has_a_history_of_its_own(self, three: Project) -> None:
        outer = Project(three.path.parent / "outer", three.place, root="lib")
        outer.begin()
        outer.git("submodule", "--quiet", "add", str(three.path), "lib")
        outer.commit({"b.py": ONE}, 50)
        outer.add()
        assert texts(three.place, "a.py", [0, 10, 20]) == [ONE, TWO, THREE]

    def test_a_folder_without_git_has_none(self, project: Project, tmp_path: Path) -> None:
        bare = Project(tmp_path / "bare", project.place)
        bare.path.mkdir()
        bare.lay({"a.py": ONE})
        with pytest.raises(NotFound, match="no git repository"):
            bare.add()
        with pytest.raises(NotFound, match="no commit"):
            project.add()

    def test_the_others_are_recorded_where_one_has_none(
        self, three: Project, tmp_path: Path
    ) -> None:
        begun, plain = (Project(tmp_path / name, three.place) for name in ("begun", "plain"))
        begun.begin()
        plain.path.mkdir()
        for project in (three, begun, plain):
            project.lay({"new.py": TWO})
            project.add(None)
        for names, refused in (((), ["begun"]), (("begun", "plain", "app"), ["begun", "plain"])):
            for project in (begun, plain):
                project.lay({"new.py": project.path.joinpath("new.py").read_text() + "#\n"})
            report = three.synced(ALL, names=names)
            assert [one.root for one in report.refused] == refused
            assert [root.changed for root in report.roots] == [0, 1, 1]
            assert all(any(name in w for w in report.warnings) for name in refused)
        assert texts(three.place, "a.py", [0, 10, 20]) == [ONE, TWO, THREE]
        with pytest.raises(NotFound, match="no commit"):
            begun.synced(ALL, names=["begun"])

    def test_a_folder_may_come_under_git_later(self, project: Project) -> None:
        shutil.rmtree(project.path / ".git")
        project.lay({"a.py": ONE})
        project.add(None)
        with pytest.raises(NotFound, match="no source is in a git repository"):
            project.sync(ALL)
        project.begin()
        project.commit({"a.py": ONE}, 0)
        assert project.told(project.sync(ALL)).observed == 1


def test_a_rename_leads_back_to_what_it_was(project: Project) -> None:
    body = "".join(function(name, 1) for name in "fghijk")
    project.commit({"old.py": body}, 0)
    project.commit({"old.py": None, "new.py": body + "# end\n"}, 10)
    project.add()
    entries = project.place.session.log("new.py")
    assert [entry.path for entry in entries] == ["new.py", "old.py"]
    (relation,) = project.place.session.relations("new.py", direction="out")
    assert relation.relation.type == "renamed_from"
    project.commit({"new.py": body}, 12, "--amend")
    project.sync()
    assert len(project.place.session.relations("new.py", direction="out")) == 1


def test_a_merge_does_what_it_changes_on_the_line(three: Project) -> None:
    three.git("checkout", "-q", "-b", "side", "HEAD~1")
    three.commit({"b.py": ONE}, 30)
    three.git("checkout", "-q", "main")
    three.git("merge", "-q", "--no-ff", "-m", "x", "side", when=40)
    three.add()
    with pytest.raises(NotFound):
        texts(three.place, "b.py", [35])
    assert texts(three.place, "b.py", [40]) == [ONE]


class TestConversions:
    """What git converts as it checks files out: the work tree holds now, once and for all."""

    WINDOWS = "def f():\r\n    return 1\r\n"

    @pytest.mark.parametrize("by", ["autocrlf", "attributes"])
    def test_other_line_ends_are_seen_once(self, project: Project, by: str) -> None:
        if by == "autocrlf":
            project.git("config", "core.autocrlf", "true")
        else:
            project.commit({".gitattributes": "*.py text eol=crlf\n"}, 0)
        project.commit({"a.py": self.WINDOWS}, 10)
        project.add()
        assert texts(project.place, "a.py", [10]) == [ONE]
        assert project.place.session.payload("a.py").decode() == self.WINDOWS
        before = line(project.place, "a.py")
        assert [basis for _, _, basis in before] == ["commit", "first"]
        head = project.place.store.git.head()
        again = project.sync()
        assert (again.changed, again.opened, again.closed) == (0, 0, 0)
        assert project.place.store.git.head() == head
        project.commit({"b.py": ONE}, 20)
        assert project.sync().changed == 0
        assert line(project.place, "a.py") == before

    def test_a_commit_of_such_a_file_is_two_observations(self, project: Project) -> None:
        project.git("config", "core.autocrlf", "true")
        project.commit({"a.py": self.WINDOWS}, 10)
        project.add()
        project.commit({"a.py": self.WINDOWS.replace("1", "2")}, 10**6)
        project.sync()
        assert texts(project.place, "a.py", [10**6]) == [TWO]
        assert project.place.session.payload("a.py").decode() == self.WINDOWS.replace("1", "2")
        bases = [basis for _, _, basis in line(project.place, "a.py")]
        assert bases.count("commit") == 2
        assert len(bases) == 4
