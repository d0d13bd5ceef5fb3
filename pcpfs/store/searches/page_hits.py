"""A page or file as a search result."""

from __future__ import annotations

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins, SearchHit
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.marks import is_test
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EVENT, PROJECTIONS
from pcpfs.model.texts import decoded
from pcpfs.search.excerpt import excerpt
from pcpfs.search.query import Query, parse
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import PageRow, SpanRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.citations import suspicions
from pcpfs.store.searches.documents import Documents

_SHOWN = 300


class PageHits:
    """Makes results of pages, each at one revision, with the channel that found it and why."""

    def __init__(self, reader: Reader, documents: Documents) -> None:
        self._reader = reader
        self._documents = documents

    def hit(
        self,
        page: PageRow,
        revision: str,
        pins: Pins,
        *,
        channel: str,
        score: float,
        why: str,
        query: Query | None = None,
    ) -> SearchHit:
        """The excerpt shows the words of the query, else how the text begins."""
        body = self._reader.envelope(page, revision)
        raw = self.payload(page, revision)
        text = None if b"\0" in raw[:8192] else decoded(raw)
        shown = excerpt(text, query or parse("")) if text is not None else None
        beginning = text[:_SHOWN] if text is not None and query is None else ""
        span = self._span(page, revision, pins)
        root = self._reader.root_name(page.root_id)
        title = self._reader.title(page, revision)
        label = f"{root}/{page.path}" if page.is_source else f"{title} ({page.scope})"
        suspect = not page.is_source and bool(suspicions(self._reader.catalog, page.page_id))
        where = body.payload or body.content_ref
        return SearchHit(
            page_id=PageId(page.page_id),
            revision_id=RevisionId(revision),
            frame_id=None,
            scope=page.scope,
            kind=kind_of(page),
            title=title,
            citation_label=label,
            path=self._reader.shown_path(page),
            root=root,
            lines=shown.lines if shown else None,
            qualified_name=None,
            signature=None,
            language=page.language,
            digest=getattr(where, "ref", getattr(where, "digest", None)),
            channel=channel,
            score=score,
            why=why,
            excerpt=shown.text if shown else beginning,
            facets=body.facets,
            projections=PROJECTIONS,
            suspect=True if suspect else None,
            valid_from=Instant(span.valid_from),
            valid_to=None if span.valid_to is None else Instant(span.valid_to),
            lifecycle_status=_status(page, revision),
            test=(page.is_source and is_test(page.path or "")) or None,
            generated=bool(page.generated) or None,
        )

    def payload(self, page: PageRow, revision: str) -> bytes:
        """The bytes of a revision; none where they are not here."""
        payload = self._reader.envelope(page, revision).payload
        if payload is None:
            return b""
        try:
            return self._documents.payload(Namespace(page.scope), payload.ref)
        except NotFound:
            return b""

    def _span(self, page: PageRow, revision: str, pins: Pins) -> SpanRow:
        spans = [s for s in self._reader.catalog.spans(page.page_id) if s.revision_id == revision]
        if pins.as_of is not None:
            moment = pins.as_of.microseconds
            held = [s for s in spans if s.valid_from <= moment]
            return (held or spans)[-1]
        return spans[-1]


def kind_of(page: PageRow) -> str:
    return FILE_KIND if page.is_source else EVENT if page.is_event else "page"


def _status(page: PageRow, revision: str) -> str | None:
    """The lifecycle where it is not the ordinary one."""
    if page.lifecycle != "active":
        return page.lifecycle
    heads = [page.revision_id] if page.is_source else decode_list(page.heads)
    return None if revision in heads else "superseded"
