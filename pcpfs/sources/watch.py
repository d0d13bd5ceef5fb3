"""Watching: the loop from file events to observations.

Events say where to look, the debounce says when, digests decide what happened.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.errors import PcpfsError
from pcpfs.git import find_repository
from pcpfs.git.refs import Head, head_at
from pcpfs.model.answers import HistoryReport, Skipped
from pcpfs.sources.daily import Daily
from pcpfs.sources.debounce import Debounce, Reconcile
from pcpfs.sources.events import Watcher
from pcpfs.sources.roots import Root
from pcpfs.sources.service import Sources
from pcpfs.sources.synced import Done
from pcpfs.sources.watch_line import WatchLine
from pcpfs.sources.watch_sign import WatchSign
from pcpfs.sources.watch_tree import TreeWatch
from pcpfs.store.upkeeping.upkeep import Upkeep

_LONGEST_SLEEP = 1.0
_EMPTY_MICROSECONDS = 2_000_000


@dataclass(slots=True)
class _Watched:
    root: Root
    debounce: Debounce = field(default_factory=Debounce)
    broken: str | None = None
    warned: tuple[str, ...] = ()
    work_tree: Path | None = None
    """Of a repository whose own folder lies elsewhere: no event tells of another HEAD."""
    head: Head | None = None


class Watch:
    """Keeps roots up to date, and takes edits in `tree/`, until it is told to stop.

    `run` does all of it; who has a loop of its own says `begin`, then `turn` again and again, then
    `end`.
    """

    def __init__(
        self,
        sources: Sources,
        tell: Callable[[WatchLine], None],
        stop: threading.Event,
        *,
        accept_removals: bool = False,
    ) -> None:
        self._sources = sources
        self._tell = tell
        self._stop = stop
        self._watched: dict[Path, _Watched] = {}
        self._told = 0
        self._tree = TreeWatch(sources.store, sources.edits, tell, accept_removals=accept_removals)
        self.watcher = Watcher(without=[sources.store.path])
        self._upkeep = Upkeep(sources.store)
        self._daily = Daily(sources.store, sources.actor)
        self._heard = time.monotonic()
        self._sign: WatchSign | None = None

    def run(self, names: list[str]) -> None:
        """Watch these roots (none named: all) and every `tree/`; returns after `stop` is set.
        NotFound for a name that is no root. Everything is looked at once at the start."""
        try:
            self.begin(names)
            self._sources.warm()
            while not self._stop.is_set():
                self.turn()
        finally:
            self.end()

    def begin(self, names: list[str]) -> None:
        """From now on events are heard; nothing is looked at before the first `turn`."""
        roots = [root for root in self._sources.roots.named(names) if root.is_observer]
        self._watched = {root.path: _Watched(root, work_tree=_around(root)) for root in roots}
        self._look_at_heads()
        self._sources.store.commit_late()
        self._sign = WatchSign(self._sources.store, [root.name for root in roots])
        self.watcher.start([*self._watched, *self._tree.folders()])
        for root in roots:
            self._tell(WatchLine("watching", root.name, str(root.path)))

    def end(self) -> None:
        """Hear nothing more, and leave the store in order."""
        self.watcher.stop()
        self._upkeep.end()
        self._daily.end()
        if self._sign is not None:
            self._sign.take_down()

    def stop(self) -> None:
        """Let `run` return soon; may be called in a signal handler."""
        self._stop.set()
        self.watcher.wake()

    @property
    def is_busy(self) -> bool:
        """Whether something that was noticed waits to be looked at."""
        return any(watched.debounce.is_waiting for watched in self._watched.values())

    def turn(self) -> None:
        """One round: hear what happened (for a second at most), then do what is due."""
        heard = self.watcher.drain(self._patience())
        if not heard:
            self._sources.rest()
            self._upkeep.turn()
            self._thin()
        else:
            self._heard = time.monotonic()
        for path, noticed in heard.items():
            if path in self._watched:
                watched = self._watched[path]
                watched.debounce = watched.debounce.noticed(
                    noticed.paths, bool(noticed.doubts), time.monotonic()
                )
            else:
                self._tree.notice(noticed)
        self._look_at_heads()
        self._pass_on_notes()
        for watched in self._watched.values():
            self._work(watched)
        if not self._stop.is_set():
            self._tree.work()
            self.watcher.cover([*self._watched, *self._tree.folders()])

    def _thin(self) -> None:
        done = self._daily.turn(time.monotonic() - self._heard)
        if done is not None and done.payloads:
            message = f"thinned out: {done.payloads} old saves of sources, {done.bytes:,} bytes"
            self._tell(WatchLine("note", message=message))

    def _look_at_heads(self) -> None:
        for watched in self._watched.values():
            if watched.work_tree and (head := head_at(watched.work_tree)) != watched.head:
                watched.head = head
                watched.debounce = watched.debounce.noticed((), True, time.monotonic())

    def _pass_on_notes(self) -> None:
        """Tell what the watcher itself has to say, and show it in `status`."""
        for note in self.watcher.notes[self._told :]:
            self._tell(WatchLine("note", message=note))
        self._told = len(self.watcher.notes)
        if self._sign is not None:
            self._sign.say(polling=self.watcher.polling, notes=self.watcher.notes)

    def _patience(self) -> float:
        now = time.monotonic()
        waits = [watched.debounce.wait(now) for watched in self._watched.values()]
        return min([_LONGEST_SLEEP, self._tree.wait(now), *waits])

    def _work(self, watched: _Watched) -> None:
        watched.debounce, task = watched.debounce.due(time.monotonic())
        if task is None or self._stop.is_set():
            return
        paths = None
        if not isinstance(task, Reconcile):
            waiting = {path for path in task.paths if self._is_being_written(watched.root, path)}
            paths = task.paths - waiting
            watched.debounce = watched.debounce.noticed(waiting, False, time.monotonic())
        before = {skip.path for skip in self._sources.roots.skipped(watched.root)}
        try:
            done, warnings = self._sources.look(watched.root, paths)
        except PcpfsError as error:
            watched.debounce = watched.debounce.failed(time.monotonic())
            self._complain(watched, error.message)
            return
        watched.debounce = watched.debounce.done(time.monotonic())
        watched.broken = None
        self._report(done, before)
        for warning in warnings:
            if warning not in watched.warned:
                self._tell(WatchLine("note", watched.root.name, message=warning))
        if paths is None or warnings:
            watched.warned = warnings

    def _is_being_written(self, root: Root, path: str) -> bool:
        """A file that was emptied a moment ago is about to be filled: many programs save so."""
        try:
            found = os.stat(root.path / path)
        except OSError:
            return False
        age = self._sources.store.clock.now().microseconds - found.st_mtime_ns // 1000
        return found.st_size == 0 and 0 <= age < _EMPTY_MICROSECONDS

    def _complain(self, watched: _Watched, message: str) -> None:
        """Say a trouble once, not at every attempt."""
        if watched.broken != message:
            self._tell(WatchLine("error", watched.root.name, message=message))
        watched.broken = message

    def _report(self, done: Done, before: set[str]) -> None:
        told = done.report.history
        if told is not None and (told.commits or told.retracted or told.beside):
            self._tell(WatchLine("recorded", done.root.name, message=_recorded(told)))
        for change in done.applied.changes:
            self._tell(
                WatchLine(change.event, done.root.name, change.path, change.opened, change.closed)
            )
        for skip in done.report.skipped:
            if skip.path not in before:
                self._tell(_skip_line(done.root.name, skip))


def _around(root: Root) -> Path | None:
    found = find_repository(root.path)
    return None if found is None or (root.path / ".git").is_dir() else found


def _recorded(told: HistoryReport) -> str:
    beside = f", beside it: {told.beside}" if told.beside else ""
    return (
        f"commits walked: {told.commits}{beside}, observations: {told.observed}, "
        f"commits retracted: {told.retracted}"
    )


def _skip_line(root: str, skip: Skipped) -> WatchLine:
    why = f"{skip.reason}: {skip.detail}" if skip.detail else skip.reason
    return WatchLine("skipped", root, skip.path, message=why)
