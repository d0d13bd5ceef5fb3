"""Others may be at work: sessions, processes, pulls and branches."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pcpfs.errors import Busy, NotFound
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace

CHECKOUT = Path(__file__).parents[2]


class TestTogether:
    def test_two_sessions_see_each_others_writes(self, place: Workplace) -> None:
        other = Workplace.at(place.path, place.clock)
        page = place.write("apple\n", path="x.md").page_id
        assert other.session.payload(page) == b"apple\n"
        other.revise(page, "pear\n")
        assert place.session.payload(page) == b"pear\n"
        assert len(place.session.search("pear").results) == 1
        assert place.session.search("apple").results == ()
        other.close()

    def test_writers_in_two_processes_lose_nothing(self, place: Workplace) -> None:
        script = """
import sys
from pathlib import Path
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, draft
store = Store.open(Path(sys.argv[1]))
session = Session(store, ANNA)
for number in range(6):
    session.write("project:a", draft(f"{sys.argv[2]} {number}\\n", title=f"{sys.argv[2]}{number}"))
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])}
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(place.path), name],
                env=environment,
                stderr=subprocess.PIPE,
            )
            for name in ("left", "right")
        ]
        for writer in writers:
            _, messages = writer.communicate(timeout=60)
            assert writer.returncode == 0, messages.decode()
        expected = {f"{name} {n}\n".encode() for name in ("left", "right") for n in range(6)}
        assert set(place.tree().values()) == expected
        assert len(place.session.search("left", limit=20).results) == 6
        assert place.commits() == 1 + 12
        assert place.git("status", "--porcelain") == ""
        assert fsck(place.store).ok

    def test_a_held_lock_is_busy_for_writers_and_nothing_for_readers(
        self, place: Workplace
    ) -> None:
        page = place.write("apple\n").page_id
        impatient = Workplace.at(place.path, wait=0.1)
        with place.store.writing("test", place.session.principal):
            with pytest.raises(Busy, match="--wait"):
                impatient.write("pear\n")
            assert impatient.session.payload(page) == b"apple\n"
            assert len(impatient.session.search("apple").results) == 1
        assert impatient.write("pear\n").created
        impatient.close()

    def test_what_a_pull_brings_is_seen(self, place: Workplace, tmp_path: Path) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone")
        assert clone.session.payload(page) == b"one\n"
        place.revise(page, "two apples\n")
        new = place.write("new\n").page_id
        clone.git("pull", "-q", "--ff-only")
        assert clone.session.payload(page) == b"two apples\n"
        assert clone.session.payload(new) == b"new\n"
        assert len(clone.session.search("apples").results) == 1
        assert clone.revise(page, "three\n").created
        assert clone.tree()["x.md"] == b"three\n"
        assert clone.git("status", "--porcelain") == ""
        clone.close()

    def test_another_branch_shows_its_own_pages(self, place: Workplace) -> None:
        place.git("branch", "early")
        page = place.write("one\n").page_id
        place.git("checkout", "-q", "early")
        with pytest.raises(NotFound):
            place.session.payload(page)
        assert place.session.search("one").results == ()
        place.git("checkout", "-q", "main")
        assert place.session.payload(page) == b"one\n"
        assert len(place.session.search("one").results) == 1

    def test_what_git_put_into_tree_is_nobodys_edit(self, place: Workplace, tmp_path: Path) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone", place.clock)
        for turn in range(2):
            clone.revise(page, f"clone {turn}\n")
            place.git("pull", "-q", "--ff-only", str(clone.path), "main")
            assert place.session.payload(page) == f"clone {turn}\n".encode()
            assert place.store.edits() == ()
            assert place.revise(page, f"origin {turn}\n").warnings == ()
            assert place.tree() == {"x.md": f"origin {turn}\n".encode()}
            clone.git("pull", "-q", "--ff-only")
        assert clone.session.tombstone(page, "wrong").warnings == ()
        assert clone.tree() == {}
        clone.close()

    def test_clones_that_wrote_other_pages_merge_by_union(
        self, place: Workplace, tmp_path: Path
    ) -> None:
        place.write("one\n", path="x.md")
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone", place.clock)
        theirs = clone.write("theirs\n", path="theirs.md").page_id
        ours = place.write("ours\n", path="ours.md").page_id
        clone.git("-c", "user.name=m", "-c", "user.email=m@x", "pull", "-q", "--no-rebase")
        for page, text in ((theirs, b"theirs\n"), (ours, b"ours\n")):
            assert clone.session.payload(page) == text
        assert set(clone.tree()) == {"x.md", "ours.md", "theirs.md"}
        assert clone.git("status", "--porcelain") == ""
        assert fsck(clone.store).ok
        clone.close()


def test_a_branch_switch_is_nobodys_edit(place: Workplace) -> None:
    page = place.write("one\n", path="x.md").page_id
    place.git("checkout", "-q", "-b", "side")
    place.revise(page, "on the side\n")
    place.write("extra\n", path="e.md")
    place.git("checkout", "-q", "main")
    assert place.session.payload(page) == b"one\n"
    assert place.store.edits() == ()
    assert place.revise(page, "on main\n").warnings == ()
    assert place.tree() == {"x.md": b"on main\n"}
    place.git("checkout", "-q", "side")
    assert place.session.payload(page) == b"on the side\n"
    assert place.store.edits() == ()
    assert place.tree() == {"x.md": b"on the side\n", "e.md": b"extra\n"}
