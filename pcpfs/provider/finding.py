"""Finding candidates: by the words of the query, and by the anchors that the host names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set
from math import floor
from pathlib import Path

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import Pins, SearchHit
from pcpfs.model.cgp import ContextQuery, FrameKind
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.names import escaped
from pcpfs.model.requests import EVENT, MOST_RESULTS, SYMBOL, Filters
from pcpfs.provider.candidate import Anchor, Candidate
from pcpfs.provider.framing import FACT, named
from pcpfs.provider.naming import file_path, item_of
from pcpfs.search.query import parse
from pcpfs.sources.roots import Root
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.references import Reference
from pcpfs.store.session import Session

ANCHORED = 1.0
_BEST_WORD = 0.99
_TIER = 4096.0  # how the ranking scales what comes within a tier
_HALF = 10.0
_SPARE = 4
_MOST_FOUND = 1000
_MOST_ANCHORS = 32

_CODE = {FrameKind.SYMBOL, FrameKind.SNIPPET}
_PAGES = {FrameKind.MEMORY, FrameKind.FACT}


def filters_of(kinds: Set[str]) -> Filters | None:
    """Where to look for these kinds, so that no others are looked at; None where a search cannot
    find any: a graph stands at an anchor only."""
    if not kinds:
        return Filters()
    wanted: list[str] = []
    if kinds & _PAGES:
        wanted.append("page")
    if FrameKind.EPISODE in kinds:
        wanted.append(EVENT)
    code, prose = bool(kinds & _CODE), FrameKind.DOC in kinds
    if code or prose:
        wanted += [FILE_KIND, SYMBOL]
    tags = (FACT,) if wanted == ["page"] and FrameKind.MEMORY not in kinds else ()
    only = None if code is prose else prose
    return Filters(kinds=tuple(wanted), prose=only, tags=tags) if wanted else None


class Words:
    """Candidates by words, best first: those of the query text, then those of the goal.

    After many of them it ends; `goes_on` then tells whether there were more.
    """

    def __init__(self, session: Session, pins: Pins, query: ContextQuery) -> None:
        self.goes_on = False
        self._session = session
        self._pins = pins
        self._kinds = frozenset(query.kinds)
        self._first = min(MOST_RESULTS, query.max_frames + _SPARE, query.max_tokens // 8 + _SPARE)
        self._texts = [_plain(text) for text in (query.query_text, query.goal) if text]
        self._lowest = _BEST_WORD

    def __iter__(self) -> Iterator[Candidate]:
        for number, candidate in enumerate(self._all()):
            if number == _MOST_FOUND:
                self.goes_on = True
                return
            yield candidate

    def _all(self) -> Iterator[Candidate]:
        given: set[tuple[str, bool]] = set()
        for text in dict.fromkeys(self._texts):
            words = len(parse(text).clauses)
            for hit in self._hits(text):
                candidate = self._candidate(hit, words)
                if candidate is not None and candidate.identity not in given:
                    given.add(candidate.identity)
                    yield candidate

    def _hits(self, text: str) -> Iterator[SearchHit]:
        filters = filters_of(self._kinds)
        if filters is None:
            return iter(())
        return self._session.hits(text, filters, self._pins, self._first)

    def _candidate(self, hit: SearchHit, words: int) -> Candidate | None:
        """None for a hit whose kind is not wanted after all (Q1)."""
        if self._kinds and not self._kinds & _possible(hit):
            return None
        self._lowest = min(self._lowest, scaled(hit.score, words))
        return Candidate(
            hit.page_id, round(self._lowest, 6), frame_id=hit.frame_id, lines=hit.lines
        )


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
        answer = self._session.symbol(name, policy="global", pins=self._pins, limit=1, exact=True)
        if not answer.results:
            raise NotFound(f"nothing here is called {name!r}")
        hit = answer.results[0]
        return Reference(hit.page_id, frame=hit.frame_id)

    def _title(self, page: PageRow, reference: Reference) -> str:
        if reference.frame is None:
            return named(page.path or "" if page.is_source else page.title, "page")
        frame = self._reader.frame(reference.frame)
        return named(frame.qualified_name, frame.kind)
