"""Watching `tree/`: when its folders are looked at, and what is told of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from pcpfs.errors import PcpfsError
from pcpfs.sources.debounce import Debounce, Timing
from pcpfs.sources.events import Noticed
from pcpfs.sources.watch_line import WatchLine
from pcpfs.store.store import Store
from pcpfs.store.trees.take_edits import EditTaker, TreeChange, TreeReport
from pcpfs.store.trees.tree_look import CHANGING, tree_folders

MOST_FOLDERS = 64
"""Each watched folder takes one of the system's few sources of events; stores with more scopes are
looked at every few seconds instead."""

_POLLED = Timing(interval=2.0)
_AGAIN_SECONDS = 0.5
_LOOK_SECONDS = 1.0


class TreeWatch:
    """Takes edits in the `tree/` folders of all scopes as they are saved."""

    def __init__(
        self,
        store: Store,
        edits: EditTaker,
        tell: Callable[[WatchLine], None],
        *,
        accept_removals: bool,
    ) -> None:
        self._store = store
        self._edits = edits
        self._tell = tell
        self._accept_removals = accept_removals
        self._debounce = Debounce()
        self._told: set[tuple[str, str]] = set()
        self._trouble: str | None = None
        self._folders: tuple[Path, ...] = ()
        self._look_at = 0.0

    def folders(self) -> tuple[Path, ...]:
        """What to watch now; asked at every turn, looked up once a second."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + _LOOK_SECONDS
            found = tuple(self._store.path / folder for folder in tree_folders(self._store.path))
            is_many = len(found) > MOST_FOLDERS
            self._folders = () if is_many else found
            timing = _POLLED if is_many else Timing()
            self._debounce = replace(self._debounce, timing=timing)
        return self._folders

    def notice(self, noticed: Noticed) -> None:
        """Something happened in one of the folders."""
        is_doubtful = bool(noticed.doubts)
        self._debounce = self._debounce.noticed(noticed.paths, is_doubtful, time.monotonic())

    def wait(self, now: float) -> float:
        """Seconds until there is something to do if nothing else happens."""
        return self._debounce.wait(now)

    def work(self) -> None:
        """Look, if it is time to."""
        self._debounce, task = self._debounce.due(time.monotonic())
        if task is None:
            return
        try:
            taken = self._edits.take(accept_removals=self._accept_removals, wait=False)
        except PcpfsError as error:
            self._debounce = self._debounce.failed(time.monotonic())
            self._complain(error.message)
            return
        self._trouble = None
        self._debounce = self._debounce.done(time.monotonic())
        if taken.unsettled:
            later = time.monotonic() + _AGAIN_SECONDS
            self._debounce = replace(
                self._debounce.noticed({""}, False, time.monotonic()), rest_until=later
            )
        for line in self._lines(taken.report):
            self._tell(line)
        for warning in taken.warnings:
            self._tell(WatchLine("note", message=warning))

    def _complain(self, message: str) -> None:
        """Say a trouble once, not at every attempt."""
        if self._trouble != message:
            self._tell(WatchLine("error", message=message))
        self._trouble = message

    def _lines(self, report: TreeReport) -> Iterator[WatchLine]:
        for operation in ("revised", "created", "renamed", "restored", "resolved", "tombstoned"):
            for change in getattr(report, operation):
                yield WatchLine(operation, None, change.path, message=_about(change))
        for left in report.reverted:
            yield WatchLine("reverted", None, left.path, message=left.reason)
        for path in report.held_back:
            yield WatchLine("held_back", None, path, message="too many were removed at once")
        told = {(left.path, left.reason) for left in report.left if left.reason != CHANGING}
        for path, reason in sorted(told - self._told):
            yield WatchLine("left", None, path, message=reason)
        self._told = told


def _about(change: TreeChange) -> str | None:
    told = []
    if change.was:
        told.append(f"was {change.was}")
    if change.now:
        told.append(f"now at {change.now}")
    if change.heads:
        told.append(f"the page has {len(change.heads)} heads (pcpfs conflicts)")
    return "; ".join(told) or None
