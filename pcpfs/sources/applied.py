"""What carrying out a plan has done."""

from __future__ import annotations

from dataclasses import dataclass, field

from pcpfs.sources.plan import Close, Novelty, Observe
from pcpfs.sources.scanned import Skipped

BATCH_FILES = 1000
BATCH_BYTES = 64 * 1024 * 1024
"""At most so much becomes durable at once."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What happened to one file: `added`, `changed`, `removed` or `renamed` (from `old`), and how
    many symbols that opened and closed."""

    event: str
    path: str
    opened: int
    closed: int
    old: str | None = None


@dataclass(slots=True)
class Applied:
    """What was done; counts are of symbols, the whole file not among them."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    renamed: int = 0
    opened: int = 0
    closed: int = 0
    changes: list[FileChange] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def count(self, observe: Observe, opened: int, closed: int) -> None:
        """One file was observed."""
        self.opened += opened
        self.closed += closed
        event = "renamed" if observe.moved_from else "added"
        if observe.novelty is Novelty.CHANGED and not observe.moved_from:
            event = "changed"
        self.added += event == "added"
        self.changed += event == "changed"
        self.renamed += event == "renamed"
        path = observe.file.path
        self.changes.append(FileChange(event, path, opened, closed, observe.moved_from))

    def count_close(self, close: Close, closed: int) -> None:
        """One page was closed; a move is told by the file that came of it."""
        self.closed += closed
        if close.moved_to is None:
            self.removed += 1
            self.changes.append(FileChange("removed", close.path, 0, closed))
