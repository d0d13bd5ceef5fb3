"""A folder that a watcher follows into a store, and what a new store would say of that folder."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replace_in
from pathlib import Path

from pcpfs.model.answers import Suspicion
from pcpfs.model.frames import FILE_KIND, LFS_POINTER, Extraction
from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace, escaped, unescaped
from pcpfs.model.requests import Draft
from pcpfs.sources.debounce import Timing
from pcpfs.sources.extraction_worker import extract
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Wanted
from pcpfs.sources.scan import scan
from pcpfs.sources.scanned import Content, ScanOptions, Skipped
from pcpfs.sources.service import Sources
from pcpfs.sources.statcache import StatCache
from pcpfs.sources.synced import SyncReport
from pcpfs.sources.watch import Watch
from pcpfs.sources.watch_line import WatchLine
from pcpfs.store.registry import installed_registry
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, SCOPE

PATIENCE = 15.0
ROOT = "app"

FrameKey = tuple[str, str, str, int, int]
"""Qualified name, kind, digest, first and last byte."""


@dataclass(frozen=True, slots=True)
class Held:
    """What a store says of a source now: of each open file its digest and frames; what was left
    out, with the reason."""

    files: dict[str, str]
    frames: dict[str, frozenset[FrameKey]]
    skipped: frozenset[tuple[str, str]]

    @classmethod
    def by(cls, sources: Sources) -> Held:
        catalog = sources.store.catalog
        sources.store.refresh()
        files: dict[str, str] = {}
        frames: dict[str, frozenset[FrameKey]] = {}
        for page in catalog.pages("is_source AND is_open"):
            path = unescaped(page.path or "")
            rows = catalog.frames("page_id = ? AND valid_to IS NULL", (page.page_id,))
            files[path] = page.digest or ""
            frames[path] = frozenset(
                (row.qualified_name, row.kind, row.digest, row.byte_a, row.byte_b) for row in rows
            )
        skipped = (skip for root in sources.roots.all() for skip in sources.roots.skipped(root))
        return cls(files, frames, frozenset((skip.path, skip.reason) for skip in skipped))

    def beside(self, wanted: Held) -> str:
        """Where two differ, for a person."""
        names = ("files", "frames", "skipped")
        pairs = [
            (name, _items(getattr(self, name)), _items(getattr(wanted, name))) for name in names
        ]
        return "; ".join(
            f"{name}: has {sorted(has - wants)}, wants {sorted(wants - has)}"
            for name, has, wants in pairs
            if has != wants
        )


def _items(value: Mapping[str, object] | frozenset[tuple[str, str]]) -> set[str]:
    return set(map(repr, value.items() if isinstance(value, Mapping) else value))


def on_disk(root: Path) -> Held:
    """What a store should say of a folder as it is now, found without one.

    (For files without secrets, and none that changes meanwhile.)
    """
    found = scan(root, ScanOptions(), StatCache())
    files: dict[str, str] = {}
    frames: dict[str, frozenset[FrameKey]] = {}
    skipped = {(skip.path, str(skip.reason)) for skip in found.skipped}
    for path in found.to_read:
        outcome = read_stable(root, path, ScanOptions().max_size)
        if isinstance(outcome, Skipped):
            skipped.add((path, str(outcome.reason)))
            continue
        assert isinstance(outcome, Content), outcome
        seen = extract(_REGISTRY, path, outcome.data)
        assert isinstance(seen, Extraction), seen
        skipped |= {(path, "lfs_pointer")} if seen.language == LFS_POINTER else set()
        digest = files[path] = Digest.of(outcome.data)
        file = (escaped(path.rpartition("/")[2]), FILE_KIND, digest, 0, len(outcome.data))
        symbols = ((s.qualified_name, s.kind, s.digest, *s.bytes) for s in seen.symbols)
        frames[path] = frozenset([file, *symbols])
    return Held(files, frames, frozenset(skipped))


_REGISTRY = installed_registry()


class Keeper:
    """An open store of Anna's, by the clock of this machine, with one source."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.root = root
        self.store = Store.open(path)
        self.session = Session(self.store, ANNA)
        self.sources = Sources(self.store, ANNA)

    def close(self) -> None:
        self.sources.close()
        self.session.close()
        self.store.close()

    def add(self) -> SyncReport:
        return self.sources.add(Wanted(self.root, Namespace(SCOPE), ROOT))

    def held(self) -> Held:
        return Held.by(self.sources)

    def observations(self, path: str) -> list[str]:
        """The texts that were seen at a path, oldest first."""
        log = self.session.log(path)
        return [self.session.payload(entry.revision_id).decode() for entry in reversed(log)]

    def commits(self) -> int:
        words = ["git", "rev-list", "--count", "HEAD"]
        return int(subprocess.run(words, cwd=self.path, capture_output=True, check=True).stdout)

    def cite(self, name: str) -> str:
        """A note about the only symbol of that name; its page."""
        (hit,) = self.session.symbol(name).results
        draft = Draft(f"about {name}\n".encode(), media_type="text/markdown", cites=(hit.frame_id,))
        return str(self.session.write(SCOPE, draft).page_id)

    def cite_at(self, path: str, name: str) -> str:
        """A note about a symbol of one file; its page."""
        frames = self.session.frames_of(path)
        found = next(frame for frame in frames if frame.qualified_name == name)
        draft = Draft(b"about it\n", media_type="text/markdown", cites=(found.frame_id,))
        return str(self.session.write(SCOPE, draft).page_id)

    def suspects(self) -> dict[str, tuple[Suspicion, ...]]:
        return {str(page.page_id): page.frames for page in self.session.suspects()}


@dataclass(slots=True)
class Following:
    """A watcher at work; it moves only when the test lets it."""

    keeper: Keeper
    lines: list[WatchLine] = field(default_factory=list)
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.keeper.sources, self.lines.append, threading.Event())

    @contextmanager
    def at_work(self) -> Iterator[Following]:
        """Watching, from when everything was looked at once. The clock alone makes it look again
        only after a new doubt: what is found before that, an event told."""
        self.watch.begin([])
        try:
            self.settle(0.0)
            self.retime(reconcile_at=math.inf)
            self.lines.clear()
            yield self
        finally:
            self.watch.end()

    def retime(self, **when: float | Timing) -> None:
        """Set times of its debounce."""
        for watched in self.watch._watched.values():
            watched.debounce = replace_in(watched.debounce, **when)  # type: ignore[arg-type]

    def until(self, enough: Callable[[], bool]) -> None:
        """Let it work until that holds."""
        end = time.monotonic() + PATIENCE
        while not enough():
            assert time.monotonic() < end, f"it never came; told: {self.lines}"
            self.watch.turn()

    def until_held(self, wanted: Held) -> None:
        """Let it work until the store says that."""
        end = time.monotonic() + PATIENCE
        while (held := self.keeper.held()) != wanted:
            assert time.monotonic() < end, f"{held.beside(wanted)}; told: {self.lines}"
            self.watch.turn()

    def settle(self, quiet: float = 0.7) -> None:
        """Let it work until nothing is to be done, and was not for a while (in seconds): a file
        that is moved away is told half a second late."""
        end = time.monotonic() + PATIENCE
        rested = time.monotonic()
        while self.watch.is_busy or time.monotonic() - rested < quiet:
            assert time.monotonic() < end, f"it never rests; told: {self.lines}"
            rested = time.monotonic() if self.watch.is_busy else rested
            self.watch.turn()

    def told(self, event: str) -> list[str | None]:
        """The paths of which it told that."""
        return [line.path for line in self.lines if line.event == event]


def fresh(template: Path, root: Path, folder: Path) -> Held:
    """What a new store says once it has taken in the folder as it is now."""
    shutil.copytree(template, folder)
    keeper = Keeper(folder, root)
    try:
        keeper.add()
        return keeper.held()
    finally:
        keeper.close()
        shutil.rmtree(folder)


def save(file: Path, text: str | bytes) -> None:
    """Write a file in place, and the folders above it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def replace(file: Path, text: str) -> None:
    """Write another file and move it over this one, as careful programs do."""
    swap = file.with_name(f".{file.name}.swap")
    save(swap, text)
    swap.replace(file)


def git(folder: Path, *arguments: str) -> str:
    """A person's git."""
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    words = ["git", *identity, "-c", "protocol.file.allow=always", *arguments]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_EDITOR": "true"}
    done = subprocess.run(
        words, cwd=folder, check=True, env=environment, capture_output=True, text=True
    )
    return done.stdout


def function(name: str, number: int = 1) -> str:
    """A module with one function."""
    return f"def {name}():\n    return {number}\n"
