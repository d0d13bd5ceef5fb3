"""What may be served: a place in a page, why it was found, and the forms it can take."""

from __future__ import annotations

from dataclasses import dataclass

from pcpfs.model.cgp import ContextFrame
from pcpfs.model.frames import Symbol
from pcpfs.model.instants import Instant
from pcpfs.provider.cutting import Lines
from pcpfs.provider.standing import Standing


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place that the host named, as it spelled it, and the page (perhaps the symbol) there."""

    given: str
    page_id: str
    frame_id: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A symbol (`frame_id`) or a page that answers the question.

    `lines` are those to look at, as the store saw them; None where nothing was looked for.
    `graph`: what is around the page is meant.
    """

    page_id: str
    score: float
    frame_id: str | None = None
    lines: Lines | None = None
    anchor: Anchor | None = None
    graph: bool = False

    @property
    def identity(self) -> tuple[str, bool]:
        return (self.frame_id or self.page_id, self.graph)


@dataclass(frozen=True, slots=True)
class Subject:
    """A candidate, looked at again: its bytes, and its symbol as it stands in them."""

    candidate: Candidate
    standing: Standing
    symbol: Symbol | None
    valid_from: Instant | None
    valid_to: Instant | None

    @property
    def size(self) -> int:
        """How many bytes the whole has."""
        if self.symbol is not None:
            return self.symbol.bytes[1] - self.symbol.bytes[0]
        return len(self.standing.text.raw)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to serve a candidate. `lines` are those that it shows, for what overlaps."""

    frame: ContextFrame
    lines: Lines
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """All ways to serve one candidate, the best first; `place` tells whose lines they are."""

    place: str
    forms: tuple[Form, ...]
