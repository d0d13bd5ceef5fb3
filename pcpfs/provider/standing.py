"""Looking again: the bytes of a page as they stand on the disk while an answer is made.

A source is read at the moment of serving and compared by digest: one that has changed is served as
it is now, or not at all. What held only in the past, and what pages and events say, is read from
the immutable files of the store, whose names are their digests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import NotFound, PcpfsError
from pcpfs.model.answers import Pins
from pcpfs.model.frames import Extraction, Symbol, frame_ids
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, unescaped
from pcpfs.model.pages import Payload, Revision
from pcpfs.ports import AdapterRegistry
from pcpfs.provider.cutting import Text
from pcpfs.provider.naming import file_uri, page_uri, range_of
from pcpfs.sources.extraction_worker import extract
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Root
from pcpfs.sources.scanned import Content
from pcpfs.store import layout
from pcpfs.store.catalogs.rows import PageRow, SpanRow
from pcpfs.store.events.event_lines import event_places
from pcpfs.store.reading import Reader
from pcpfs.store.scopes.secrets import AllowList, source_findings
from pcpfs.store.store import Store


@dataclass(frozen=True, slots=True)
class Evidence:
    """Bytes of a file that were just read, for anyone to read again (F5)."""

    uri: str
    range: str | None
    digest: Digest


@dataclass(frozen=True, slots=True)
class Standing:
    """What a page holds now, or held at the pinned instant.

    `evidence` is the file with these very bytes, without a range; None where the text is a part of
    another file, which `elsewhere` then is. `pinned`: these bytes are meant for good, whatever the
    page becomes. `symbols` is given where the bytes are not those that the store has seen.
    """

    page: PageRow
    span: SpanRow
    body: Revision
    text: Text
    uri: str
    file: str | None
    elsewhere: Evidence | None = None
    pinned: bool = False
    symbols: Mapping[str, Symbol] | None = None
    since: Instant | None = None

    @property
    def has_changed(self) -> bool:
        return self.symbols is not None


class Looking:
    """Looks at each page once for one answer."""

    def __init__(
        self,
        store: Store,
        reader: Reader,
        pins: Pins,
        roots: Mapping[str, Root],
        registry: Callable[[], AdapterRegistry],
    ) -> None:
        self._store = store
        self._reader = reader
        self._moment = pins.as_of
        self._roots = roots
        self._registry = registry
        self._seen: dict[tuple[str, int], Standing | None] = {}

    def at(self, page: PageRow, span: SpanRow) -> Standing | None:
        """What stands there; None where that cannot be shown to anyone."""
        key = (page.page_id, span.ordinal)
        if key not in self._seen:
            self._seen[key] = self._look(page, span)
        return self._seen[key]

    def stored(self, page: PageRow, span: SpanRow) -> Standing | None:
        """One revision as the store keeps it, whatever stands elsewhere."""
        return self._stored(page, span, pinned=True)

    def _look(self, page: PageRow, span: SpanRow) -> Standing | None:
        if page.is_source:
            root = self._roots.get(page.root_id or "")
            return self._source(root, page, span) if root else self._unbound(page, span)
        held = self._moment is not None and span.revision_id != page.revision_id
        return self._stored(page, span, pinned=held)

    def _unbound(self, page: PageRow, span: SpanRow) -> Standing | None:
        """A source that lies on another machine: what its observer saw is all there is."""
        return self._stored(page, span, pinned=span.valid_to is not None)

    def _source(self, root: Root, page: PageRow, span: SpanRow) -> Standing | None:
        path = unescaped(page.path or "")
        outcome = read_stable(root.path, path, root.options.max_size)
        body = self._body(page, span)
        if not isinstance(outcome, Content):
            return self._past(page, span)
        same = body.payload is not None and body.payload.ref == outcome.candidate.digest
        uri = file_uri(Path(os.path.join(root.path, path)))
        if same:
            return Standing(page, span, body, Text(outcome.data), uri, uri)
        if source_findings(outcome.data, AllowList.of(self._store.catalog, Namespace(page.scope))):
            return None  # the next sync withholds it
        modified = Instant.of_nanoseconds(outcome.candidate.stat.mtime_ns)
        if self._moment is not None and (span.valid_to is not None or self._moment < modified):
            return self._stored(page, span, pinned=True)
        symbols = self._symbols(page, path, outcome.data)
        return Standing(
            page, span, body, Text(outcome.data), uri, uri, symbols=symbols, since=modified
        )

    def _past(self, page: PageRow, span: SpanRow) -> Standing | None:
        """A file that is gone or cannot be read speaks only for a time that is over."""
        over = self._moment is not None and span.valid_to is not None
        return self._stored(page, span, pinned=True) if over else None

    def _symbols(self, page: PageRow, path: str, data: bytes) -> Mapping[str, Symbol]:
        seen = extract(self._registry(), path, data)
        symbols = seen.symbols if isinstance(seen, Extraction) else ()
        return {f.frame_id: f.symbol for f in frame_ids(PageId(page.page_id), symbols)}

    def _body(self, page: PageRow, span: SpanRow) -> Revision:
        return self._reader.envelope(page, span.revision_id)

    def _stored(self, page: PageRow, span: SpanRow, *, pinned: bool) -> Standing | None:
        try:
            body = self._body(page, span)
            if body.payload is None:
                return None
            raw = self._store.objects.payload(Namespace(page.scope), body.payload.ref)
        except PcpfsError:
            return None  # missing, damaged or thinned out: fsck tells which
        file, elsewhere = self._files(page, span, body.payload)
        if file is None and elsewhere is None:
            return None
        uri = page_uri(self._store.store_id, page.page_id, span.revision_id)
        return Standing(page, span, body, Text(raw), uri, file, elsewhere, pinned)

    def _files(
        self, page: PageRow, span: SpanRow, payload: Payload
    ) -> tuple[str | None, Evidence | None]:
        path = self._store.path / layout.payload_file(Namespace(page.scope), payload.ref)
        if path.is_file():
            return file_uri(path), None
        return None, self._event_line(span)

    def _event_line(self, span: SpanRow) -> Evidence | None:
        """The line of its segment that an event stands on."""
        for row in event_places(self._reader.catalog, "revision_id = ?", span.revision_id):
            path = self._store.path / row.path
            try:
                text = Text(self._store.objects.read(row.path))
            except NotFound:
                continue
            line = text.line_of(row.start)
            cut = text.lines((line, line))
            if cut is not None:
                place = None if cut.lines is None else range_of(cut.lines)
                return Evidence(file_uri(path), place, cut.digest)
        return None
