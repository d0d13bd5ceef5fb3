"""An erasure that is cut short at any call of the disk, or killed at any moment, is finished by
whatever command comes next: the page is as it was before, or nowhere.

Every few calls; PCPFS_CRASH_STRIDE=1 tries each of them.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import FailingCalls, PowerCut, PowerWentOut

from pcpfs.disk import Disk, SystemCalls
from pcpfs.errors import PcpfsError
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.upkeeping.fsck import fsck
from tests.erasure.hideouts import SECRET, TITLE, furnished, holds
from tests.ports import SteppingClock
from tests.store.workplace import ANNA, START, Workplace

STRIDE = int(os.environ.get("PCPFS_CRASH_STRIDE", "97"))
NEVER = 1_000_000_000
WORDS = (SECRET, TITLE, "key.md")
WHY = "not ours to keep"

WAYS: dict[str, Callable[[], PowerCut | FailingCalls]] = {
    "power-cut-names-lost": lambda: PowerCut(SystemCalls(), NEVER),
    "power-cut-bytes-lost": lambda: PowerCut(SystemCalls(), NEVER),
    "disk-full-for-ever": lambda: FailingCalls(SystemCalls(), NEVER, stays=True, tears=True),
}


@dataclass(frozen=True)
class Kept:
    """A furnished store that can be laid again and again, at the same place."""

    folder: Path
    leak: str
    other: str

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def again(self) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.folder.with_name("kept"), self.folder, symlinks=True)


@pytest.fixture
def kept(empty_store: Path, tmp_path: Path) -> Kept:
    memory = Path("/dev/shm")
    base = tmp_path if not os.access(memory, os.W_OK) else memory / f"pcpfs-erase-{os.getpid()}"
    folder = base / "scene"
    folder.mkdir(parents=True)
    shutil.copytree(empty_store, folder / "store")
    place = Workplace.at(folder / "store")
    scene = furnished(place)
    place.close()
    shutil.copytree(folder, base / "kept", symlinks=True)
    return Kept(folder, scene.leak, scene.other)


@pytest.fixture(autouse=True)
def _clean(kept: Kept) -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
    shutil.rmtree(kept.folder.parent)


def crashed(kept: Kept, calls: PowerCut | FailingCalls, at: int) -> bool:
    """Erase until call number `at`; whether that got through."""
    place = Workplace.at(kept.store, SteppingClock(START), disk=Disk(calls))
    calls.arm(at)
    try:
        delete(place.store, ANNA, kept.leak, WHY)
    except (PowerWentOut, PcpfsError):
        return False
    finally:
        place.store.catalog.close()
        place.store.local.close()
    return True


def wrongs(kept: Kept, *, told: bool) -> list[str]:
    """What is wrong with what the next command finds."""
    place = Workplace.at(kept.store, SteppingClock(START))
    try:
        wrong = [f"fsck: {problem.message}" for problem in fsck(place.store).problems]
        if place.store.catalog.page(kept.leak) is None:
            wrong += [f"left in {where}" for where in holds(kept.folder, *WORDS)]
            wrong += [f"left in git: {where}" for where in holds(kept.store, *WORDS)]
        elif told:
            wrong.append("the page is there, although its erasure was acknowledged")
        else:
            delete(place.store, ANNA, kept.leak, WHY)
            wrong += [f"left after another try: {where}" for where in holds(kept.store, *WORDS)]
        if place.session.payload(kept.other)[:7] != b"# Tides":
            wrong.append("the other page is damaged")
        if (place.path / ".git/pcpfs/erasing.json").exists():
            wrong.append("the job is left")
        status = place.git("status", "--porcelain").splitlines()
        return wrong + [f"git status: {line}" for line in status]
    finally:
        place.close()


@pytest.mark.parametrize("way", WAYS)
def test_whatever_call_it_stops_at_the_next_command_finishes_it(way: str, kept: Kept) -> None:
    wrong: list[str] = []
    at, over = 1 + list(WAYS).index(way), False
    while not over:
        kept.again()
        calls = WAYS[way]()
        told = crashed(kept, calls, at)
        over = told and calls.made < at
        if isinstance(calls, PowerCut):
            calls.lose(names=way == "power-cut-names-lost")
        wrong += [f"call {at}: {what}" for what in wrongs(kept, told=told)]
        at += STRIDE
    assert wrong == []


ERASE = "from pcpfs.cli.main import run; run()"


def test_killed_at_any_moment_it_is_finished_by_the_next_command(kept: Kept) -> None:
    kept.again()
    started = time.monotonic()
    assert kill_after(kept, 60.0) == 0
    longest = time.monotonic() - started
    kills = 2
    for number in range(kills):
        kept.again()
        code = kill_after(kept, longest * (number + 1.5) / (kills + 2))
        assert wrongs(kept, told=code == 0) == [], f"kill {number}"


def kill_after(kept: Kept, seconds: float) -> int:
    process = subprocess.Popen(
        [sys.executable, "-c", ERASE, "-C", str(kept.store), "delete", kept.leak, "--yes", "--why",
         WHY],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return -1
