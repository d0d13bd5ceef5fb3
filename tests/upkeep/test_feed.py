"""The feed tells every change once and in order, whoever wrote it and whenever it came."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.names import Namespace
from pcpfs.store.feed import Cursor, Feed, FeedEntry
from pcpfs.store.layout import page_folder
from tests.store.workplace import SCOPE, Workplace, paths_of

START = Cursor(None)


def told(place: Workplace, cursor: Cursor = START, limit: int | None = None) -> list[FeedEntry]:
    return list(Feed(place.store).since(cursor, limit))


def ids(entries: list[FeedEntry]) -> list[str]:
    return [entry.change_id for entry in entries]


def written(place: Workplace) -> set[str]:
    """The changes whose files are there."""
    return {file.stem for file in paths_of(place.path, "chg_*.json")}


def pulled(place: Workplace, other: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=m", "-c", "user.email=m@x", "pull", "-q", "--no-rebase",
         "--no-edit", str(other), "main"],
        cwd=place.path,
        check=True,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def other(place: Workplace, tmp_path: Path) -> Workplace:
    """Another clone of the same store."""
    place.write("common\n", path="common.md")
    subprocess.run(["git", "clone", "-q", str(place.path), str(tmp_path / "other")], check=True)
    return Workplace.at(tmp_path / "other")


def test_an_empty_store_tells_nothing_and_a_first_write_tells_page_and_scope(
    place: Workplace,
) -> None:
    assert told(place) == []
    page = place.write("one\n", path="x.md")
    entries = told(place)
    assert set(ids(entries)) == written(place)
    (wrote,) = [entry for entry in entries if entry.page_id]
    assert (wrote.page_id, wrote.revision_id, wrote.path) == (
        page.page_id,
        page.revision_id,
        "x.md",
    )
    assert (wrote.operation, wrote.actor, wrote.events) == (
        "write", "user:anna", ("revision", "named"),
    )  # fmt: skip


def test_a_cursor_goes_on_behind_its_line_and_nothing_is_told_twice(place: Workplace) -> None:
    for number in range(5):
        place.write(f"{number}\n", path=f"{number}.md")
    everything = told(place)
    for number, entry in enumerate(everything, 1):
        assert ids(told(place, Cursor.parse(entry.cursor))) == ids(everything)[number:]
    assert told(place, Feed(place.store).now()) == []


def test_parts_of_any_size_are_the_whole(place: Workplace) -> None:
    for number in range(4):
        page = place.write(f"{number}\n", path=f"{number}.md")
    place.revise(page.page_id, "again\n")
    whole = ids(told(place))
    for size in (1, 2, 3, 50):
        cursor, parts = START, list[str]()
        while part := told(place, cursor, size):
            assert len(part) <= size
            parts += ids(part)
            cursor = Cursor.parse(part[-1].cursor)
        assert parts == whole


def test_what_is_written_between_two_parts_is_told_after_them(place: Workplace) -> None:
    for number in range(3):
        place.write(f"{number}\n", path=f"{number}.md")
    first = told(place, START, 2)
    place.clock.go_to("1999-01-01")  # also where the clock was set back
    late = place.write("late\n", path="late.md")
    rest = told(place, Cursor.parse(first[-1].cursor))
    assert sorted(ids(first + rest)) == sorted(written(place))
    assert rest[-1].page_id == late.page_id


def test_an_older_change_that_is_pulled_later_is_not_missed(
    place: Workplace, other: Workplace
) -> None:
    elsewhere = other.write("long ago\n", path="old.md")
    for number in range(3):
        place.clock.now()
        place.write(f"{number}\n", path=f"{number}.md")
    seen = told(place)
    pulled(place, other.path)
    new = told(place, Cursor.parse(seen[-1].cursor))
    assert [entry.page_id for entry in new] == [elsewhere.page_id]
    assert new[0].at < seen[-1].at
    other.close()


def test_a_pull_that_makes_our_head_a_second_parent_tells_only_what_is_new(
    place: Workplace, other: Workplace
) -> None:
    other.write("theirs\n", path="theirs.md")
    ours = place.write("ours\n", path="ours.md")
    cursor = Feed(place.store).now()
    pulled(other, place.path)
    merged = other.write("after\n", path="after.md")
    pulled(place, other.path)
    new = told(place, cursor)
    assert {entry.path for entry in new} == {"theirs.md", "after.md"}
    assert ours.page_id not in {entry.page_id for entry in new}
    assert new[-1].page_id == merged.page_id
    other.close()


def test_a_cursor_holds_without_the_disposable_folder_and_in_another_clone(
    place: Workplace, other: Workplace
) -> None:
    cursor = Feed(place.store).now()
    late = place.write("late\n", path="late.md")
    expected = told(place, cursor)
    shutil.rmtree(place.path / ".pcpfs")
    again = place.reopened()
    assert told(again, cursor) == expected
    pulled(other, place.path)
    assert [entry.page_id for entry in told(other, cursor)] == [late.page_id]
    other.close()
    again.close()


def test_a_change_comes_after_those_it_follows_though_its_clock_was_wrong(
    place: Workplace,
) -> None:
    page = place.write("one\n", path="x.md")
    place.clock.go_to("1999-01-01")
    place.revise(page.page_id, "two\n")
    place.revise(page.page_id, "three\n")
    entries = [entry for entry in told(place) if entry.page_id == page.page_id]
    assert [entry.operation for entry in entries] == ["write", "revise", "revise"]
    for entry, later in itertools.pairwise(entries):
        assert later.after == (entry.change_id,)


def test_changes_of_a_damaged_page_are_told_from_git(place: Workplace) -> None:
    page = place.write("one\n", path="x.md")
    cursor = Feed(place.store).now()
    other = place.write("two\n", path="y.md")
    whole, since = told(place), told(place, cursor)
    for written_page in (page, other):
        folder = place.path / page_folder(Namespace(SCOPE), written_page.page_id)
        next(folder.glob("chg_*")).write_bytes(b"{}")
    shutil.rmtree(place.path / ".pcpfs")
    again = place.reopened()
    assert ids(told(again)) == ids(whole)
    assert ids(told(again, cursor)) == ids(since)
    again.close()


def test_a_rewritten_history_is_an_error_that_says_what_to_do(place: Workplace) -> None:
    place.write("one\n", path="x.md")
    with pytest.raises(NotFound, match="from the beginning"):
        told(place, Cursor.parse("0" * 39 + "1"))


@pytest.mark.parametrize("text", ["", "x", "1234", "-.", "--help", "-.x.1.chg_0", "a" * 41])
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no cursor"):
        Cursor.parse(text)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(["here", "there", "pull", "push", "read"]), max_size=12))
def test_whatever_is_written_and_pulled_each_change_is_told_exactly_once(
    place: Workplace, tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("feed")
    shutil.copytree(place.path, folder / "a")
    subprocess.run(["git", "clone", "-q", str(folder / "a"), str(folder / "b")], check=True)
    here, there = Workplace.at(folder / "a"), Workplace.at(folder / "b")
    cursor, seen = START, list[str]()
    for number, step in enumerate([*steps, "pull", "read"]):
        if step in ("here", "there"):
            (here if step == "here" else there).write(f"{step} {number}\n", path=f"{number}.md")
        elif step == "read":
            new = told(here, cursor, 2)
            seen += ids(new)
            cursor = Cursor.parse(new[-1].cursor) if new else cursor
        else:
            pulled(here if step == "pull" else there, (there if step == "pull" else here).path)
    seen += ids(told(here, cursor))
    assert sorted(seen) == sorted(written(here))
    here.close()
    there.close()


def test_the_latest_come_newest_first_and_their_cursors_go_on_behind_them(place: Workplace) -> None:
    assert list(Feed(place.store).last(3)) == []
    for number in range(4):
        place.write(f"{number}\n", path=f"{number}.md")
    everything = ids(told(place))
    assert ids(list(Feed(place.store).last(100))) == everything[::-1]
    latest = list(Feed(place.store).last(3))
    assert ids(latest) == everything[: -3 - 1 : -1]
    place.write("later\n", path="later.md")
    now = ids(told(place))
    for entry in latest:
        behind = now[now.index(entry.change_id) + 1 :]
        assert ids(told(place, Cursor.parse(entry.cursor))) == behind
