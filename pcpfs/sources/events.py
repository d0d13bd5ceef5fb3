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
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from queue import Empty, SimpleQueue

from watchdog.events import FileSystemEvent

from pcpfs.sources.observation import Heard, Observation
from pcpfs.sources.scan import VCS_FOLDERS
from pcpfs.sources.scanned import Prefixes

_log = logging.getLogger(__name__)
_HEAD_FILES = (".git/HEAD", ".git/logs/HEAD", ".git/packed-refs")
_BRANCHES = (".git/refs/heads/", ".git/refs/remotes/")
_RULE_FILE = ".git/info/exclude"
_CHECK_SECONDS = 1.0
_COUNT_SECONDS = 10.0
_RETRY_SECONDS = 600.0


class Doubt(StrEnum):
    """Why a whole root has to be looked at."""

    OVERFLOW = "overflow"
    DIRECTORY = "directory"
    HEAD = "head"
    RULES = "rules"
    RESTART = "restart"
    POLL = "poll"


@dataclass(slots=True)
class Noticed:
    """What happened in one root: files by relative path, and doubts."""

    paths: set[str] = field(default_factory=set)
    doubts: set[Doubt] = field(default_factory=set)


class Watcher:
    """Watches several directories at once, each with all below it. Give absolute paths.

    `notes` are sentences for a person, such as that events do not suffice and it polls; they are
    complete after each `drain`. Who polls tries every `retry_seconds` whether events suffice again.
    Directories in `without` (stores inside a root) are passed over,
    but for those that are themselves watched.
    """

    def __init__(
        self,
        without: Iterable[Path] = (),
        poll_seconds: float = 2.0,
        observe: Callable[[Iterable[Path], Heard], Observation] = Observation,
        retry_seconds: float = _RETRY_SECONDS,
    ) -> None:
        self.notes: list[str] = []
        self.polling = False
        self._without = Prefixes(os.path.abspath(path) for path in without)
        self._poll_seconds = poll_seconds
        self._retry_seconds = retry_seconds
        self._begin = observe
        self._roots: dict[Path, tuple[int, int] | None] = {}
        self._observation: Observation | None = None
        self._overflows = _Overflows(self.lost)
        self._bell: SimpleQueue[None] = SimpleQueue()
        self._lock = threading.Lock()
        self._noticed: dict[Path, Noticed] = {}
        self._next_check = self._next_count = self._next_poll = self._next_try = 0.0
        self._grown = self._short = self._renewed = False

    def start(self, roots: Iterable[Path]) -> None:
        """Begin to watch; returns when the watches are in place."""
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        logging.getLogger("watchdog.observers").addHandler(self._overflows)
        self._roots = dict.fromkeys(roots)
        self._observe()

    def cover(self, roots: Iterable[Path]) -> None:
        """From now on watch exactly these directories; if they are others, all are in doubt."""
        wanted = set(roots)
        if wanted != self._roots.keys():
            self._roots = dict.fromkeys(wanted)
            self._observe()
            self._doubt_all(Doubt.RESTART)

    def stop(self) -> None:
        """End all threads; nothing more is noticed."""
        self._end_observation()
        logging.getLogger("watchdog.observers").removeHandler(self._overflows)

    def wake(self) -> None:
        """Let a `drain` that is waiting return; may be called in a signal handler."""
        self._bell.put(None)

    def lost(self) -> None:
        """Events were lost: everything is in doubt; may be called in any thread."""
        self._doubt_all(Doubt.OVERFLOW)

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
        return {root: found for root, found in noticed.items() if root in self._roots}

    def take_count(self, missing: tuple[int, int] | None) -> None:
        """Begin anew if watches were missing twice, for once may be a directory just made, and
        another may be one that could not be read; poll if they are missing still, until a try finds
        none missing."""
        if self.polling:
            if missing is None:
                self._stop_polling()
        elif missing and self._renewed:
            self._poll(f"only {missing[0]:,} of {missing[1]:,} directories can be watched")
        elif missing and self._short:
            self._renewed = True
            self._observe()
            self._doubt_all(Doubt.RESTART)
            return
        self._renewed = False
        self._short = missing is not None
        self._grown = self._short
        self._next_count = time.monotonic() + (_CHECK_SECONDS if missing else _COUNT_SECONDS)

    def _observe(self) -> None:
        """Watch anew what is there now."""
        self._end_observation()
        self._roots = {root: _identity(root) for root in sorted(self._roots)}
        present = [root for root, identity in self._roots.items() if identity]
        try:
            self._observation = self._begin(present, self._on_event)
        except OSError as error:
            self._poll(f"the system gives no file events ({error.strerror})")
        else:
            self.take_count(self._observation.missing_watches())

    def _end_observation(self) -> None:
        ended, self._observation = self._observation, None
        if ended is not None:
            ended.end()

    def _check(self, now: float) -> None:
        """See to it that events still come, and from what stands at the roots' paths now."""
        if self.polling and now >= self._next_try:
            self._next_try = now + self._retry_seconds
            self._observe()
        if self.polling and now >= self._next_poll:
            self._next_poll = now + self._poll_seconds
            self._doubt_all(Doubt.POLL)
        if now < self._next_check:
            return
        self._next_check = now + _CHECK_SECONDS
        moved = any(_identity(root) != identity for root, identity in self._roots.items())
        if moved or not (self._observation is None or self._observation.is_alive()):
            self._observe()
            self._doubt_all(Doubt.RESTART)
        elif self._observation and self._grown and not self.polling and now >= self._next_count:
            self.take_count(self._observation.missing_watches())

    def _poll(self, why: str) -> None:
        if not self.polling:
            self.notes.append(f"{why}: looking every {self._poll_seconds:g} s instead")
            _log.warning("%s", self.notes[-1])
            self._next_try = time.monotonic() + self._retry_seconds
        self.polling = True

    def _stop_polling(self) -> None:
        self.polling = False
        self.notes.append("all directories can be watched again: file events suffice")
        _log.info("%s", self.notes[-1])
        self._doubt_all(Doubt.RESTART)

    def _on_event(self, root: Path, event: FileSystemEvent) -> None:
        """Take one event; called in watchdog's thread."""
        for location in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            path = "" if location == str(root) else _below(root, location)
            if path is None or (location in self._without and str(root) not in self._without):
                continue
            if not VCS_FOLDERS.isdisjoint(path.split("/")):
                if path.endswith(_HEAD_FILES) or any(branches in path for branches in _BRANCHES):
                    self._note(root, doubt=Doubt.HEAD)
                elif path.endswith(_RULE_FILE):
                    self._note(root, doubt=Doubt.RULES)
            elif event.is_directory:
                self._grown = True
                self._note(root, doubt=Doubt.DIRECTORY)
            else:
                self._note(root, path)

    def _doubt_all(self, doubt: Doubt) -> None:
        for root in tuple(self._roots):
            self._note(root, doubt=doubt)

    def _note(self, root: Path, path: str | None = None, doubt: Doubt | None = None) -> None:
        with self._lock:
            first = not self._noticed
            noticed = self._noticed.setdefault(root, Noticed())
            noticed.paths.update(() if path is None else (path,))
            noticed.doubts.update(() if doubt is None else (doubt,))
        if first:
            self._bell.put(None)


class _Overflows(logging.Handler):
    """Hears of lost events, which watchdog tells only to its log."""

    def __init__(self, heard: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._heard = heard

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage():
            self._heard()


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _below(root: Path, location: str) -> str | None:
    """The relative path of what lies below a root; None for others."""
    prefix = f"{root}/"
    return location[len(prefix) :] if location.startswith(prefix) else None
