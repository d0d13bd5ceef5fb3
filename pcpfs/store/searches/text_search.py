"""Search in texts: scopes and time first, then words, then places.

The engines give documents, the one scorer ranks them; here a hit becomes a page, a file or the
symbol around the place that matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from pcpfs.model.answers import FrameView, Pins, SearchAnswer, SearchHit
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import FrameId
from pcpfs.model.pages import Facets
from pcpfs.model.texts import decoded
from pcpfs.ports import SearchIndex
from pcpfs.search.excerpt import (
    LONGEST_EXCERPT,
    Excerpt,
    excerpt,
    locate,
    phrase_filter,
    span_of,
)
from pcpfs.search.query import Query, parse
from pcpfs.search.ranking import Hit, rank, ranked
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.documents import Documents
from pcpfs.store.searches.eligible import Eligible
from pcpfs.store.searches.page_hits import PageHits
from pcpfs.store.searches.search_request import EVENT, NOW, PROJECTIONS, SYMBOL, Search
from pcpfs.store.searches.sorts import of_wanted_sorts

_MOST_KEYS = 100_000

Readers = Callable[[str, int], Sequence[SearchIndex]]
"""The text indexes of a scope: of its current documents (0) or of past ones (1)."""


class TextSearch:
    """Answers text searches from one catalog."""

    def __init__(self, reader: Reader, documents: Documents, readers: Readers) -> None:
        self._readers = readers
        self._reader = reader
        self._catalog: Catalog = reader.catalog
        self._documents = documents
        self._page_hits = PageHits(reader, documents)
        self._pages: dict[str, PageRow | None] = {}

    def run(self, search: Search) -> SearchAnswer:
        """Hits best first; an empty question has none."""
        return search.answer(self.hits(search))

    def hits(self, search: Search) -> Iterator[SearchHit]:
        """All hits one by one, best first; few are looked for until more are asked for."""
        return self._hits(search, parse(search.text))

    def verbatim(self, search: Search, text: str) -> Iterator[SearchHit]:
        """Pages and symbols in which a text stands just so, upper and lower case included."""
        query = parse('"' + text.replace('"', " ") + '"')
        for hit in self._hits(search, query, lambda key: self._holds(key, text)):
            yield replace(hit, channel="exact", why="verbatim in the text")

    def keys_with_all(self, search: Search) -> set[str]:
        """The revisions of pages that have all words of the question."""
        query = parse(search.text)
        allowed = self._allowed(search, query)
        hits = rank(self._indexes(search), query, allowed=allowed, limit=_MOST_KEYS)
        words = max((len(hit.matches) for hit in hits), default=0)
        return (
            {h.key for h in hits if _is_body(h.key) and len(h.matches) == words}
            if (words >= len(query.clauses))
            else set()
        )

    def _indexes(self, search: Search) -> list[SearchIndex]:
        indexes = [i for s in search.scopes for i in self._readers(s, 0)]
        if search.pins != NOW or search.filters.statuses != ("active",):
            indexes += [i for s in search.scopes for i in self._readers(s, 1)]
        return indexes

    def _hits(
        self, search: Search, query: Query, also: Callable[[str], bool] | None = None
    ) -> Iterator[SearchHit]:
        given: set[str] = set()
        allowed = self._allowed(search, query)
        both = allowed if also is None else lambda key: allowed(key) and also(key)
        indexes = self._indexes(search)
        for hit in ranked(indexes, query, allowed=both, expected=search.wanted):
            result = self._result(search, query, hit)
            identity = result.frame_id or result.page_id
            if identity not in given and search.filters.takes(result.kind):
                given.add(identity)
                yield result

    def _allowed(self, search: Search, query: Query) -> Callable[[str], bool]:
        pinned = search.pins != NOW
        eligible = Eligible(self._reader, search)
        phrases = phrase_filter(query, self._texts)
        is_wanted = of_wanted_sorts(self._catalog, search.filters)

        def allowed(key: str) -> bool:
            if not is_wanted(key):
                return False
            page = self._page_of(key)
            if page is None or not eligible.page(page):
                return False
            if pinned and not self._held(key, search.pins):
                return False
            if not eligible.is_plain or (pinned and page.lifecycle != "active"):
                if _is_body(key):
                    if not eligible.revision(page, key):
                        return False
                elif not eligible.frame(page, self._run(key, search.pins)):
                    return False
            return phrases is None or phrases(key)

        return allowed

    def _holds(self, key: str, text: str) -> bool:
        return any(text in (t if isinstance(t, str) else decoded(t)) for t in self._texts(key))

    def _page_of(self, key: str) -> PageRow | None:
        if key not in self._pages:
            self._pages[key] = self._found_page(key)
        return self._pages[key]

    def _found_page(self, key: str) -> PageRow | None:
        table, column = ("revision", "revision_id") if _is_body(key) else ("frame", "doc_key")
        rows = self._catalog.query(
            f"SELECT page.* FROM {table} JOIN page USING (page_id) "
            f"WHERE {table}.{column} = ? LIMIT 1",
            (key,),
        )
        return PageRow(*rows[0]) if rows else None

    def _held(self, key: str, pins: Pins) -> bool:
        if pins.as_of is None:
            current = "SELECT 1 FROM document WHERE key = ? AND past = 0"
            return bool(self._catalog.query(current, (key,)))
        table, column = ("span", "revision_id") if _is_body(key) else ("frame", "doc_key")
        condition, parameters = holds(pins, table)
        return bool(
            self._catalog.query(
                f"SELECT 1 FROM {table} WHERE {column} = ? AND {condition}", (key, *parameters)
            )
        )

    def _texts(self, key: str) -> Iterable[str | bytes]:
        page = self._page_of(key)
        document = page and self._documents.document(page.scope, key)
        if not document:
            return ()
        return (
            document.name,
            document.signature,
            document.path,
            document.title,
            document.prose,
            document.body,
        )

    def _result(self, search: Search, query: Query, hit: Hit) -> SearchHit:
        page = self._page_of(hit.key)
        assert page is not None, "only documents of known pages are allowed"
        if not _is_body(hit.key):
            row = self._run(hit.key, search.pins)
            return self._symbol_hit(query, hit, page, row, "symbol" if hit.exact else "text")
        if page.is_source:
            around = self._symbol_around(search, query, hit, page)
            if around is not None:
                return self._symbol_hit(query, hit, page, around, "body")
        return self._page_hit(search, query, hit, page)

    def _run(self, key: str, pins: Pins) -> FrameRow:
        condition, parameters = holds(pins, "frame")
        rows = self._catalog.frames(f"doc_key = ? AND {condition}", (key, *parameters))
        return (rows or self._catalog.frames("doc_key = ?", (key,)))[-1]

    def _symbol_around(
        self, search: Search, query: Query, hit: Hit, page: PageRow
    ) -> FrameRow | None:
        """The innermost symbol that holds most of the words; None where they stand outside."""
        if not search.filters.takes(SYMBOL) and all(
            k in ("page", "file", EVENT) for k in search.filters.kinds
        ):
            return None
        if any(match.fields and set(match.fields) <= {"path", "title"} for match in hit.matches):
            return None
        condition, parameters = holds(search.pins, "frame")
        rows = self._catalog.frames(
            f"page_id = ? AND kind <> ? AND {condition}", (page.page_id, FILE_KIND, *parameters)
        )
        if not rows:
            return None
        text = decoded(self._payload(page, hit.key))
        views = [self._reader.frame_view(row, page) for row in rows] if search.pins.as_of else None
        spans = [v.lines for v in views] if views else [(r.line_a, r.line_b) for r in rows]
        best = span_of(locate(text, query), spans)
        return None if best is None else rows[best]

    def _symbol_hit(
        self, query: Query, hit: Hit, page: PageRow, row: FrameRow, channel: str
    ) -> SearchHit:
        view = self._reader.frame_view(row, page)
        shown = None if channel == "body" else _shown_at_once(view, query, hit)
        if shown is None:
            shown = self._within(query, page, view)
        if channel != "body":
            shown = Excerpt(view.lines, shown.text)
        return symbol_hit(view, channel, hit.score, _why(hit), shown=shown)

    def _within(self, query: Query, page: PageRow, view: FrameView) -> Excerpt:
        """The lines of a symbol that show most of the words; its text alone is looked through."""
        first, last = view.lines
        lines = decoded(self._payload(page, view.revision_id)).split("\n")[first - 1 : last]
        found = excerpt("\n".join(lines), query)
        if found is None:
            return Excerpt(view.lines, view.signature)
        start, end = found.lines
        return Excerpt((first + start - 1, first + end - 1), found.text)

    def _page_hit(self, search: Search, query: Query, hit: Hit, page: PageRow) -> SearchHit:
        return self._page_hits.hit(
            page,
            hit.key,
            search.pins,
            channel="text",
            score=hit.score,
            why=_why(hit),
            query=query,
        )

    def _payload(self, page: PageRow, revision: str) -> bytes:
        return self._page_hits.payload(page, revision)


def _shown_at_once(view: FrameView, query: Query, hit: Hit) -> Excerpt | None:
    """Signature and first line of documentation, if they show all the words that were found."""
    text = "\n".join(filter(None, (view.signature, view.doc)))
    words = {place.word for place in locate(text, query)}
    enough = all(match.word in words or "path" in match.fields for match in hit.matches)
    return Excerpt(view.lines, text[:LONGEST_EXCERPT]) if enough else None


def symbol_hit(
    view: FrameView, channel: str, score: float, why: str, *, shown: Excerpt
) -> SearchHit:
    """A frame as a result; `shown` is what to look at, within the symbol."""
    return SearchHit(
        page_id=view.page_id,
        revision_id=view.revision_id,
        frame_id=FrameId(view.frame_id),
        scope=view.scope,
        kind=view.kind,
        title=view.qualified_name,
        citation_label=view.citation_label,
        path=view.path,
        root=view.root,
        lines=shown.lines,
        qualified_name=view.qualified_name,
        signature=view.signature,
        language=view.language,
        digest=view.digest,
        channel=channel,
        score=score,
        why=why,
        excerpt=shown.text,
        facets=Facets(),
        projections=PROJECTIONS,
        suspect=None,
        valid_from=view.valid_from,
        valid_to=view.valid_to,
        test=view.test,
        generated=view.generated,
    )


def _is_body(key: str) -> bool:
    return key.startswith("rev_")


def _why(hit: Hit) -> str:
    return ", ".join(f"{match.word} in {'+'.join(match.fields)}" for match in hit.matches)
