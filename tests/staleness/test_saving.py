"""How programs save files, and what a watcher makes of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.sources.debounce import Timing
from tests.staleness.following import PATIENCE, Following, function, on_disk, replace, save


@pytest.fixture
def patient(following: Following) -> Following:
    """It waits for a second without events, so that even a slow machine saves within that."""
    following.retime(timing=Timing(quiet=1.0, limit=PATIENCE))
    return following


def look_around(following: Following, seconds: float) -> None:
    """Let the watcher hear, and do what it thinks is due."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        following.watch.watcher.wake()
        following.watch.turn()


def test_five_replacements_within_the_debounce_are_one_change(
    patient: Following, root: Path
) -> None:
    before = patient.keeper.commits()
    for number in range(2, 7):
        replace(root / "a.py", function("in_a", number))
        look_around(patient, 0.02)
    patient.settle(1.5)
    assert patient.told("changed") == ["a.py"]
    assert patient.keeper.observations("a.py") == [function("in_a"), function("in_a", 6)]
    assert patient.keeper.commits() == before + 1


CHUNKS = [function(f"part_{number}") for number in range(10)]
WHOLE = "".join(CHUNKS)


def write_slowly(following: Following, file: Path, pause: float) -> list[str]:
    """What was seen of it in the end, oldest first."""
    with file.open("wb", buffering=0) as opened:
        for chunk in CHUNKS:
            opened.write(chunk.encode())
            look_around(following, pause)
    following.until_held(on_disk(file.parent))
    return following.keeper.observations(file.name)


def test_chunks_that_come_faster_than_the_debounce_are_one_save(
    patient: Following, root: Path
) -> None:
    assert write_slowly(patient, root / "fast.py", 0.02) == [WHOLE]


def test_a_file_that_is_written_in_ten_slow_chunks_ends_whole(
    following: Following, root: Path
) -> None:
    """Each may be seen, but only as bytes that were in the file."""
    seen = write_slowly(following, root / "slow.py", 0.15)
    assert seen[-1] == WHOLE
    assert set(seen) <= {"".join(CHUNKS[:count]) for count in range(1, 11)}


def test_other_bytes_of_the_same_size_and_time_are_seen(following: Following, root: Path) -> None:
    old = (root / "a.py").stat()
    save(root / "a.py", function("in_a", 7))
    os.utime(root / "a.py", ns=(old.st_atime_ns, old.st_mtime_ns))
    assert (root / "a.py").stat().st_size == old.st_size
    following.until_held(on_disk(root))
    assert following.keeper.observations("a.py")[-1] == function("in_a", 7)


def as_vim(file: Path, text: str) -> None:
    """It tries whether the folder can be written, keeps a backup, and writes a new file."""
    save(file.with_name("4913"), "")
    file.with_name("4913").unlink()
    file.rename(file.with_name(file.name + "~"))
    save(file, text)
    file.with_name(file.name + "~").unlink()


def as_vs_code(file: Path, text: str) -> None:
    """It truncates the file, and writes."""
    os.truncate(file, 0)
    time.sleep(0.02)
    save(file, text)


def as_jetbrains(file: Path, text: str) -> None:
    """It writes beside, moves the old file away, and the new one in its place."""
    new, old = (file.with_name(f"{file.name}___jb_{word}___") for word in ("tmp", "old"))
    save(new, text)
    file.rename(old)
    new.rename(file)
    old.unlink()


@pytest.mark.parametrize("way", [as_vim, as_vs_code, as_jetbrains, replace, save])
def test_however_an_editor_saves_it_is_one_change_of_one_file(
    following: Following, root: Path, way: Callable[[Path, str], None]
) -> None:
    note = following.keeper.cite("in_b")
    way(root / "a.py", function("in_a", 8))
    following.until(lambda: bool(following.told("changed")))
    assert [(line.event, line.path) for line in following.lines] == [("changed", "a.py")]
    assert following.keeper.held() == on_disk(root)
    assert following.keeper.observations("a.py") == [function("in_a"), function("in_a", 8)]
    assert note not in following.keeper.suspects()


def test_a_change_of_permissions_or_times_alone_changes_nothing(
    following: Following, root: Path
) -> None:
    before = following.keeper.commits()
    (root / "a.py").chmod(0o755)
    os.utime(root / "b.py")
    os.utime(root / "b.py", (1, 1))
    following.settle()
    assert following.lines == []
    assert following.keeper.commits() == before


def test_a_file_that_is_emptied_and_filled_a_moment_later_was_never_empty(
    following: Following, root: Path
) -> None:
    os.truncate(root / "a.py", 0)
    look_around(following, 0.3)
    save(root / "a.py", function("in_a", 9))
    following.until_held(on_disk(root))
    assert following.keeper.observations("a.py") == [function("in_a"), function("in_a", 9)]


def test_a_file_that_is_emptied_for_good_is_an_empty_file(following: Following, root: Path) -> None:
    save(root / "a.py", "")
    save(root / "new.py", "")
    following.until_held(on_disk(root))
    assert following.keeper.session.symbol("in_a").results == ()
    assert following.keeper.observations("new.py") == [""]


def test_what_is_saved_after_the_clock_was_set_back_is_seen(
    following: Following, root: Path
) -> None:
    """A clock that goes back gives times of modification from before the last look."""
    for number, seconds in ((2, 0), (3, 1_000_000_000), (4, 4_000_000_000)):
        replace(root / "a.py", function("in_a", number))
        os.utime(root / "a.py", (seconds, seconds))
        following.until_held(on_disk(root))
    texts = following.keeper.observations("a.py")
    assert texts == [function("in_a", number) for number in (1, 2, 3, 4)]
