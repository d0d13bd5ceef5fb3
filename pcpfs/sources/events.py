"""The thin loop around watchdog: it notes what to look at, and never looks itself.

Events lie in known ways: an overflow is only a log message, running out of watches is silent, and a
directory that was moved away keeps its old name. So whatever is more than a change of one file is
reported as a doubt, upon which the caller looks at the whole root.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from queue import Empty, SimpleQueue

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from pcpfs.sources.scan import VCS_FOLDERS
from pcpfs.sources.scanned import Prefixes

_log = logging.getLogger(__name__)
_EVENTS: list[type[FileSystemEvent]] = [
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
_HEAD_FILES = (".git/HEAD", ".git/logs/HEAD")
_CHECK_SECONDS = 1.0
_COUNT_SECONDS = 10.0


class Doubt(StrEnum):
    """Why a whole root has to be looked at."""

    OVERFLOW = "overflow"
    DIRECTORY = "directory"
    HEAD = "head"
    ROOT = "root"
    POLL = "poll"


@dataclass(slots=True)
class Noticed:
    """What happened in one root: files by relative path, and doubts."""

    paths: set[str] = field(default_factory=set)
    doubts: set[Doubt] = field(default_factory=set)


class Watcher:
    """Watches several directories at once, each with all below it. Give absolute paths.

    `notes` are sentences for a person, such as that events do not suffice and it polls; they are
    complete after each `drain`. Directories in `without` (stores inside a root) are passed over.
    """

    def __init__(self, without: Iterable[Path] = (), poll_seconds: float = 2.0) -> None:
        self.notes: list[str] = []
        self.polling = False
        self._without = Prefixes(os.path.abspath(path) for path in without)
        self._poll_seconds = poll_seconds
        self._roots: dict[Path, _Root] = {}
        self._observer: BaseObserver | None = None
        self._descriptors: frozenset[str] = frozenset()
        self._overflows = _Overflows(self._on_overflow)
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._lock = threading.Lock()
        self._noticed: dict[Path, Noticed] = {}
        self._next_check = self._next_count = self._next_poll = 0.0
        self._grown = self._short = False

    def start(self, roots: Iterable[Path]) -> None:
        """Begin to watch; returns when the watches are in place."""
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        logging.getLogger("watchdog.observers").addHandler(self._overflows)
        before = frozenset(watch_counts())
        try:
            self._observer = Observer()
            self._observer.start()
        except OSError as error:
            self._poll(f"the system gives no file events ({error.strerror})")
        self._descriptors = frozenset(watch_counts()) - before
        self.cover(roots)

    def cover(self, roots: Iterable[Path]) -> None:
        """From now on watch exactly these directories; those that stay are not interrupted."""
        wanted = set(roots)
        for root in [root for root in self._roots if root not in wanted]:
            self._unschedule(self._roots.pop(root))
        for root in sorted(wanted - self._roots.keys()):
            self._roots[root] = _Root(root)
            self._schedule(self._roots[root])
        self._count_watches()

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()
        logging.getLogger("watchdog.observers").removeHandler(self._overflows)

    def wake(self) -> None:
        """Let a `drain` that is waiting return; may be called in a signal handler."""
        self._bell.put(None)

    def drain(self, timeout: float) -> Mapping[Path, Noticed]:
        """What was noticed since the last call; waits for something, up to `timeout` seconds.

        It returns empty-handed earlier than that, about once a second.
        """
        self._check(time.monotonic())
        longest = min(_CHECK_SECONDS, self._poll_seconds)
        try:
            self._bell.get(timeout=max(0.0, min(timeout, longest)))
            while True:
                self._bell.get_nowait()
        except Empty:
            pass
        self._check(time.monotonic())
        with self._lock:
            noticed, self._noticed = self._noticed, {}
        return noticed

    def _note(self, root: Path, path: str | None = None, doubt: Doubt | None = None) -> None:
        with self._lock:
            first = not self._noticed
            noticed = self._noticed.setdefault(root, Noticed())
            noticed.paths.update(() if path is None else (path,))
            noticed.doubts.update(() if doubt is None else (doubt,))
        if first:
            self._bell.put(None)

    def on_event(self, root: Path, event: FileSystemEvent) -> None:
        """Take one event of watchdog; called in its thread."""
        for location in (event.src_path, event.dest_path):
            path = _below(root, os.fsdecode(location)) if location else None
            if path is None or os.fsdecode(location) in self._without:
                continue
            if not VCS_FOLDERS.isdisjoint(path.split("/")):
                if path.endswith(_HEAD_FILES):
                    self._note(root, doubt=Doubt.HEAD)
            elif event.is_directory:
                self._grown = True
                self._note(root, doubt=Doubt.DIRECTORY)
            else:
                self._note(root, path)

    def _on_overflow(self) -> None:
        for root in tuple(self._roots):
            self._note(root, doubt=Doubt.OVERFLOW)

    def _schedule(self, root: _Root) -> None:
        root.identity = _identity(root.path)
        if self._observer is None or root.identity is None:
            return
        try:
            root.watch = self._observer.schedule(
                _Forward(self, root.path), str(root.path), recursive=True, event_filter=_EVENTS
            )
        except OSError as error:
            self._poll(f"{root.path} cannot be watched ({error.strerror})")

    def _unschedule(self, root: _Root) -> None:
        if self._observer is not None and root.watch is not None:
            self._observer.unschedule(root.watch)
        root.watch = None

    def _check(self, now: float) -> None:
        """See to it that what is watched is still what stands at the root's path."""
        if self.polling and now >= self._next_poll:
            self._next_poll = now + self._poll_seconds
            for root in tuple(self._roots):
                self._note(root, doubt=Doubt.POLL)
        if now < self._next_check:
            return
        self._next_check = now + _CHECK_SECONDS
        for watched in self._roots.values():
            if _identity(watched.path) != watched.identity:
                self._unschedule(watched)
                self._schedule(watched)
                self._note(watched.path, doubt=Doubt.ROOT)
        if self._grown and now >= self._next_count:
            self._count_watches()

    def _count_watches(self) -> None:
        """Compare watches with directories: running out of them is silent."""
        self._grown = False
        self._next_count = time.monotonic() + _COUNT_SECONDS
        if self._descriptors and not self.polling:
            wanted = directories_below(root.path for root in self._roots.values() if root.watch)
            counts = watch_counts()
            self.take_count(sum(counts.get(fd, 0) for fd in self._descriptors), wanted)

    def take_count(self, placed: int, wanted: int) -> None:
        """Poll from now on if watches were missing twice; once may be a directory just made."""
        if placed < wanted and self._short:
            self._poll(f"only {placed:,} of {wanted:,} directories can be watched")
        self._short = placed < wanted
        if self._short:
            self._grown = True
            self._next_count = time.monotonic() + _CHECK_SECONDS

    def _poll(self, why: str) -> None:
        if not self.polling:
            self.notes.append(f"{why}: looking every {self._poll_seconds:g} s instead")
            _log.warning("%s", self.notes[-1])
        self.polling = True


@dataclass(slots=True)
class _Root:
    path: Path
    identity: tuple[int, int] | None = None
    watch: ObservedWatch | None = None


class _Forward(FileSystemEventHandler):
    """Gives the events of one root to the watcher."""

    def __init__(self, watcher: Watcher, root: Path) -> None:
        self._watcher = watcher
        self._root = root

    def dispatch(self, event: FileSystemEvent) -> None:
        self._watcher.on_event(self._root, event)


class _Overflows(logging.Handler):
    """Hears of lost events, which watchdog tells only to its log."""

    def __init__(self, heard: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage():
            self._heard()


def directories_below(roots: Iterable[Path]) -> int:
    """How many directories there are to watch, those roots included."""
    paths = {os.path.abspath(root) for root in roots}
    above = Prefixes(paths)
    outermost = [path for path in paths if os.path.dirname(path) not in above]
    return sum(sum(1 for _ in os.walk(path)) for path in outermost)


def watch_counts() -> Mapping[str, int]:
    """The inotify descriptors of this process with their number of watches; none elsewhere."""
    counts = {}
    with suppress(OSError):
        for descriptor in os.listdir("/proc/self/fdinfo"):
            with suppress(OSError):
                text = Path("/proc/self/fdinfo", descriptor).read_text("ascii", "replace")
                if os.readlink(f"/proc/self/fd/{descriptor}") == "anon_inode:inotify":
                    counts[descriptor] = text.count("inotify wd:")
    return counts


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _below(root: Path, location: str) -> str | None:
    """The relative path of what lies below a root; None for the root itself and for others."""
    prefix = f"{root}/"
    return location[len(prefix) :] if location.startswith(prefix) else None
