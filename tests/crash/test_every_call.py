"""Every operation with the power going out, or a call failing, at call 1, 2, 3, … of the disk.

What remains is the state before or the state after, all that was acknowledged is there, and the
store is sound and goes on. Each call of one operation in the most revealing way, else every few
calls; PCPFS_CRASH_STRIDE=1 tries each call of each in each way.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import FailingCalls, PowerCut, PowerWentOut

from pcpfs.disk import Disk, SystemCalls
from pcpfs.errors import PcpfsError
from pcpfs.store.store import Store
from tests.crash.scenes import (
    IN_PARTS,
    OPERATIONS,
    Operation,
    Scene,
    State,
    ailments,
    furnished,
    state,
)
from tests.ports import SteppingClock
from tests.store.workplace import ANNA, START, Workplace

Broken = FailingCalls | PowerCut
NEVER = 1_000_000_000
EACH_CALL_OF = ("write-with-a-key",)
EACH_CALL_IN = ("power-cut-names-lost",)
STRIDE = int(os.environ.get("PCPFS_CRASH_STRIDE", "71"))

WAYS: dict[str, Callable[[], Broken]] = {
    "power-cut-names-lost": lambda: PowerCut(SystemCalls(), NEVER),
    "power-cut-bytes-lost": lambda: PowerCut(SystemCalls(), NEVER),
    "disk-full": lambda: FailingCalls(SystemCalls(), NEVER, tears=True),
    "disk-full-for-ever": lambda: FailingCalls(SystemCalls(), NEVER, stays=True, tears=True),
}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def crashed(scene: Scene, operation: Operation, calls: Broken, at: int) -> bool:
    """Run until call number `at`; whether the operation was acknowledged."""
    try:
        with scene.opened(Disk(calls)) as place:
            calls.arm(at)
            operation.run(place, scene)
            return True
    except (PowerWentOut, PcpfsError):
        return False


def wrongs(scene: Scene, old: State, new: State, *, told: bool, lags: bool) -> list[str]:
    """What is wrong with what a crash left."""
    with scene.opened() as place:
        found = state(place)
        wrong = []
        if found not in (old, new):
            wrong += [f"a mix: {key} is {found.get(key)}" for key in sorted(differing(found, new))]
        if told and found != new:
            wrong.append("something acknowledged is lost")
        return wrong + ailments(place, lags=lags)


def differing(one: State, other: State) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def trials(scene: Scene, operation: Operation, way: str) -> Iterator[tuple[int, Broken, bool]]:
    """The scene after a crash at one call after another: the call, the disk, whether the operation
    was acknowledged."""
    at, over = 1, False
    while not over:
        scene.again()
        calls = WAYS[way]()
        told = crashed(scene, operation, calls, at)
        over = told and calls.made < at
        if isinstance(calls, PowerCut):
            calls.lose(names=way == "power-cut-names-lost")
        yield at, calls, told
        each = operation.name in EACH_CALL_OF and way in EACH_CALL_IN
        at += 1 if each else STRIDE * (2 if operation is IN_PARTS else 1)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_crash_at_any_call_leaves_old_or_new_and_a_sound_store(
    operation: Operation, folder: Path
) -> None:
    scene = furnished(folder / "scene")
    with scene.opened() as place:
        operation.before(place, scene)
        old = state(place)
    scene.keep()
    with scene.opened() as place:
        operation.run(place, scene)
    with scene.opened() as place:
        new = state(place)
    wrong = [
        f"{way}, call {at}: {what}"
        for way in WAYS
        for at, _, told in trials(scene, operation, way)
        for what in wrongs(scene, old, new, told=told, lags=operation.lags)
    ]
    assert wrong == []


@pytest.mark.parametrize("way", WAYS)
def test_a_crash_in_a_large_add_is_made_good_by_the_next_one(way: str, folder: Path) -> None:
    scene = furnished(folder / "scene")
    with scene.opened() as place:
        IN_PARTS.before(place, scene)
    scene.keep()
    with scene.opened() as place:
        IN_PARTS.run(place, scene)
        complete = state(place)
    parts: set[int] = set()
    for at, _, _ in trials(scene, IN_PARTS, way):
        with scene.opened() as place:
            parts.add(len(place.store.catalog.pages("is_source")))
            IN_PARTS.run(place, scene)
            assert sources_of(state(place)) == sources_of(complete), f"after call {at}"
            assert ailments(place) == [], f"after call {at}"
    assert {0, 7} < parts


def sources_of(said: State) -> State:
    """Without what a person sees of it in how many steps it was done."""
    return {key: value for key, value in said.items() if "project:app" in key or key == "symbols"}


def test_a_crash_while_a_store_is_made_leaves_a_store_or_room_for_one(folder: Path) -> None:
    for way, broken in WAYS.items():
        at, over = 1, False
        while not over:
            path = folder / f"{way}-{at}"
            calls = broken()
            calls.arm(at)
            told = made(path, Disk(calls))
            over = told and calls.made < at
            if isinstance(calls, PowerCut):
                calls.lose(names=way == "power-cut-names-lost")
            if not (path / "pcpfs.toml").exists():
                assert not told
                assert made(path, Disk())
            place = Workplace.at(path)
            assert ailments(place) == [], f"{way}, call {at}"
            place.close()
            shutil.rmtree(path)
            at += min(STRIDE, 7)


def made(path: Path, disk: Disk) -> bool:
    """Make a store; whether that was acknowledged."""
    try:
        Store.init(path, owner=ANNA, clock=SteppingClock(START), disk=disk).close()
    except (PowerWentOut, PcpfsError):
        return False
    return True
