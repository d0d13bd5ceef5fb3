"""The one door to durable writes: nothing else in pcpfs syncs, renames, unlinks or makes folders.

What a method has written when it returns survives a power cut. When it raises, or the power goes
before, each file is as it was or as it should be, never a mix. Errors of the system become errors
of pcpfs here, but a missing file stays `FileNotFoundError`: only the caller knows what its absence
means. Folders that lead to a written file are made. A link in the place of a written file is
replaced, never followed.

`Disk` composes a few system calls (`ports.DiskCalls`), so that a test can put failing ones there.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from types import TracebackType

from pcpfs.errors import Busy, Unavailable
from pcpfs.ports import DiskCalls
from pcpfs.system_errors import AnyPath, shown, translated, translation
from pcpfs.system_locks import acquire

Bytes = bytes | bytearray | memoryview

LITTER = ".tmp-"
"""How names of unfinished writes begin. A crash may leave such files; `Disk.sweep` removes them."""

SYNC_ALL_FROM = 64
"""From this many files on, one `syncfs` is cheaper than a sync each; below it, a sync each spares
us from waiting for what other programs have in their caches."""

_TRIES = 3
"""Somebody may remove the folders above as often as this while one is made in them."""

_CLOSING = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOSING


class SystemCalls:
    """The calls of this system."""

    __slots__ = ()

    def create(self, path: str, data: Bytes) -> None:
        file = os.open(path, _NEW, 0o666)
        try:
            written = os.write(file, data)
            while written < len(data):
                written += os.write(file, memoryview(data)[written:])
        finally:
            os.close(file)

    def move(self, old: str, new: str) -> None:
        os.replace(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)

    def make_folder(self, path: str) -> None:
        os.mkdir(path)

    def remove_folder(self, path: str) -> None:
        os.rmdir(path)

    def sync(self, path: str) -> None:
        if os.name == "nt" and os.path.isdir(path):
            return
        file = os.open(path, os.O_RDONLY | _CLOSING)
        try:
            _sync_to_medium(file)
        finally:
            os.close(file)

    def sync_all(self, path: str) -> bool:
        if sys.platform != "linux":
            return False
        import ctypes  # noqa: PLC0415 (only bulk writes need it)

        library = ctypes.CDLL(None, use_errno=True)
        folder = os.open(path, os.O_RDONLY | _CLOSING)
        try:
            if library.syncfs(folder) != 0:
                raise OSError(ctypes.get_errno(), "syncfs failed", path)
        finally:
            os.close(folder)
        return True


def _sync_to_medium(file: int) -> None:
    """On macOS `fsync` stops at the drive's own cache."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 (not on Windows)

        fcntl.fcntl(file, fcntl.F_FULLFSYNC)
    else:
        os.fsync(file)


@dataclass(frozen=True, slots=True)
class Disk:
    """Durable, atomic writes. Holds no state; safe to share between threads."""

    calls: DiskCalls = field(default_factory=SystemCalls)
    sync_all_from: int = SYNC_ALL_FROM
    staging: str | None = None
    """Where unfinished files and vanishing trees lie, if not beside the name that they are for."""

    def staged_in(self, folder: AnyPath) -> Disk:
        """The same disk; its unfinished files lie in this folder of the same file system."""
        return replace(self, staging=os.fspath(folder))

    def read(self, path: AnyPath) -> bytes:
        """All bytes of a file. FileNotFoundError if there is none; Unavailable if unreadable."""
        try:
            with open(path, "rb", buffering=0) as file:
                return file.readall()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise FileNotFoundError(errno.ENOENT, "no such file", os.fspath(path)) from error
        except OSError as error:
            why = f"cannot read {shown(path)} ({error.strerror}); check its permissions"
            raise Unavailable(why, path=shown(path)) from error

    def write(self, path: AnyPath, data: Bytes) -> None:
        """Put a file in place: durable when this returns, and always the old bytes or the new."""
        with translated(path):
            self._put(os.fspath(path), data, durable=True)

    def write_once(self, path: AnyPath, data: Bytes) -> None:
        """Put an immutable file in place, durably. One that is there is left alone, unless its
        size shows that somebody's copying tore it: then it is replaced."""
        name = os.fspath(path)
        with translated(path):
            if _size(name) == len(data):
                self.calls.sync(name)
                self.calls.sync(_parent(name))
            else:
                self._put(name, data, durable=True)

    def write_volatile(self, path: AnyPath, data: Bytes) -> None:
        """Put a file in place at once, but do not wait for the disk: after a power cut it may be
        old, new, or empty. Only for what can be made again."""
        with translated(path):
            self._put(os.fspath(path), data, durable=False)

    def put_link(self, path: AnyPath, target: str) -> None:
        """Put a symbolic link in place of whatever file or link is there, but do not wait for the
        disk."""
        with translated(path):
            name = os.fspath(path)
            self._ensure(_parent(name))
            unfinished = _litter(self.staging or _parent(name))
            os.symlink(target, unfinished)
            self.calls.move(unfinished, name)

    def sync(self, path: AnyPath) -> None:
        """Make durable what other code wrote into a file, or the names in a folder."""
        with translated(path):
            self.calls.sync(os.fspath(path))

    def make_folders(self, path: AnyPath) -> None:
        """Make a folder and those above it, durably; one that is there is fine."""
        with translated(path):
            for parent in self._ensure(os.fspath(path)):
                self.calls.sync(parent)

    def move(self, old: AnyPath, new: AnyPath) -> None:
        """Move a file or folder within one file system, durably; a file at `new` is replaced.
        FileNotFoundError if `old` is not there."""
        source, target = os.fspath(old), os.fspath(new)
        with translated(new, FileNotFoundError):
            made = self._ensure(_parent(target))
            self.calls.move(source, target)
            for folder in dict.fromkeys([*made, _parent(target), _parent(source)]):
                self.calls.sync(folder)

    def remove(self, path: AnyPath) -> bool:
        """Remove a file or link, durably; False if there was none."""
        name = os.fspath(path)
        with translated(path):
            try:
                self.calls.unlink(name)
            except FileNotFoundError:
                return False
            self.calls.sync(_parent(name))
            return True

    def remove_tree(self, path: AnyPath) -> bool:
        """Remove a folder with all in it, never following links; False if there was none.

        It goes from its name in one step, so nobody ever sees a part of it there.
        """
        name = os.fspath(path)
        with translated(path):
            aside = _litter(self.staging or _parent(name))
            try:
                self.calls.move(name, aside)
            except FileNotFoundError:
                return False
            self.calls.sync(_parent(name))
            self._delete(aside)
            return True

    def remove_empty(self, folder: AnyPath, below: AnyPath) -> None:
        """Remove a folder and those above it, without `below`, as far as they are empty; what a
        power cut brings back is harmless."""
        name, end = os.fspath(folder), os.fspath(below)
        with translated(folder):
            while name != end and os.path.isdir(name) and not os.listdir(name):
                self.calls.remove_folder(name)
                name = _parent(name)

    def sweep(self, folder: AnyPath) -> int:
        """Remove what crashed writers left directly in a folder, and count it. Only under the
        lock that keeps others out."""
        with translated(folder):
            names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            litter = [os.path.join(folder, name) for name in names if name.startswith(LITTER)]
            for path in litter:
                self._delete(path)
            return len(litter)

    def batch(self, staging: AnyPath | None = None) -> Batch:
        """Collect many writes that become durable together; see `Batch`.

        `staging` (else that of this disk) is a folder on the same file system for unfinished
        files; made if missing, and worth a `sweep` at start.
        """
        return Batch(self, _litter(os.fspath(staging or self.staging or ".")))

    @contextmanager
    def lock(self, path: AnyPath, wait_seconds: float = 30.0) -> Iterator[None]:
        """Hold an exclusive lock between processes and threads; Busy if others keep it longer.

        It goes with the process, however that ends. Not reentrant.
        """
        with translated(path):
            self._ensure(_parent(os.fspath(path)))
            try:
                release = acquire(os.fspath(path), wait_seconds)
            except TimeoutError as error:
                held = f"still held {shown(path)} after {wait_seconds:g} s"
                why = f"another process is writing here and {held}; try again, or see --wait"
                raise Busy(why, path=shown(path)) from error
        try:
            yield
        finally:
            release()

    def _put(self, name: str, data: Bytes, *, durable: bool) -> None:
        folder = _parent(name)
        made = self._ensure(folder)
        unfinished = _litter(self.staging or folder)
        try:
            self.calls.create(unfinished, data)
            if durable:
                self.calls.sync(unfinished)
            self.calls.move(unfinished, name)
        except BaseException:
            with suppress(OSError):
                self.calls.unlink(unfinished)
            raise
        if durable:
            for parent in (*made, folder):
                self.calls.sync(parent)

    def _ensure(self, folder: str) -> list[str]:
        """Make a folder and what leads to it; the folders that got new names, topmost first."""
        made: list[str] = []
        waiting = [folder]
        tries = _TRIES + folder.count(os.sep)
        while waiting:
            name = waiting[-1]
            try:
                self.calls.make_folder(name)
                made.append(_parent(name))
            except FileExistsError:
                if not os.path.isdir(name):
                    raise
            except FileNotFoundError as error:
                above, tries = _parent(name), tries - 1
                if above == name or tries < 0:
                    raise OSError(errno.EINVAL, "no folder can be made there", name) from error
                waiting.append(above)
                continue
            waiting.pop()
        return made

    def _delete(self, path: str) -> None:
        if os.path.islink(path) or not os.path.isdir(path):
            self.calls.unlink(path)
        else:
            self._delete_folder(path)

    def _delete_folder(self, path: str) -> None:
        with os.scandir(path) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self._delete_folder(entry.path)
            else:
                self.calls.unlink(entry.path)
        self.calls.remove_folder(path)


Guard = Callable[[], bool]
"""Whether a file may still be put in place; asked right before it is."""


@dataclass(slots=True)
class _Stage:
    """What may appear once the stages before it are durable."""

    puts: list[tuple[str, str, Guard | None]] = field(default_factory=list)
    present: list[str] = field(default_factory=list)
    removals: list[str] = field(default_factory=list)


class Batch:
    """Many writes, made durable together when the `with` block ends without an error.

    Until then nothing appears under its name, and after an error in the block nothing has
    happened. At the end the files are synced under temporary names, then renamed stage by stage:
    whatever `barrier` separates is durable before the later part appears. A crash in between
    leaves whole files of some earlier stages and of a part of one stage.

    `refused` names, after the end, what its guard did not let pass.
    """

    __slots__ = ("_count", "_disk", "_folder", "_known", "_stages", "_touched", "refused")

    def __init__(self, disk: Disk, folder: str) -> None:
        self._disk = disk
        self._folder = folder
        self._stages = [_Stage()]
        self._count = 0
        self._known: set[str] = set()
        self._touched: dict[str, None] = {}
        self.refused: set[str] = set()

    def write(self, path: AnyPath, data: Bytes, guard: Guard | None = None) -> None:
        """Put a file in place, new or instead of the old one."""
        unfinished = f"{self._folder}/{self._count}"
        try:
            self._disk.calls.create(unfinished, data)
        except OSError as error:
            raise translation(error, path) from error
        self._count += 1
        self._stages[-1].puts.append((unfinished, os.fspath(path), guard))

    def write_once(self, path: AnyPath, data: Bytes) -> None:
        """Put an immutable file in place, unless one of that size is there."""
        name = os.fspath(path)
        if _size(name) == len(data):
            self._stages[-1].present.append(name)
        else:
            self.write(name, data)

    def unlink(self, path: AnyPath) -> None:
        """Remove a file if it is there; after the writes of its stage."""
        self._stages[-1].removals.append(os.fspath(path))

    def barrier(self) -> None:
        """All before this is durable before anything after it appears."""
        self._stages.append(_Stage())

    def __enter__(self) -> Batch:
        with translated(self._folder):
            self._disk._ensure(self._folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                with translated(self._folder):
                    self._commit()
        finally:
            with suppress(OSError):
                self._disk._delete(self._folder)

    def _commit(self) -> None:
        written = [name for stage in self._stages for name, _, _ in stage.puts]
        present = [name for stage in self._stages for name in stage.present]
        together = len(written) + len(present) >= self._disk.sync_all_from
        if not (together and self._disk.calls.sync_all(self._folder)):
            together = False
            for name in (*written, *present):
                self._disk.calls.sync(name)
            self._touched.update((_parent(name), None) for name in present)
        for stage in self._stages:
            self._appear(stage)
            self._settle(together)

    def _appear(self, stage: _Stage) -> None:
        calls = self._disk.calls
        for unfinished, name, guard in stage.puts:
            if guard is not None and not guard():
                self.refused.add(name)
                continue
            folder = _parent(name)
            if folder not in self._known:
                self._touched.update((above, None) for above in self._disk._ensure(folder))
                self._known.add(folder)
            self._touched[folder] = None
            calls.move(unfinished, name)
        for name in stage.removals:
            with suppress(FileNotFoundError):
                calls.unlink(name)
                self._touched[_parent(name)] = None

    def _settle(self, together: bool) -> None:
        if together and self._touched:
            self._disk.calls.sync_all(self._folder)
        elif self._touched:
            for folder in self._touched:
                self._disk.calls.sync(folder)
        self._touched = {}


def _litter(folder: str) -> str:
    """A name nobody else uses: no other thread now, and no earlier process."""
    mark = f"{os.getpid():x}-{threading.get_ident():x}-{time.monotonic_ns():x}"
    return os.path.join(folder, LITTER + mark)


def _parent(path: str) -> str:
    return os.path.dirname(path) or "."


def _size(path: str) -> int:
    """The size of a file; -1 if there is none, or something else is in its place."""
    try:
        found = os.lstat(path)
    except OSError:
        return -1
    return found.st_size if (found.st_mode & 0o170000) == 0o100000 else -1
