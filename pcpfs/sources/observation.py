"""One run of watchdog over some directories, and the means to know that it can be relied on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from watchdog.events import (
    DirAttribEvent,
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
from watchdog.utils import BaseThread

from pcpfs.sources.scanned import Prefixes

_EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent,
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
"""Without those of opening and reading a file, which our own reading would cause."""

Heard = Callable[[Path, FileSystemEvent], None]


class Observation:
    """Watches from the moment it is made; OSError if that cannot be.

    A directory that was moved out of a root and another of its name that came and went make
    watchdog's bookkeeping fail (KeyError, in 7.1): its thread ends, and no event comes any more,
    when the one outside is deleted. Hence `is_alive`.
    """

    def __init__(self, roots: Iterable[Path], heard: Heard) -> None:
        self._roots = tuple(roots)
        self._threads: list[BaseThread] = []
        threads, descriptors = set(threading.enumerate()), watch_counts().keys()
        self._observer = Observer()
        try:
            self._observer.start()
            for root in self._roots:
                forward = _Forward(root, heard)
                self._observer.schedule(forward, str(root), recursive=True, event_filter=_EVENTS)
        except OSError:
            self.end()
            raise
        started = set(threading.enumerate()) - threads
        self._threads = [thread for thread in started if isinstance(thread, BaseThread)]
        self._descriptors = watch_counts().keys() - descriptors

    def is_alive(self) -> bool:
        return all(thread.is_alive() for thread in self._threads)

    def missing_watches(self) -> tuple[int, int] | None:
        """How many watches there are and should be, if they are too few; running out is silent."""
        if not self._descriptors:
            return None
        wanted, counts = directories_below(self._roots), watch_counts()
        placed = sum(counts.get(descriptor, 0) for descriptor in self._descriptors)
        return (placed, wanted) if placed < wanted else None

    def end(self) -> None:
        """Stop all threads; where the bookkeeping fails, one is left that waits for nothing.

        (The observer must not be told twice: it would wait for that one.)
        """
        try:
            self._observer.stop()
            self._observer.join()
        except KeyError:
            for thread in self._threads:
                with suppress(KeyError):
                    if thread is not self._observer:
                        thread.stop()


class _Forward(FileSystemEventHandler):
    """Passes on the events of one root."""

    def __init__(self, root: Path, heard: Heard) -> None:
        self._root = root
        self._heard = heard

    def dispatch(self, event: FileSystemEvent) -> None:
        self._heard(self._root, event)


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
                if os.readlink(f"/proc/self/fd/{descriptor}") == "anon_inode:inotify":
                    text = Path("/proc/self/fdinfo", descriptor).read_text("ascii", "replace")
                    counts[descriptor] = text.count("inotify wd:")
    return counts
