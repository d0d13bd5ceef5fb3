"""What a map of a source answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pcpfs.model.ids import FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant


@dataclass(frozen=True, slots=True)
class MappedSymbol:
    """A definition in a map of a source."""

    frame_id: FrameId
    kind: str
    qualified_name: str
    signature: str
    line: int


@dataclass(frozen=True, slots=True)
class MappedFile:
    """A file in a map of a source, with those of its definitions that are shown, in their order.
    `rank` is its share of 1."""

    path: str
    page_id: PageId
    revision_id: RevisionId
    rank: float
    symbols: tuple[MappedSymbol, ...]


@dataclass(frozen=True, slots=True)
class SourceMap:
    """An overview of a source, the files that matter most first. `text` is what it says in lines;
    `token_count` is its cost (a quarter of its bytes, rounded up), never above the budget. Where no
    file held, `earliest` is from when on any is known."""

    root: str
    scope: str
    token_budget: int
    token_count: int
    files: tuple[MappedFile, ...]
    left_out: Mapping[str, int]
    text: str
    focus: tuple[str, ...] = ()
    as_of: Instant | None = None
    recorded_as_of: Instant | None = None
    earliest: Instant | None = None
