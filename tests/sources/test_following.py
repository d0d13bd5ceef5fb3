"""Watcher, debounce, scan, reading and plan together follow a tree that never rests."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.model.ids import Digest, PageId
from pcpfs.model.instants import Instant
from pcpfs.sources.debounce import Debounce, Reconcile, Task, Timing
from pcpfs.sources.events import Watcher
from pcpfs.sources.plan import Known, plan
from pcpfs.sources.reading import read_stable
from pcpfs.sources.scan import scan, scan_paths
from pcpfs.sources.scanned import Candidate, Content, Gone, ScanOptions, Skipped
from pcpfs.sources.statcache import StatCache

OPTIONS = ScanOptions()
TIMING = Timing(quiet=0.05, limit=0.3, echo=0.5, interval=600.0)


class Follower:
    """What a store would know, kept by the parts as `watch` puts them together."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.cache = StatCache()
        self.known: dict[str, Known] = {}
        self.debounce = Debounce(TIMING)

    def open_files(self) -> dict[str, Digest]:
        return {path: known.digest for path, known in self.known.items() if known.digest}

    def follow(self, finished: Callable[[], bool]) -> None:
        watcher = Watcher()
        watcher.start([self.root])
        try:
            while not (finished() and self.debounce.wait(time.monotonic()) > 1.0):
                noticed = watcher.drain(self.debounce.wait(time.monotonic()))
                for found in noticed.values():
                    self.debounce = self.debounce.noticed(
                        found.paths, bool(found.doubts), time.monotonic()
                    )
                self.debounce, task = self.debounce.due(time.monotonic())
                if task is not None:
                    self._carry_out(task)
                    self.debounce = self.debounce.done(time.monotonic())
        finally:
            watcher.stop()

    def _carry_out(self, task: Task) -> None:
        now = Instant(time.time_ns() // 1000)
        if isinstance(task, Reconcile):
            found = scan(self.root, OPTIONS, self.cache)
        else:
            found = scan_paths(self.root, OPTIONS, self.cache, task.paths)
        outcomes: dict[str, Candidate | Skipped | Gone] = {}
        for path in found.to_read:
            outcome = read_stable(self.root, path, OPTIONS.max_size)
            outcomes[path] = outcome.candidate if isinstance(outcome, Content) else outcome
        found = found.settled(outcomes)
        made = plan(self.known, found)
        self.cache = self.cache.after(found, now)
        for seen in made.observe:
            page = PageId.of_source("project:x", "root", seen.file.path)
            self.known[seen.file.path] = Known(page, seen.file.digest)
        for close in made.close:
            self.known[close.path] = Known(close.page, None)


def really_there(root: Path) -> dict[str, Digest]:
    return {
        str(path.relative_to(root)): Digest.of(path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and ".git" not in path.parts
    }


def follow_while(root: Path, work: Callable[[], None]) -> Follower:
    follower = Follower(root)
    worker = threading.Thread(target=work)
    worker.start()
    follower.follow(lambda: not worker.is_alive())
    worker.join()
    return follower


def disturb(root: Path, chance: random.Random, steps: int) -> None:
    """Save, replace, move, copy, link and remove files and directories at random."""
    for step in range(steps):
        place = root.joinpath(*(chance.choice("abc") for _ in range(chance.randint(1, 3))))
        other = root.joinpath(*(chance.choice("abc") for _ in range(chance.randint(1, 3))))
        action = chance.choice([_save, _save, _save, _replace, _move, _remove, _link])
        try:
            action(place, other, f"{step}" if chance.random() < 0.8 else "same")
        except (OSError, shutil.Error):
            continue  # a directory where a file should be, or the like: try something else
        if chance.random() < 0.1:
            time.sleep(chance.choice([0.01, 0.1]))


def _save(place: Path, _: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def _replace(place: Path, _: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    swap = place.with_name(".swap")
    swap.write_text(text)
    swap.replace(place)


def _move(place: Path, other: Path, _: str) -> None:
    other.parent.mkdir(parents=True, exist_ok=True)
    os.rename(place, other)


def _remove(place: Path, _: Path, __: str) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _link(place: Path, other: Path, _: str) -> None:
    place.symlink_to(other)


@pytest.mark.parametrize("seed", range(3))
def test_a_storm_of_random_changes_ends_right(root: Path, seed: int) -> None:
    follower = follow_while(root, lambda: disturb(root, random.Random(seed), 600))
    assert really_there(root)
    assert follower.open_files() == really_there(root)


def test_switching_branches_back_and_forth_ends_right(root: Path) -> None:
    environment = {"GIT_CONFIG_GLOBAL": os.devnull, "PATH": os.environ["PATH"]}
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]

    def git(*arguments: str) -> None:
        command = ["git", "-C", str(root), *identity, *arguments]
        subprocess.run(command, check=True, env=environment, capture_output=True)

    def fill(text: str, folders: range) -> None:
        for number in range(200):
            _save(root / f"{number % len(folders) + folders.start}/{number}.py", root, text)
        git("add", "-A")
        git("commit", "-q", "-m", text)

    git("init", "-q", "-b", "one")
    fill("one\n", range(5))
    git("checkout", "-q", "-b", "two")
    git("rm", "-rq", ".")
    fill("two\n", range(3, 9))

    def switch() -> None:
        for branch in ("one", "two", "one", "two", "one"):
            git("checkout", "-q", branch)
            time.sleep(0.15)

    follower = follow_while(root, switch)
    assert len(really_there(root)) == 200
    assert follower.open_files() == really_there(root)
