"""What is answered of the life of a symbol."""

from __future__ import annotations

from dataclasses import dataclass

from pcpfs.model.ids import Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant


@dataclass(frozen=True, slots=True)
class SymbolStep:
    """One step in a symbol's life: it was `opened`, `changed`, `moved` (to another file or into
    another symbol), `renamed` or `closed`, at `at`, by a commit of the source if that is known.

    What it is after the step; of a closed one what it was. `was` is the name and place before. With
    `branches` the commit is theirs, and nothing of it holds.
    """

    event: str
    at: Instant
    frame_id: FrameId
    page_id: PageId
    revision_id: RevisionId
    path: str
    qualified_name: str
    signature: str
    lines: tuple[int, int]
    digest: Digest
    was: str | None = None
    reason: str | None = None
    commit: str | None = None
    author: str | None = None
    branches: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SymbolLife:
    """A symbol under all of its names and in all of its places, its last step first."""

    scope: str
    root: str
    kind: str
    qualified_name: str
    path: str
    steps: tuple[SymbolStep, ...]


@dataclass(frozen=True, slots=True)
class SymbolDifference:
    """Two texts of a symbol compared: a unified diff. `before` is None if there was none, `after`
    if a branch has none."""

    before: SymbolStep | None
    after: SymbolStep | None
    text: str
