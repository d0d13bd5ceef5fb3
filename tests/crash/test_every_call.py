"""Every operation with the power going out, or a call failing, at call 1, 2, 3, … of the disk.

What remains is the state before or the state after, all that was acknowledged is there, and the
store is sound and goes on. Each call of some operations, every few calls of the others and of the
less revealing ways; PCPFS_CRASH_STRIDE=1 tries each call of each in each way.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import FailingCalls, PowerCut, PowerWentOut

from pcpfs.disk import Disk, SystemCalls
from pcpfs.errors import PcpfsError
from tests.crash.scenes import OPERATIONS, Operation, Scene, State, ailments, furnished, state

Broken = FailingCalls | PowerCut
NEVER = 1_000_000_000
EACH_CALL_OF = ("write-with-a-key", "revise")
EACH_CALL_IN = ("power-cut-names-lost", "disk-full")
STRIDE = int(os.environ.get("PCPFS_CRASH_STRIDE", "13"))

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


def wrongs(scene: Scene, operation: Operation, old: State, new: State, told: bool) -> list[str]:
    """What is wrong with what a crash left."""
    with scene.opened() as place:
        found = state(place)
        wrong = []
        if found not in (old, new) and operation.is_one:
            wrong += [f"a mix: {key} is {found.get(key)}" for key in sorted(differing(found, new))]
        if told and found != new:
            wrong.append("something acknowledged is lost")
        return wrong + ailments(place)


def differing(one: State, other: State) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_a_crash_at_any_call_leaves_old_or_new_and_a_sound_store(
    operation: Operation, way: str, folder: Path
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
    stride = 1 if operation.name in EACH_CALL_OF and way in EACH_CALL_IN else STRIDE
    wrong: list[str] = []
    at, over = 1, False
    while not over:
        scene.again()
        calls = WAYS[way]()
        told = crashed(scene, operation, calls, at)
        over = told and calls.made < at
        if isinstance(calls, PowerCut):
            calls.lose(names=way.endswith("names-lost"))
        wrong += [f"call {at}: {what}" for what in wrongs(scene, operation, old, new, told)]
        at += stride
    assert wrong == []
