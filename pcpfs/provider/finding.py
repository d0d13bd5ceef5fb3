"""Finding candidates: by the words of the query, and by the anchors that the host names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from math import floor
from pathlib import Path

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins, SearchHit
from pcpfs.model.cgp import ContextQuery, FrameKind
from pcpfs.model.names import escaped
from pcpfs.provider.candidate import Anchor, Candidate
from pcpfs.provider.framing import FACT, named
from pcpfs.provider.naming import file_path, item_of
from pcpfs.search.query import parse
from pcpfs.sources.roots import Root
from pcpfs.store.references import Reference
from pcpfs.store.rows import PageRow
from pcpfs.store.search_request import MOST_RESULTS, SYMBOL, Filters
from pcpfs.store.session import Session

ANCHORED = 1.0
_BEST_WORD = 0.99
_TIER = 4096.0  # how the ranking scales what comes within a tier
_HALF = 10.0
_MOST_PARTS = 6
_SPARE = 4
_MOST_ANCHORS = 32

_AUTHORED = {FrameKind.MEMORY, FrameKind.FACT, FrameKind.EPISODE}


class Words:
    """Candidates by words, best first: those of the query text, then those of the goal.

    Asks the search in parts, so that only as much is looked for as the budget takes.
    """

    def __init__(self, session: Session, pins: Pins, query: ContextQuery) -> None:
        self._session = session
        self._pins = pins
        self._kinds = frozenset(query.kinds)
        self._size = min(MOST_RESULTS, query.max_frames + _SPARE, query.max_tokens // 8 + _SPARE)
        self._texts = [_plain(text) for text in (query.query_text, query.goal) if text]
        self._lowest = _BEST_WORD
        self._waiting: list[Candidate] = []
        self._given: set[tuple[str, bool]] = set()
        self._parts = self._asked()

    def __iter__(self) -> Iterator[Candidate]:
        while self._fill():
            yield self._waiting.pop(0)

    def left(self) -> int:
        """How many more there are at least."""
        self._fill()
        return len(self._waiting)

    def _fill(self) -> bool:
        while not self._waiting:
            part = next(self._parts, None)
            if part is None:
                return False
            self._waiting = part
        return True

    def _asked(self) -> Iterator[list[Candidate]]:
        for text in dict.fromkeys(self._texts):
            words = len(parse(text).clauses)
            cursor: str | None = None
            for _ in range(_MOST_PARTS):
                answer = self._session.search(
                    text,
                    policy="global",
                    filters=self._filters(),
                    pins=self._pins,
                    limit=self._size,
                    cursor=cursor,
                )
                yield [c for hit in answer.results if (c := self._candidate(hit, words))]
                cursor = answer.cursor
                if cursor is None:
                    break

    def _filters(self) -> Filters:
        if not self._kinds:
            return Filters()
        if self._kinds <= _AUTHORED:
            return Filters(kinds=("page", "event"))
        if self._kinds == {FrameKind.SYMBOL}:
            return Filters(kinds=(SYMBOL,))
        return Filters()

    def _candidate(self, hit: SearchHit, words: int) -> Candidate | None:
        """None for a hit that was given, or whose kind is not wanted (Q1)."""
        if self._kinds and not self._kinds & _possible(hit):
            return None
        self._lowest = min(self._lowest, scaled(hit.score, words))
        candidate = Candidate(
            hit.page_id, round(self._lowest, 6), frame_id=hit.frame_id, lines=hit.lines
        )
        if candidate.identity in self._given:
            return None
        self._given.add(candidate.identity)
        return candidate


def scaled(score: float, words: int) -> float:
    """A score of the ranking within (0, 1), in the same order: how many of the words were found,
    then how well."""
    tiers = floor(score)
    within = (score - tiers) * _TIER
    highest = words + (3 if words <= 1 else 1)
    return min((tiers + within / (within + _HALF)) / highest, _BEST_WORD)


def _possible(hit: SearchHit) -> set[str]:
    """The kinds that some form of a hit can have; prose is told apart later."""
    if hit.kind == "event":
        return {FrameKind.EPISODE}
    if hit.root is None:
        return {FrameKind.FACT if FACT in hit.facets.tags else FrameKind.MEMORY}
    if hit.frame_id is None or hit.kind == "heading":
        return {FrameKind.DOC, FrameKind.SNIPPET}
    return {FrameKind.SYMBOL, FrameKind.SNIPPET}


def _plain(text: str) -> str:
    """A text without what the search takes for syntax: a goal is prose."""
    return text.encode("utf-8", "replace").decode().replace('"', " ")


def _is_unicode(text: str) -> bool:
    """Whether this can be the name of anything: some text, no half characters."""
    return bool(text.strip()) and not any("\ud800" <= char <= "\udfff" for char in text)


class Anchors:
    """From what a host calls a place to the page or the symbol there."""

    def __init__(self, session: Session, roots: Sequence[Root], pins: Pins) -> None:
        self._session = session
        self._reader = session.reader(pins)
        self._roots = roots
        self._pins = pins

    def places(self, anchors: Sequence[str]) -> tuple[Anchor, ...]:
        """The anchors that mean something here, in order; those beyond the first 32 are not looked
        for."""
        given = [anchor for anchor in dict.fromkeys(anchors) if _is_unicode(anchor)]
        found = map(self._place, given[:_MOST_ANCHORS])
        return tuple(place for place in found if place is not None)

    def _place(self, given: str) -> Anchor | None:
        try:
            reference = self._reference(given)
            page = self._reader.page(reference.page)
            title = self._title(page, reference)
        except (NotFound, UsageError):
            return None
        return Anchor(given, reference.page, reference.frame, title)

    def _reference(self, given: str) -> Reference:
        path = Path(given) if os.path.isabs(given) else file_path(given)
        if path is not None:
            return self._at_path(os.path.normpath(path))
        inner = item_of(given, self._session.store.store_id)
        wanted = given.removeprefix("./").partition("#")[0] if inner is None else inner
        if wanted.startswith("fr_"):
            wanted = wanted.partition("@")[0]
        try:
            return self._session.resolve(wanted, self._pins)
        except (NotFound, UsageError):
            return self._symbol(wanted)

    def _at_path(self, path: str) -> Reference:
        for root in self._roots:
            base = os.path.join(str(root.path), "")
            if path.startswith(base):
                inner = escaped(path.removeprefix(base))
                rows = self._reader.catalog.pages("root_id = ? AND path = ?", (root.root_id, inner))
                if rows:
                    return self._session.resolve(rows[0].page_id, self._pins)
        base = os.path.join(str(self._session.store.path), "")
        return self._session.resolve(path.removeprefix(base), self._pins)

    def _symbol(self, name: str) -> Reference:
        answer = self._session.symbol(name, policy="global", pins=self._pins, limit=1)
        exact = [hit for hit in answer.results if name in (hit.qualified_name, hit.title)]
        if not exact or exact[0].frame_id is None:
            raise NotFound(f"nothing here is called {name!r}")
        return Reference(exact[0].page_id, frame=exact[0].frame_id)

    def _title(self, page: PageRow, reference: Reference) -> str:
        if reference.frame is None:
            return named(page.path or "" if page.is_source else page.title, "page")
        frame = self._reader.frame(reference.frame)
        return named(frame.qualified_name, frame.kind)
