"""Searches that do not rank words: `exact`, `graph` and `temporal`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pcpfs.errors import NotFound, UsageError
from pcpfs.model.answers import SearchAnswer, SearchHit
from pcpfs.model.instants import Instant
from pcpfs.search.excerpt import Excerpt
from pcpfs.search.query import parse
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.reading import Reader
from pcpfs.store.references import Reference
from pcpfs.store.searches.documents import Documents
from pcpfs.store.searches.eligible import Eligible
from pcpfs.store.searches.graph import neighbours
from pcpfs.store.searches.imports import Imports
from pcpfs.store.searches.page_hits import PageHits, kind_of
from pcpfs.store.searches.search_request import Search
from pcpfs.store.searches.text_search import TextSearch, symbol_hit

_IDS = re.compile(r"(pg|rev|fr)_[0-9a-z]{5,}(@[0-9a-z_]+)?")


def automatic(text: str) -> str:
    """The mode that `auto` means for a question: an id exactly, all else by words."""
    return "exact" if _IDS.fullmatch(text.strip()) else "text"


class OtherSearch:
    """Answers from one catalog; words, where there are any, are looked for by `text`."""

    def __init__(self, reader: Reader, documents: Documents, text: TextSearch) -> None:
        self._reader = reader
        self._text = text
        self._hits = PageHits(reader, documents)

    def run(self, search: Search) -> SearchAnswer:
        """The answer in the mode of the search."""
        eligible = Eligible(self._reader, search)
        hits = {"exact": self._exact, "graph": self._graph, "temporal": self._temporal}
        return search.answer(hits[search.mode](search, eligible))

    def _exact(self, search: Search, eligible: Eligible) -> Iterator[SearchHit]:
        """What is called just so, by id, path, title or name; then where it stands verbatim."""
        text = search.text.strip()
        if not text:
            raise UsageError("an exact search needs an id, a path, a name or a text")
        for reference, why in self._named(text):
            yield from self._reference_hits(search, eligible, reference, why)
        titled = self._reader.catalog.pages("title = ? AND NOT is_source", (text,))
        for page in titled:
            yield from self._page_hits(search, eligible, page, "the title")
        condition, parameters = holds(search.pins, "frame")
        rows = self._reader.catalog.frames(
            f"(qualified_name = ? OR name = ?) AND {condition}", (text, text, *parameters)
        )
        for row in rows:
            yield from self._frame_hits(search, eligible, row, "the exact name")
        yield from self._text.verbatim(search, text)

    def _named(self, text: str) -> Iterator[tuple[Reference, str]]:
        try:
            found = self._reader.resolve(text)
        except (NotFound, UsageError):
            return
        yield found, "the id" if _IDS.fullmatch(text) else "the path"

    def _reference_hits(
        self, search: Search, eligible: Eligible, reference: Reference, why: str
    ) -> Iterator[SearchHit]:
        if reference.frame is not None:
            condition, parameters = holds(search.pins, "frame")
            rows = self._reader.catalog.frames(
                f"frame_id = ? AND {condition}", (reference.frame, *parameters)
            )
            for row in rows:
                yield from self._frame_hits(search, eligible, row, why)
            return
        page = self._reader.catalog.page(reference.page)
        if page is not None:
            yield from self._page_hits(search, eligible, page, why, reference.revision)

    def _page_hits(
        self,
        search: Search,
        eligible: Eligible,
        page: PageRow,
        why: str,
        revision: str | None = None,
        *,
        channel: str = "exact",
        score: float = 1.0,
    ) -> Iterator[SearchHit]:
        """The page at this revision, else at the one that the pins mean, if it may be answered."""
        if not eligible.page(page) or not search.filters.takes(kind_of(page)):
            return
        if revision is None:
            try:
                revision = self._reader.effective(Reference(page.page_id))[1].revision_id  # type: ignore[arg-type]  # a row holds ids as texts
            except NotFound:
                return  # nothing of it held at the pinned instant
        if eligible.revision(page, revision):
            yield self._hits.hit(page, revision, search.pins, channel=channel, score=score, why=why)

    def _frame_hits(
        self, search: Search, eligible: Eligible, row: FrameRow, why: str
    ) -> Iterator[SearchHit]:
        page = self._reader.catalog.page(row.page_id)
        if page is None or not eligible.page(page) or not search.filters.takes(row.kind):
            return
        if eligible.frame(page, row):
            view = self._reader.frame_view(row, page)
            shown = Excerpt(view.lines, "\n".join(filter(None, [view.signature, view.doc])))
            yield symbol_hit(view, "exact", 1.0, why, shown=shown)

    def _graph(self, search: Search, eligible: Eligible) -> Iterator[SearchHit]:
        """What the named page is related to, in either direction; the nearest first."""
        start = self._reader.catalog.page(self._reader.resolve(search.text.strip()).page)
        if start is None or start.scope not in search.scopes:
            raise NotFound(f"nothing here is called {search.text.strip()!r}")
        filters = search.filters
        found = neighbours(
            self._reader.catalog,
            start.page_id,
            scopes=search.scopes,
            types=filters.relation_types,
            depth=filters.depth,
            imports=Imports(self._reader.catalog, self._reader.objects, search.pins),
        )
        for near in found:
            yield from self._page_hits(
                search, eligible, near.page, near.why, channel="graph", score=1 / near.depth
            )

    def _temporal(self, search: Search, eligible: Eligible) -> Iterator[SearchHit]:
        """Pages by when what they say began to hold, the latest first; with words, those that have
        all of them."""
        wanted = self._text.keys_with_all(search) if search.text.strip() else None
        rows = self._reader.catalog.query(
            "SELECT page_id, revision_id, valid_from, recorded_at FROM span "
            "ORDER BY valid_from DESC, recorded_at DESC, page_id, ordinal DESC"
        )
        query = parse(search.text) if wanted is not None else None
        pages: dict[str, PageRow] = {}
        for page_id, revision, valid_from, recorded_at in rows:
            if wanted is not None and revision not in wanted:
                continue
            page = pages.get(page_id) or self._reader.page(page_id)
            pages[page_id] = page
            if not eligible.page(page) or not search.filters.takes(kind_of(page)):
                continue
            if eligible.revision(page, revision):
                yield self._hits.hit(
                    page,
                    revision,
                    search.pins,
                    channel="temporal",
                    score=0.0,
                    why=_when(valid_from, recorded_at),
                    query=query,
                )


def _when(valid_from: int, recorded_at: int) -> str:
    return f"holds from {Instant(valid_from)}, recorded {Instant(recorded_at)}"
