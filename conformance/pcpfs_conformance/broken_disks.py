"""Disks that break: stand-ins for the system calls of a store, for crash tests.

Hand one to the store's `Disk` and repeat an operation with `at` = 1, 2, 3, … until it gets through;
`arm` counts from here on, to leave out the opening.
`FailingCalls` reports an error, as a full disk does. `PowerCut` stops the world at a call, and then
`lose` takes away what nobody waited for.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pcpfs.ports import DiskCalls

Bytes = bytes | bytearray | memoryview


class FailingCalls:
    """Call number `at` fails with `error`, and with `stays` all later ones too.

    A failing `create` leaves half of the file if it `tears`, as a full disk does.
    """

    def __init__(
        self,
        inner: DiskCalls,
        at: int,
        error: int = errno.ENOSPC,
        *,
        stays: bool = False,
        tears: bool = False,
    ) -> None:
        self._inner = inner
        self._at = at
        self._error = error
        self._stays = stays
        self._tears = tears
        self.made = 0

    def arm(self, at: int) -> None:
        """Count anew: the call number `at` from here on is the one."""
        self.made, self._at = 0, at

    def create(self, path: str, data: Bytes) -> None:
        if self._fails() and self._tears:
            self._inner.create(path, bytes(data)[: len(data) // 2])
        self._check(path)
        self._inner.create(path, data)

    def move(self, old: str, new: str) -> None:
        self._count(new)
        self._inner.move(old, new)

    def unlink(self, path: str) -> None:
        self._count(path)
        self._inner.unlink(path)

    def make_folder(self, path: str) -> None:
        self._count(path)
        self._inner.make_folder(path)

    def remove_folder(self, path: str) -> None:
        self._count(path)
        self._inner.remove_folder(path)

    def sync(self, path: str) -> None:
        self._count(path)
        self._inner.sync(path)

    def sync_all(self, path: str) -> bool:
        self._count(path)
        return self._inner.sync_all(path)

    def _count(self, path: str) -> None:
        self._fails()
        self._check(path)

    def _fails(self) -> bool:
        self.made += 1
        return self._is_failing()

    def _is_failing(self) -> bool:
        return self.made == self._at or (self._stays and self.made > self._at)

    def _check(self, path: str) -> None:
        if self._is_failing():
            raise OSError(self._error, os.strerror(self._error), path)


class PowerWentOut(BaseException):
    """The process is no more: nothing that catches errors gets to run."""


class PowerCut:
    """The power goes out before call number `at`; `lose` shows what the disk then holds.

    Contents that were not synced come back torn. Names that were not synced stay, or are as they
    were before: a disk may do either, so a test tries both.
    """

    def __init__(self, inner: DiskCalls, at: int, *, syncs_all: bool = True) -> None:
        self._inner = inner
        self._at = at
        self._syncs_all = syncs_all
        self.made = 0
        self._soft: set[str] = set()
        self._undo: list[tuple[str, Callable[[], object]]] = []

    def arm(self, at: int) -> None:
        """Count anew: the call number `at` from here on is the one."""
        self.made, self._at = 0, at

    def create(self, path: str, data: Bytes) -> None:
        self._count()
        self._inner.create(path, data)
        self._soft.add(path)
        self._undoing(path, lambda: os.unlink(path))

    def move(self, old: str, new: str) -> None:
        self._count()
        replaced = Path(new).read_bytes() if os.path.isfile(new) else None
        self._inner.move(old, new)
        self._soft = {new + p[len(old) :] if _within(p, old) else p for p in self._soft}
        self._undoing(new, lambda: self._move_back(old, new, replaced))

    def unlink(self, path: str) -> None:
        self._count()
        content = Path(path).read_bytes() if os.path.isfile(path) else b""
        self._inner.unlink(path)
        self._soft.discard(path)
        self._undoing(path, lambda: self._inner.create(path, content))

    def make_folder(self, path: str) -> None:
        self._count()
        self._inner.make_folder(path)
        self._undoing(path, lambda: shutil.rmtree(path))

    def remove_folder(self, path: str) -> None:
        self._count()
        self._inner.remove_folder(path)
        self._undoing(path, lambda: self._inner.make_folder(path))

    def sync(self, path: str) -> None:
        self._count()
        self._soft.discard(path)
        self._undo = [(folder, undo) for folder, undo in self._undo if folder != path]

    def sync_all(self, path: str) -> bool:
        self._count()
        if self._syncs_all:
            self._soft.clear()
            self._undo.clear()
        return self._syncs_all

    def lose(self, *, names: bool) -> None:
        """Tear contents that were not synced; with `names`, undo changes of names as well."""
        for path in self._soft:
            with suppress(FileNotFoundError):
                os.truncate(path, os.path.getsize(path) // 2)
        for _, undo in reversed(self._undo if names else []):
            with suppress(FileNotFoundError, FileExistsError):
                undo()

    def _count(self) -> None:
        self.made += 1
        if self.made >= self._at:
            raise PowerWentOut

    def _undoing(self, path: str, undo: Callable[[], object]) -> None:
        self._undo.append((os.path.dirname(path), undo))

    def _move_back(self, old: str, new: str, replaced: bytes | None) -> None:
        self._inner.move(new, old)
        if replaced is not None:
            self._inner.create(new, replaced)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
