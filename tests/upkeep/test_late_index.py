"""A process that commits again and again may let git's index lag; nobody loses anything by it."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.git import late_index
from pcpfs.model.changes import Named
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import ANNA, SCOPE, Workplace, truth

WHO = ("-c", "user.name=m", "-c", "user.email=m@x")


@pytest.fixture
def late(place: Workplace) -> Workplace:
    place.write("first\n", path="first.md")
    place.store.commit_late()
    return place


def lags(place: Workplace) -> bool:
    return late_index.lags(place.store.git)


def test_the_index_lags_until_the_store_is_closed(late: Workplace) -> None:
    page = late.write("one\n", path="x.md")
    late.revise(page.page_id, "two\n")
    assert lags(late)
    assert late.git("show", "HEAD:scopes/project/a/tree/x.md") == "two\n"
    assert late.git("status", "--porcelain") != ""
    late.close()
    assert late.git("status", "--porcelain") == ""
    assert not (late.path / ".git" / "pcpfs" / "index-behind").exists()


def test_it_is_brought_up_to_date_on_demand_and_when_it_is_far_behind(
    late: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    late.write("one\n", path="x.md")
    late.store.settle_index()
    assert late.git("status", "--porcelain") == ""
    monkeypatch.setattr(late_index, "MOST_COMMITS", 3)
    for number in range(4):
        late.write(f"{number}\n", path=f"{number}.md")
    assert len(late.git("status", "--porcelain").splitlines()) < 4 * 4


def test_a_mark_that_outlived_its_commit_stops_nobody(late: Workplace) -> None:
    """The power went before git's objects were on the disk."""
    late.write("one\n", path="x.md")
    mark = late.path / ".git" / late_index.MARK
    mark.write_text(f"{mark.read_text().split()[0]} {'5' * 40}\n")
    other = Workplace.at(late.path)
    other.write("two\n", path="y.md")
    assert other.git("status", "--porcelain") == ""
    other.close()


def test_the_next_writer_does_it_for_one_that_was_killed(late: Workplace) -> None:
    late.write("one\n", path="x.md")
    other = Workplace.at(late.path)
    other.write("two\n", path="y.md")
    assert other.git("status", "--porcelain") == ""
    late.write("three\n", path="z.md")
    late.close()
    assert other.git("status", "--porcelain") == ""
    assert fsck(other.store).ok
    other.close()


@pytest.mark.parametrize("end", ["close", "killed"])
def test_a_commit_of_a_person_in_between_drops_nothing_for_long(late: Workplace, end: str) -> None:
    late.write("one\n", path="x.md")
    late.write("two\n", path="y.md")
    before = truth(late.path)
    (late.path / "scopes" / "mine.txt").write_text("mine\n")
    late.git("add", "scopes/mine.txt")
    late.git(*WHO, "commit", "-q", "-m", "mine")
    assert "x.md" not in late.git("ls-tree", "-r", "--name-only", "HEAD")
    if end == "close":
        late.close()
    other = Workplace.at(late.path)
    other.write("three\n", path="z.md")
    assert other.git("status", "--porcelain") == ""
    tree = other.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert {"scopes/mine.txt", *(f"scopes/{name}" for name in before)} <= set(tree)
    assert {p.path for p in fsck(other.store).problems} <= {"scopes/mine.txt"}
    other.close()


def test_a_damaged_mark_stops_nobody(late: Workplace) -> None:
    late.write("one\n", path="x.md")
    (late.path / ".git" / "pcpfs" / "index-behind").write_bytes(b"\xff\0 ../..")
    other = Workplace.at(late.path)
    other.write("two\n", path="y.md")
    assert other.session.search("two").results
    other.close()


STEPS = st.sampled_from(["late", "other", "person", "settle", "status"])


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(STEPS, max_size=6))
def test_whoever_commits_in_whatever_order_head_has_it_all(
    empty_store: Path, steps: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(empty_store, Path(folder, "store"))
        late = Workplace.at(Path(folder, "store"))
        late.write("first\n", path="first.md")
        late.store.commit_late()
        for number, step in enumerate(steps):
            take(late, step, f"{step} {number}\n")
        assert late.write("last\n").warnings == ()
        late.store.settle_index()
        assert late.git("status", "--porcelain") == ""
        assert fsck(late.store).ok
        late.close()


def take(late: Workplace, step: str, text: str) -> None:
    if step == "late":
        late.write(text)
    elif step == "other":
        other = Workplace.at(late.path)
        other.write(text)
        other.close()
    elif step == "person":
        late.git(*WHO, "commit", "-q", "--allow-empty", "-m", "mine")
    elif step == "settle":
        late.store.settle_index()
    else:
        late.git("status")


def test_a_commit_of_a_person_within_an_operation_drops_nothing_for_long(late: Workplace) -> None:
    page = late.write("one\n", path="x.md").page_id
    with late.store.writing("name", ANNA) as transaction:
        transaction.change(Namespace(SCOPE), PageId(page), Named("y.md"))
        late.git(*WHO, "commit", "-q", "--allow-empty", "-m", "mine")
        transaction.commit("name: y.md", [("Pcpfs-Operation", "name")])
    late.store.settle_index()
    assert late.git("status", "--porcelain") == ""
    assert late.tree() == {"first.md": b"first\n", "y.md": b"one\n"}
    assert fsck(late.store).ok


def test_the_marks_lie_where_no_commit_takes_them(late: Workplace) -> None:
    late.write("one\n", path="x.md")
    assert Path(late.store.git.common_dir, late_index.MARK).is_relative_to(late.path / ".git")
