"""When the watcher hears too little, is not there, is not alone, or may not look."""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from pcpfs.sources.events import Watcher
from pcpfs.sources.observation import Heard, Observation
from pcpfs.sources.status import status
from tests.privileges import bound_by_permissions
from tests.staleness.following import Following, Keeper, function, on_disk, save

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


def test_what_is_deleted_while_nobody_watches_closes_at_the_next_start(
    keeper: Keeper, root: Path
) -> None:
    save(root / "sub/c.py", function("in_c"))
    keeper.add()
    note = keeper.cite("in_c")
    with Following(keeper).at_work():
        assert keeper.held() == on_disk(root)
    (root / "sub/c.py").unlink()
    (root / "sub").rmdir()
    save(root / "a.py", function("in_a", 2))
    with Following(keeper).at_work():
        assert keeper.held() == on_disk(root)
    assert keeper.suspects().keys() == {note}


def test_two_watchers_and_a_sync_on_one_store_agree_and_observe_once(
    keeper: Keeper, root: Path
) -> None:
    keeper.add()
    other = Keeper(keeper.path, root)
    first, second = Following(keeper), Following(other)
    try:
        with first.at_work(), second.at_work():
            for number in (2, 3, 4):
                save(root / "a.py", function("in_a", number))
                save(root / f"new{number}.py", function(f"new{number}"))
                if number == 3:
                    other.sources.sync()
                first.until_held(on_disk(root))
                second.until_held(on_disk(root))
            first.settle()
            second.settle()
            assert keeper.held() == other.held() == on_disk(root)
            told = sorted(map(str, first.told("changed") + second.told("changed")))
    finally:
        other.close()
    assert keeper.observations("a.py") == [function("in_a", number) for number in (1, 2, 3, 4)]
    assert len(told) in (2, 3)
    assert keeper.observations("new3.py") == [function("new3")]


@contextmanager
def nobody_else_runs() -> Iterator[None]:
    """No other thread of this process gets its turn."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(60.0)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def move_unheard(moves: Mapping[Path, Path], touched: Sequence[Path]) -> None:
    """Move files and folders where the system has no room to say so: more changes of the touched
    files were made at once than it keeps for a reader who does not come."""
    system = ctypes.PyDLL(None)  # keeps the interpreter to itself, unlike os.utime
    names = [os.fsencode(file) for file in touched]
    with nobody_else_runs():
        for number in range(int(QUEUE.read_text()) + 1000):
            system.utimes(names[number % len(names)], None)
        for old, new in moves.items():
            assert system.rename(os.fsencode(old), os.fsencode(new)) == 0


@pytest.mark.skipif(
    not QUEUE.exists() or int(QUEUE.read_text()) > 100_000, reason="no such limit, or a large one"
)
def test_when_the_system_loses_events_everything_is_looked_at(
    following: Following, root: Path, tmp_path: Path
) -> None:
    """Also where no folder came or went, so that no count of watches finds it."""
    touched = [root / "a.py", root / "b.py"]
    save(root / "c.py", function("in_c"))
    following.until_held(on_disk(root))
    save(tmp_path / "new.py", function("in_c", 2))
    move_unheard({tmp_path / "new.py": root / "c.py"}, touched)
    following.until_held(on_disk(root))
    for number in range(50):
        save(tmp_path / f"away/m{number}.py", function(f"f{number}"))
    following.retime(reconcile_at=math.inf)
    move_unheard({tmp_path / "away": root / "unheard"}, touched)
    following.until_held(on_disk(root))
    save(root / "unheard/m7.py", function("f7", 2))
    following.until_held(on_disk(root))


def test_a_folder_that_may_not_be_read_keeps_its_frames_until_it_may(
    following: Following, root: Path
) -> None:
    save(root / "sub/c.py", function("in_c"))
    following.until_held(on_disk(root))
    note = following.keeper.cite("in_c")
    full = following.keeper.held()
    (root / "sub").chmod(0)
    (root / "b.py").chmod(0)
    with bound_by_permissions():
        save(root / "a.py", function("in_a", 2))
        following.until(lambda: following.told("changed") == ["a.py"])
        following.settle(2.0)
        held = following.keeper.held()
    assert held.skipped == {("sub", "unreadable"), ("b.py", "unreadable")}
    assert held.files.keys() == full.files.keys()
    assert held.frames["sub/c.py"] == full.frames["sub/c.py"]
    assert following.keeper.suspects() == {}
    assert note
    (root / "sub").chmod(0o755)
    (root / "b.py").chmod(0o644)
    following.until_held(on_disk(root))


def test_a_root_that_is_not_mounted_keeps_all_and_is_followed_when_it_is_back(
    following: Following, root: Path, tmp_path: Path
) -> None:
    before = following.keeper.held().files
    root.rename(tmp_path / "unmounted")
    following.settle(1.5)
    assert following.keeper.held().files == before
    (view,) = status(following.keeper.session).roots
    assert view.state == "unavailable"
    (tmp_path / "unmounted").rename(root)
    save(root / "a.py", function("in_a", 2))
    following.until_held(on_disk(root))


UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
MOUNTING = """
import os, subprocess, sys
sys.path[:] = {search!r}
from pathlib import Path
from pcpfs.sources.verify import verify
from tests.staleness.following import Keeper, function, on_disk, save
root = Path({root!r})
keeper = Keeper(Path({store!r}), root)

def mount():
    subprocess.run(["mount", "-t", "tmpfs", "none", root / "mnt"], check=True)
    save(root / "mnt/sub/c.py", function("in_c"))

(root / "mnt").mkdir()
mount()
keeper.add()
note, before = keeper.cite("in_c"), keeper.held()
subprocess.run(["umount", root / "mnt"], check=True)
save(root / "a.py", function("in_a", 2))
(report,) = keeper.sources.sync().roots
away = keeper.held()
assert away.files.keys() == before.files.keys(), away
assert away.skipped == {{("mnt", "unreadable")}}, away
assert (report.changed, report.removed) == (1, 0), report
assert not keeper.suspects(), note
found = verify(keeper.store, keeper.sources.registry)
assert (found.gone, found.stale, found.unknown) == (0, 0, 2), found
mount()
keeper.sources.sync()
assert keeper.held() == on_disk(root)
subprocess.run(["umount", root / "mnt"], check=True)
(root / "mnt").rmdir()
keeper.sources.sync()
assert keeper.held() == on_disk(root)
assert keeper.suspects().keys() == {{note}}
"""


def may_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*UNSHARE, "true"], check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not may_mount(), reason="no mount namespaces for this user")
def test_what_was_mounted_deeper_in_a_root_keeps_all_until_it_is_mounted_again(
    keeper: Keeper, root: Path
) -> None:
    search = [entry for entry in sys.path if entry]
    script = MOUNTING.format(search=search, root=str(root), store=str(keeper.path))
    words = [*UNSHARE, sys.executable, "-c", script]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class Deaf(Observation):
    """One that has a watch for no directory, and hears of nothing."""

    def __init__(self, _roots: Iterable[Path], heard: Heard) -> None:
        super().__init__((), heard)

    def missing_watches(self) -> tuple[int, int]:
        return (0, 2)


def test_too_few_watches_are_said_and_every_few_seconds_all_is_looked_at(
    keeper: Keeper, root: Path
) -> None:
    keeper.add()
    following = Following(keeper)
    following.watch.watcher = Watcher([keeper.path], poll_seconds=0.1, observe=Deaf)
    following.watch.begin([])
    try:
        following.until(lambda: following.watch.watcher.polling)
        save(root / "sub/c.py", function("in_c"))
        following.until_held(on_disk(root))
        assert [line.message for line in following.lines if line.event == "note"] == [
            "only 0 of 2 directories can be watched: looking every 0.1 s instead"
        ]
        (watcher,) = status(keeper.session).watchers
        assert watcher.polling
    finally:
        following.watch.end()
