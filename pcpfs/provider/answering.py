"""One answer: candidates looked at again, framed, and fitted into the budget of the query."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.cgp import ContextFrame, ContextQuery, QueryResult
from pcpfs.model.cgp_rules import frame_breaches, representation_breaches
from pcpfs.model.frames import Symbol, frame_ids
from pcpfs.model.ids import FrameId, PageId
from pcpfs.model.instants import Instant
from pcpfs.ports import AdapterRegistry
from pcpfs.provider.candidate import Anchor, Candidate, Form, Offer, Subject
from pcpfs.provider.cutting import Lines
from pcpfs.provider.finding import ANCHORED, Anchors, Words
from pcpfs.provider.fitting import fit
from pcpfs.provider.framing import Framer
from pcpfs.provider.standing import Looking, Standing
from pcpfs.provider.surroundings import Surroundings
from pcpfs.search.excerpt import WINDOW, excerpt, locate, span_of
from pcpfs.search.query import Query, parse
from pcpfs.sources.roots import Root
from pcpfs.store.catalogs.rows import SpanRow
from pcpfs.store.references import Reference
from pcpfs.store.searches.imports import Imports
from pcpfs.store.session import Session

_log = logging.getLogger(__name__)
_MOST_CITING = 4


class Desk:
    """All that one answer works with: one state of the store, each source looked at once."""

    def __init__(
        self,
        session: Session,
        pins: Pins,
        roots: Mapping[str, Root],
        registry: Callable[[], AdapterRegistry],
        readable: Callable[[Session], frozenset[str]],
    ) -> None:
        self.session = session
        self.pins = pins
        self.roots = roots
        self.reader = session.reader(pins)
        self.looking = Looking(session.store, self.reader, pins, roots, registry)
        self.readable = readable(session)
        store_id = session.store.store_id
        imports = Imports(self.reader.catalog, session.store.objects, pins, registry)
        self.around = Surroundings(store_id, self.reader, roots, self.readable, imports)
        self.framer = Framer(store_id, self.reader.root_name, self.around.edges)

    def subject(self, candidate: Candidate, query: Query | None = None) -> Subject | None:
        """A candidate, looked at again; None where it does not stand any more."""
        try:
            page = self.reader.page(candidate.page_id)
            if page.scope not in self.readable or page.lifecycle == "tombstoned":
                return None
            if page.is_source and not page.is_open and self.pins.as_of is None:
                return None
            page, span = self.reader.effective(Reference(PageId(page.page_id)))
            standing = self.looking.at(page, span)
            if standing is None or not standing.text.is_readable:
                return None
            return self._placed(candidate, standing, query)
        except NotFound:
            return None

    def pinned(self, candidate: Candidate, revision: str) -> Subject | None:
        """A candidate in one revision, given by the beginning of its id."""
        try:
            page = self.reader.page(candidate.page_id)
            spans = self.reader.catalog.spans(page.page_id)
        except NotFound:
            return None
        held = [span for span in spans if span.revision_id.startswith(f"rev_{revision}")]
        if not held or page.scope not in self.readable or page.lifecycle == "tombstoned":
            return None
        standing = self.looking.stored(page, held[-1])
        return None if standing is None else self._of_revision(candidate, standing)

    def _placed(
        self, candidate: Candidate, standing: Standing, query: Query | None
    ) -> Subject | None:
        symbol, start, end = None, *_interval(standing, standing.span)
        if candidate.frame_id is not None:
            found = self._symbol(candidate.frame_id, standing)
            if found is None:
                return None
            symbol, start, end = found
        lines = self._lines(candidate, standing, symbol, query)
        return Subject(replace(candidate, lines=lines), standing, symbol, start, end)

    def _symbol(
        self, frame_id: str, standing: Standing
    ) -> tuple[Symbol, Instant | None, Instant | None] | None:
        """A symbol as it stands, and over which time; None if it is gone."""
        view = self.reader.frame(frame_id)
        known = Symbol(
            view.kind,
            view.name,
            view.qualified_name,
            view.signature,
            view.doc,
            view.lines,
            view.bytes,
            view.digest,
        )
        if standing.symbols is None:
            is_over = self.pins.as_of is None and view.valid_to is not None
            return None if is_over else (known, view.valid_from, view.valid_to)
        now = standing.symbols.get(frame_id)
        if now is None:
            return None
        if now.digest == known.digest:
            return now, view.valid_from, None
        return now, standing.since, None

    def _of_revision(self, candidate: Candidate, standing: Standing) -> Subject | None:
        start, end = _interval(standing, standing.span)
        if candidate.frame_id is None:
            return Subject(candidate, standing, None, start, end)
        symbol = self._stored_symbols(standing).get(FrameId(candidate.frame_id))
        return None if symbol is None else Subject(candidate, standing, symbol, start, end)

    def _stored_symbols(self, standing: Standing) -> Mapping[FrameId, Symbol]:
        payload, span = standing.body.payload, standing.span
        if payload is None or span.adapter is None:
            return {}
        sightings = self.session.store.objects.sightings
        seen = sightings.of_span(standing.page.scope, span, payload.ref)
        frames = frame_ids(PageId(standing.page.page_id), seen.symbols)
        return {frame.frame_id: frame.symbol for frame in frames}

    def _lines(
        self,
        candidate: Candidate,
        standing: Standing,
        symbol: Symbol | None,
        query: Query | None,
    ) -> Lines | None:
        """The lines to look at: where the words stand, else the beginning."""
        bounds = (1, standing.text.line_count) if symbol is None else symbol.lines
        lines = candidate.lines
        if lines is not None and not standing.has_changed and lines != bounds:
            return lines
        if symbol is not None and not (standing.has_changed and lines):
            return (bounds[0], min(bounds[0] + WINDOW - 1, bounds[1]))
        if query is None:
            return None
        found = excerpt(standing.text.whole().content, query, within=bounds)
        return None if found is None else found.lines


def _interval(standing: Standing, span: SpanRow) -> tuple[Instant | None, Instant | None]:
    if standing.has_changed:
        return standing.since, None
    return Instant(span.valid_from), None if span.valid_to is None else Instant(span.valid_to)


class Answer:
    """Makes the answer to one query."""

    def __init__(self, desk: Desk, query: ContextQuery) -> None:
        self._desk = desk
        self._query = query
        self._words = Words(desk.session, desk.pins, query)
        self._parsed = parse(" ".join(filter(None, (query.query_text, query.goal))))

    def result(self) -> QueryResult:
        """Frames within the budget; `dropped_estimate` counts what is known to have found no
        room."""
        fitted = fit(self._offers(), self._query.max_frames, self._query.max_tokens)
        dropped = fitted.dropped + self._words.goes_on
        return QueryResult(
            frames=fitted.frames, truncated=dropped > 0, dropped_estimate=dropped or None
        )

    def _offers(self) -> Iterator[Offer]:
        given: set[tuple[str, bool]] = set()
        for candidate in self._candidates():
            if candidate.identity not in given:
                given.add(candidate.identity)
                offer = self._offer(candidate)
                if offer is not None:
                    yield offer

    def _candidates(self) -> Iterator[Candidate]:
        anchors = self._query.anchors
        if anchors:
            places = Anchors(self._desk.session, tuple(self._desk.roots.values()), self._desk.pins)
            yield from self._at(places.places(anchors))
        yield from self._words

    def _at(self, places: tuple[Anchor, ...]) -> Iterator[Candidate]:
        """What stands at the anchors, what is around them, and what points at them (G3)."""
        for place in places:
            yield Candidate(place.page_id, ANCHORED, self._best_symbol(place), None, anchor=place)
        for place in places:
            yield Candidate(place.page_id, ANCHORED, anchor=place, graph=True)
        for place in places:
            for page in self._desk.around.pointing_at(place.page_id)[:_MOST_CITING]:
                yield Candidate(page, ANCHORED, anchor=place)

    def _best_symbol(self, place: Anchor) -> str | None:
        """The symbol that is meant, else the one in the file that has most of the words."""
        if place.frame_id is not None:
            return place.frame_id
        subject = self._desk.subject(Candidate(place.page_id, ANCHORED))
        if subject is None or not subject.standing.page.is_source:
            return None
        symbols = self._desk.around.symbols(subject.standing)
        places = locate(subject.standing.text.whole().content, self._parsed)
        best = span_of(places, [symbol.lines for symbol in symbols.values()])
        return None if best is None else list(symbols)[best]

    def _offer(self, candidate: Candidate) -> Offer | None:
        subject = self._desk.subject(candidate, self._parsed)
        if subject is None:
            return None
        place = f"{subject.standing.page.page_id}@{self._desk.framer.pin(subject.standing)}"
        forms = tuple(form for form in self._forms(subject) if self._is_wanted(form.frame))
        return Offer(place, forms) if forms else None

    def _forms(self, subject: Subject) -> Iterator[Form]:
        framer = self._desk.framer
        if subject.candidate.graph:
            form = self._desk.around.neighbourhood(subject, framer)
            return iter([] if form is None else [form])
        query = self._query
        return framer.forms(subject, query.representation_preferences, query.max_tokens)

    def _is_wanted(self, frame: ContextFrame) -> bool:
        """Whether the kind was asked for (Q1), and the frame keeps every rule."""
        if self._query.kinds and frame.kind not in self._query.kinds:
            return False
        breaches = (*frame_breaches(frame), *representation_breaches(frame))
        for breach in breaches:
            _log.warning("left out: %s", breach)
        return not breaches
