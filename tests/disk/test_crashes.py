"""Every operation with the power going out, or a call failing, at call 1, 2, 3, …"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import FailingCalls, PowerCut, PowerWentOut

from pcpfs.disk import LITTER, Disk, SystemCalls
from pcpfs.errors import StorageFull, Unavailable

OLD, NEW = b"old " * 100, b"new " * 150
BEFORE = {"replaced": OLD, "gone": OLD, "tree/a/x": OLD, "tree/y": OLD}
FEW, MANY, TOGETHER = 2, 4, 8

State = dict[str, bytes]
Cut = Callable[[int], PowerCut]


@dataclass(frozen=True)
class Operation:
    """Something to do with a disk, and the state of the folder after it."""

    name: str
    run: Callable[[Disk, Path], object]
    after: State


def batch_of(count: int) -> Operation:
    """Objects, then the changes that speak of them, then a file that goes."""
    objects = {f"objects/{n % 3}/{n}": NEW for n in range(count)}
    changes = {f"changes/{n}": b"change %d" % n for n in range(count)} | {"replaced": NEW}

    def run(disk: Disk, root: Path) -> None:
        with disk.batch(root / "staging") as batch:
            for name, data in objects.items():
                batch.write_once(root / name, data)
            batch.barrier()
            for name, data in changes.items():
                batch.write(root / name, data)
            batch.barrier()
            batch.unlink(root / "gone")

    after = {k: v for k, v in BEFORE.items() if k != "gone"} | objects | changes
    return Operation(f"batch-of-{count}", run, after)


def without(*prefixes: str) -> State:
    return {k: v for k, v in BEFORE.items() if not k.startswith(prefixes)}


OPERATIONS = (
    Operation("new", lambda d, r: d.write(r / "p/q/new", NEW), BEFORE | {"p/q/new": NEW}),
    Operation("replaced", lambda d, r: d.write(r / "replaced", NEW), BEFORE | {"replaced": NEW}),
    Operation("once", lambda d, r: d.write_once(r / "p/new", NEW), BEFORE | {"p/new": NEW}),
    Operation("removed", lambda d, r: d.remove(r / "gone"), without("gone")),
    Operation(
        "moved",
        lambda d, r: d.move(r / "gone", r / "replaced"),
        without("gone", "replaced") | {"replaced": OLD},
    ),
    Operation(
        "moved-away", lambda d, r: d.move(r / "gone", r / "p/q"), without("gone") | {"p/q": OLD}
    ),
    Operation("tree-removed", lambda d, r: d.remove_tree(r / "tree"), without("tree/")),
    batch_of(FEW),
    batch_of(MANY),
)
EVERY = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)


def prepared(folder: Path) -> Path:
    for name, data in BEFORE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def state(folder: Path) -> State:
    """All files but what a sweep would remove."""
    return {
        name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and LITTER not in (name := path.relative_to(folder).as_posix())
    }


def mixes(found: State, after: State) -> list[str]:
    """Files that are neither as before nor as after, and changes ahead of their objects."""
    wrong = [
        name
        for name in found.keys() | BEFORE.keys() | after.keys()
        if found.get(name) not in (BEFORE.get(name), after.get(name))
    ]
    objects = {name for name in after if name.startswith("objects/")}
    if any(name.startswith("changes/") for name in found) and not objects <= found.keys():
        wrong.append("a change without its objects")
    if objects and "gone" not in found and found != after:
        wrong.append("a removal before what came ahead of it")
    return wrong


def ends_of_power_cuts(operation: Operation, cut: Cut, folder: Path) -> list[str]:
    """Run with the power going out before each call and after the last; what was wrong then."""
    wrong: list[str] = []
    at, finished = 0, False
    while not finished:
        at += 1
        for names in (False, True):
            root = prepared(folder / f"{at}-{names}")
            power = cut(at)
            try:
                operation.run(Disk(power, TOGETHER), root)
                finished = True
            except PowerWentOut:
                finished = False
            power.lose(names=names)
            wrong += mixes(state(root), operation.after)
            if finished and state(root) != operation.after:
                wrong.append("something acknowledged was lost")
    return wrong


@EVERY
def test_a_power_cut_leaves_old_or_new_and_nothing_acknowledged_is_lost(
    operation: Operation, tmp_path: Path
) -> None:
    assert ends_of_power_cuts(operation, lambda at: PowerCut(SystemCalls(), at), tmp_path) == []


class Forgetful(PowerCut):
    """A mutant: syncing does nothing."""

    def sync(self, path: str) -> None: ...

    def sync_all(self, path: str) -> bool:
        return True


@EVERY
def test_a_disk_that_forgets_to_sync_is_found_out(operation: Operation, tmp_path: Path) -> None:
    assert ends_of_power_cuts(operation, lambda at: Forgetful(SystemCalls(), at), tmp_path) != []


def test_a_system_without_syncfs_is_as_safe(tmp_path: Path) -> None:
    def cut(at: int) -> PowerCut:
        return PowerCut(SystemCalls(), at, syncs_all=False)

    assert ends_of_power_cuts(batch_of(MANY), cut, tmp_path) == []


@EVERY
@pytest.mark.parametrize("stays", [False, True])
def test_a_call_that_fails_leaves_old_or_new_and_is_told(
    operation: Operation, stays: bool, tmp_path: Path
) -> None:
    at, failed = 0, True
    while failed:
        at += 1
        root = prepared(tmp_path / str(at))
        calls = FailingCalls(SystemCalls(), at, errno.ENOSPC, stays=stays, tears=True)
        try:
            operation.run(Disk(calls, TOGETHER), root)
        except StorageFull:
            pass
        else:
            failed = calls.made >= at  # then only cleaning up failed
        assert mixes(state(root), operation.after) == []
    assert at > 2


@EVERY
def test_after_a_failure_the_same_operation_gets_through(
    operation: Operation, tmp_path: Path
) -> None:
    for at in range(1, 12):
        root = prepared(tmp_path / str(at))
        try:
            operation.run(Disk(FailingCalls(SystemCalls(), at, errno.EIO, tears=True)), root)
        except Unavailable:
            if operation.name.startswith("moved") and not (root / "gone").exists():
                continue  # it had moved already, only the wait for the disk failed
            operation.run(Disk(), root)
        assert state(root) == operation.after


def test_a_failed_write_leaves_no_litter(tmp_path: Path) -> None:
    for at in range(1, 8):
        root = prepared(tmp_path / str(at))
        with pytest.raises(StorageFull):
            Disk(FailingCalls(SystemCalls(), 2, tears=True)).write(root / "replaced", NEW)
        assert [path for path in root.rglob("*") if LITTER in path.name] == []
