"""A project under git that a person works on, and a store that records its history."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pcpfs.model.answers import HistoryReport, Pins, RootReport
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import HistoryWish, Wanted
from pcpfs.sources.scanned import ScanOptions
from pcpfs.sources.service import Sources
from pcpfs.sources.synced import SyncReport
from tests.store.workplace import ANNA, Workplace

START = 1_700_000_000
ALL, NOW = HistoryWish(), Pins()
Files = Mapping[str, bytes | str | None]
Fact = tuple[str, str, str, str]
"""Path, kind and qualified name of a frame, and its digest."""


def function(name: str, number: int) -> str:
    return f"def {name}():\n    return {number}\n"


def at(seconds: float) -> Instant:
    """So many seconds after the project began."""
    return Instant(int((START + seconds) * 1_000_000))


@dataclass(slots=True)
class Project:
    """A work tree; what is committed has Ada as author and a given time."""

    path: Path
    place: Workplace
    root: str = ""
    commits: list[str] = field(default_factory=list)

    def git(self, *arguments: str, folder: Path | None = None, when: float = 0) -> str:
        stamp = f"{START + int(when)} +0000"
        who = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", stamp))
        }
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *arguments],
            cwd=folder or self.path,
            env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_EDITOR": ":"},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def begin(self) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def lay(self, files: Files) -> None:
        """Write files, or remove those that are None; `-> x` makes a link to x."""
        for name, content in files.items():
            file = self.path / name
            if file.is_symlink() or file.is_file():
                file.unlink()
            elif file.is_dir():
                shutil.rmtree(file)
            if content is None:
                continue
            for above in reversed(file.relative_to(self.path).parents):
                if (self.path / above).is_symlink() or (self.path / above).is_file():
                    (self.path / above).unlink()
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str) and content.startswith("-> "):
                file.symlink_to(content[3:])
            else:
                file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Files, when: float, *how: str) -> str:
        self.lay(files)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "x", *how, when=when)
        self.commits.append(self.git("rev-parse", "HEAD").strip())
        return self.commits[-1]

    @property
    def source(self) -> Path:
        return self.path / self.root if self.root else self.path

    def add(
        self,
        history: HistoryWish | None = ALL,
        place: Workplace | None = None,
        **how: Any,
    ) -> SyncReport:
        wanted = Wanted(
            self.source, Namespace("project:a"), None, ScanOptions(**how), history=history
        )
        with Sources((place or self.place).store, ANNA) as sources:
            return sources.add(wanted)

    def sync(
        self, history: HistoryWish | None = None, place: Workplace | None = None
    ) -> RootReport:
        (report,) = self.synced(history, place).roots
        return report

    def synced(
        self,
        history: HistoryWish | None = None,
        place: Workplace | None = None,
        names: Sequence[str] = (),
    ) -> SyncReport:
        with Sources((place or self.place).store, ANNA) as sources:
            return sources.sync(names, history=history)

    def told(self, report: RootReport) -> HistoryReport:
        assert report.history is not None
        return report.history


def facts(place: Workplace, pins: Pins = NOW) -> set[Fact]:
    """All frames that hold under the pins, by path."""
    reader = place.session.reader(pins)
    found = set()
    for page in reader.catalog.pages("is_source"):
        for view in reader.frames_of(page.page_id):
            found.add((view.path, view.kind, view.qualified_name, str(view.digest)))
    return found


def line(place: Workplace, path: str) -> list[tuple[float, float | None, str | None]]:
    """The observations of a page, oldest first: since and until when, in seconds, and basis."""
    page = place.session.resolve(path).page
    spans = place.store.catalog.spans(page)
    return [
        (since(s.valid_from), None if s.valid_to is None else since(s.valid_to), s.basis)
        for s in spans
    ]


def since(microseconds: int) -> float:
    return microseconds / 1_000_000 - START


def texts(place: Workplace, path: str, moments: Sequence[float]) -> list[str]:
    """What a file held at each of these seconds."""
    return [place.session.payload(path, Pins(as_of=at(m))).decode() for m in moments]
