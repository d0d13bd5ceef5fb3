"""The watchdog loop, on real directories."""

from __future__ import annotations

import logging
import math
import os
import shutil
import subprocess
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pcpfs.sources.events import Doubt, Noticed, Watcher
from pcpfs.sources.observation import Observation, directories_below, watch_counts

PATIENCE = 10.0


@pytest.fixture
def watcher() -> Iterator[Watcher]:
    made = Watcher()
    yield made
    made.stop()


def until(watcher: Watcher, root: Path, enough: Callable[[Noticed], bool]) -> Noticed:
    """All that is noticed in a root until it is enough."""
    total = Noticed()
    end = time.monotonic() + PATIENCE
    while not enough(total):
        assert time.monotonic() < end, f"only noticed {total}"
        for place, noticed in watcher.drain(0.2).items():
            if place == root:
                total.paths |= noticed.paths
                total.doubts |= noticed.doubts
    return total


def settled(watcher: Watcher, root: Path) -> Noticed:
    """All that is noticed in a root until nothing is for a while."""
    total = Noticed()
    while found := watcher.drain(0.7):
        noticed = found.get(root, Noticed())
        total.paths |= noticed.paths
        total.doubts |= noticed.doubts
    return total


def test_saves_of_every_kind_name_the_file(watcher: Watcher, root: Path) -> None:
    (root / "a").mkdir()
    for name in ("written", "replaced", "deleted", "touched", "moved"):
        (root / "a" / name).write_text("x")
    watcher.start([root])
    (root / "a/new").write_text("x")
    (root / "a/written").write_text("y")
    (root / "a/.swap").write_text("z")
    (root / "a/.swap").rename(root / "a/replaced")
    (root / "a/deleted").unlink()
    os.utime(root / "a/touched")
    (root / "a/moved").rename(root / "a/target")
    names = {"new", "written", "replaced", "deleted", "touched", "moved", "target"}
    wanted = {f"a/{name}" for name in names}
    noticed = until(watcher, root, lambda total: wanted <= total.paths)
    assert noticed.doubts == set()


def test_reading_files_is_not_noticed(watcher: Watcher, root: Path) -> None:
    (root / "a").write_text("x")
    watcher.start([root])
    (root / "a").read_text()
    list(root.iterdir())
    assert settled(watcher, root) == Noticed()


def test_directories_that_come_or_go_are_a_doubt(watcher: Watcher, root: Path) -> None:
    (root / "old").mkdir()
    watcher.start([root])
    (root / "new/deep/er").mkdir(parents=True)
    until(watcher, root, lambda total: Doubt.DIRECTORY in total.doubts)
    settled(watcher, root)
    (root / "old").rename(root.parent / "away")
    until(watcher, root, lambda total: Doubt.DIRECTORY in total.doubts)
    settled(watcher, root)
    (root / "new/deep/er/file").write_text("x")
    until(watcher, root, lambda total: "new/deep/er/file" in total.paths)


def test_git_is_noise_but_for_another_commit_of_a_branch(watcher: Watcher, root: Path) -> None:
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}

    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        command = ["git", "-C", str(root), *identity, *arguments]
        subprocess.run(command, check=True, env=environment, capture_output=True)

    (root / "a").write_text("x")
    git("init", "-q")
    git("add", "a")
    watcher.start([root])
    git("status")
    (root / ".git/objects/zz").mkdir()
    assert settled(watcher, root) == Noticed()
    git("commit", "-q", "-m", "x")
    assert settled(watcher, root).doubts == {Doubt.HEAD}
    git("checkout", "-q", "-b", "other")
    assert settled(watcher, root) == Noticed(doubts={Doubt.HEAD})
    git("branch", "topic/third")
    assert settled(watcher, root) == Noticed(doubts={Doubt.HEAD})


def test_odd_names_come_as_the_scan_spells_them(watcher: Watcher, root: Path) -> None:
    watcher.start([root])
    for name in (b"a\nb", b"\xff", "\u2028".encode()):
        Path(os.fsdecode(os.fsencode(root) + b"/" + name)).write_bytes(b"")
    until(watcher, root, lambda total: {"a\nb", "\udcff", "\u2028"} <= total.paths)


def test_several_roots_are_watched_and_can_be_exchanged(watcher: Watcher, root: Path) -> None:
    other, third = root.parent / "other", root.parent / "third"
    other.mkdir()
    third.mkdir()
    watcher.start([root, other])
    (other / "a").write_text("x")
    until(watcher, other, lambda total: "a" in total.paths)
    watcher.cover([root, third])
    settled(watcher, root)
    (other / "b").write_text("x")
    (third / "c").write_text("x")
    (root / "d").write_text("x")
    until(watcher, third, lambda total: "c" in total.paths)
    (root / "e").write_text("x")
    assert {"d", "e"} >= until(watcher, root, lambda total: "e" in total.paths).paths
    assert other not in watcher.drain(0)


def test_a_store_inside_a_root_is_passed_over(root: Path) -> None:
    (root / "store").mkdir()
    watcher = Watcher(without=[root / "store"])
    watcher.start([root])
    try:
        (root / "store/pages").mkdir()
        (root / "store/x").write_text("x")
        assert settled(watcher, root) == Noticed()
    finally:
        watcher.stop()


def test_a_root_that_is_replaced_is_watched_anew(watcher: Watcher, root: Path) -> None:
    watcher.start([root])
    root.rename(root.parent / "away")
    until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
    root.mkdir()
    until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
    (root / "a").write_text("x")
    until(watcher, root, lambda total: "a" in total.paths)


def test_a_root_that_is_missing_at_the_start_is_watched_once_it_comes(
    watcher: Watcher, root: Path
) -> None:
    shutil.rmtree(root)
    watcher.start([root])
    root.mkdir()
    until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
    (root / "a").write_text("x")
    until(watcher, root, lambda total: "a" in total.paths)


def test_lost_events_put_every_root_in_doubt(watcher: Watcher, root: Path) -> None:
    watcher.start([root])
    text = "Inotify queue overflowed; filesystem events were lost"
    logging.getLogger("watchdog.observers.inotify_c").warning(text)
    until(watcher, root, lambda total: Doubt.OVERFLOW in total.doubts)
    watcher.stop()
    assert logging.getLogger("watchdog.observers").handlers == []


def test_bursts_of_new_directories_print_no_warnings(watcher: Watcher, root: Path) -> None:
    script = "for i in $(seq 300); do mkdir -p $i/a/b/c/d; touch $i/a/b/c/d/f; done; cp -r 1 copy"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        watcher.start([root])
        subprocess.run(["bash", "-c", script], cwd=root, check=True)
        settled(watcher, root)
    assert [str(warning.message) for warning in caught] == []


class Short(Observation):
    """One that finds watches missing as often as it is told to."""

    counts: Iterator[tuple[int, int] | None]

    def missing_watches(self) -> tuple[int, int] | None:
        return next(self.counts, (2, 3))


def short_of_watches(
    root: Path, *counts: tuple[int, int] | None, retry_seconds: float = 600.0
) -> Watcher:
    Short.counts = iter(counts)
    watcher = Watcher(poll_seconds=0.1, observe=Short, retry_seconds=retry_seconds)
    watcher.start([root])
    return watcher


def test_too_few_watches_are_said_aloud_and_made_up_for_by_polling(root: Path) -> None:
    watcher = short_of_watches(root)
    try:
        until(watcher, root, lambda total: Doubt.POLL in total.doubts)
        assert watcher.polling
        assert watcher.notes == [
            "only 2 of 3 directories can be watched: looking every 0.1 s instead"
        ]
        until(watcher, root, lambda total: Doubt.POLL in total.doubts)
    finally:
        watcher.stop()


def test_once_there_are_watches_again_events_suffice(root: Path) -> None:
    watcher = short_of_watches(root, *[(2, 3)] * 4, None, None, retry_seconds=0.1)
    try:
        until(watcher, root, lambda total: Doubt.POLL in total.doubts)
        assert watcher.polling
        until(watcher, root, lambda _: not watcher.polling)
        assert watcher.notes[1:] == ["all directories can be watched again: file events suffice"]
        settled(watcher, root)
        (root / "new").write_text("x")
        found = until(watcher, root, lambda total: "new" in total.paths)
        assert Doubt.POLL not in found.doubts
    finally:
        watcher.stop()


def test_watches_that_are_missing_for_a_while_are_placed_by_beginning_anew(root: Path) -> None:
    watcher = short_of_watches(root, (2, 3), (2, 3), None)
    try:
        until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
        assert next(Short.counts, "all asked") == "all asked"
        assert not watcher.polling
    finally:
        watcher.stop()


def test_once_a_folder_came_the_watches_are_counted_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcpfs.sources.events._COUNT_SECONDS", 0.0)
    watcher = short_of_watches(root, None, (2, 3), (2, 3), None)
    try:
        settled(watcher, root)
        (root / "sub").mkdir()
        until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
        assert not watcher.polling
    finally:
        watcher.stop()


def test_all_directories_have_a_watch(watcher: Watcher, root: Path) -> None:
    for number in range(30):
        (root / f"{number}/a").mkdir(parents=True)
    watcher.start([root])
    counts = watch_counts()
    assert directories_below([root]) == 61
    assert max(counts.values()) == 61


def test_a_waiting_drain_can_be_woken(watcher: Watcher, root: Path) -> None:
    watcher.start([root])
    watcher.wake()
    begun = time.monotonic()
    assert watcher.drain(math.inf) == {}
    assert time.monotonic() - begun < 0.5


def haunt(watcher: Watcher, root: Path) -> Path:
    """Move a watched directory away and let another of its name come and go."""
    away = root.parent / "away"
    (root / "a").rename(away)
    (root / "a").mkdir()
    settled(watcher, root)
    (root / "a").rmdir()
    settled(watcher, root)
    return away


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_when_watchdog_itself_fails_it_is_begun_anew(watcher: Watcher, root: Path) -> None:
    (root / "a").mkdir()
    watcher.start([root])
    haunt(watcher, root).rmdir()
    until(watcher, root, lambda total: Doubt.RESTART in total.doubts)
    (root / "a").write_text("x")
    until(watcher, root, lambda total: "a" in total.paths)


def test_it_stops_also_where_watchdog_cannot(watcher: Watcher, root: Path) -> None:
    (root / "a").mkdir()
    (root / "b").mkdir()
    watcher.start([root])
    haunt(watcher, root)
    assert max(watch_counts().values()) == 3
    watcher.stop()
    end = time.monotonic() + PATIENCE
    while watch_counts():
        assert time.monotonic() < end
        time.sleep(0.01)
    (root / "c").write_text("x")
    assert watcher.drain(0.3) == {}
