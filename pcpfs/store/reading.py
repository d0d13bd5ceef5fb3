"""Reading pages: every projection, now or under time pins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from pcpfs.errors import NotFound
from pcpfs.model.answers import (
    Difference,
    FrameView,
    LogEntry,
    Manifest,
    Pins,
    RelationView,
)
from pcpfs.model.changes import Relation
from pcpfs.model.frames import FILE_KIND, Frame, Symbol, frame_ids
from pcpfs.model.front import read_front
from pcpfs.model.ids import ChangeId, Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.marks import is_test
from pcpfs.model.names import Namespace
from pcpfs.model.pages import ContentRef, Facets, Payload, Principal, ProvenanceEvent, Revision
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow, PageRow, RelationRow, SpanRow
from pcpfs.store.differences import unified
from pcpfs.store.events.event_lines import event_places
from pcpfs.store.folding.thinned import payload_of
from pcpfs.store.objects import Objects
from pcpfs.store.page_log import beside_spans, page_log
from pcpfs.store.references import Reference, absence, resolve
from pcpfs.store.searches.citations import suspicions
from pcpfs.store.sightings import Sighting
from pcpfs.store.trees.tree import wanted_files


class Reader:
    """Answers from one catalog (perhaps one pinned to a record time) and the objects."""

    def __init__(
        self,
        catalog: Catalog,
        objects: Objects,
        owner: Principal,
        pins: Pins,
        elsewhere: Callable[[ContentRef], bytes] | None = None,
    ) -> None:
        self.catalog = catalog
        self._elsewhere = elsewhere
        self.objects = self._objects = objects
        self._owner = owner
        self._pins = pins
        self._roots = {row.root_id: row.name for row in catalog.roots()}

    def under(self, pins: Pins) -> Reader:
        """The same state of the store under other instants of valid time."""
        return Reader(self.catalog, self._objects, self._owner, pins, self._elsewhere)

    def resolve(self, given: str) -> Reference:
        """What an id, a prefix or a path means under the pins; see `references.resolve`."""
        return resolve(self.catalog, given, self._pins.as_of)

    def page(self, page_id: str) -> PageRow:
        row = self.catalog.page(page_id)
        if row is None:
            raise NotFound(f"there is no page {page_id}" + self._when())
        return row

    def root_name(self, root_id: str | None) -> str | None:
        return None if root_id is None else self._roots.get(root_id, root_id)

    def effective(self, reference: Reference) -> tuple[PageRow, SpanRow]:
        """The page and the revision that the reference and the pins mean (PCP-R2)."""
        page = self.page(reference.page)
        spans = self.catalog.spans(page.page_id)
        if reference.revision is not None:
            spans = [span for span in spans if span.revision_id == reference.revision]
            spans = spans or self._beside(page, reference.revision)
        elif self._pins.as_of is not None:
            spans = [span for span in spans if _holds(span, self._pins.as_of.microseconds)]
        else:
            spans = [span for span in spans if span.revision_id == page.revision_id]
        if not spans:
            raise NotFound(f"{page.title} ({page.page_id}) has nothing that held" + self._when())
        return page, spans[-1]

    def _beside(self, page: PageRow, revision: str | None = None) -> list[SpanRow]:
        rows = self.catalog.besides("page_id = ?", (page.page_id,)) if page.is_source else []
        return beside_spans(rows, revision)

    def envelope(self, page: PageRow, revision: str) -> Revision:
        return self._objects.revision(
            Namespace(page.scope), PageId(page.page_id), RevisionId(revision)
        )

    def title(self, page: PageRow, revision: str) -> str:
        """What a page was called in one of its revisions."""
        if page.is_source or revision == page.revision_id:
            return page.title
        body = self.envelope(page, revision)
        payload = body.payload
        if body.facets.title or payload is None or not payload.media_type.startswith("text/"):
            return body.facets.title or page.title
        return read_front(self._bytes(page, payload)).title or page.page_id

    def shown_path(self, page: PageRow) -> str | None:
        """Where a person finds it: the file in `tree/` from the store on, or the path of a source
        from its root on."""
        if page.is_source:
            return page.path
        if page.is_event:
            rows = event_places(self.catalog, "revision_id = ?", page.revision_id)
            return rows[0].path if rows else None
        return next(iter(wanted_files(self.catalog, [page])), None)

    def manifest(self, given: str) -> Manifest:
        page, span = self.effective(self.resolve(given))
        body = self.envelope(page, span.revision_id)
        created_at, created_by, provenance = self._origin(page, body)
        heads = tuple(map(RevisionId, decode_list(page.heads)))
        superseded = not page.is_source and span.revision_id not in heads
        return Manifest(
            page_id=PageId(page.page_id),
            revision_id=RevisionId(span.revision_id),
            heads=heads,
            scope=page.scope,
            kind="source" if page.is_source else "event" if page.is_event else "page",
            title=self.title(page, span.revision_id),
            path=self.shown_path(page),
            owner_id=str(self._owner),
            namespace=page.scope,
            visibility=self.catalog.visibility(page.scope),
            lifecycle_status="superseded"
            if superseded and page.lifecycle == "active"
            else page.lifecycle,
            payload=body.payload,
            source_refs=body.source_refs,
            provenance=provenance,
            created_at=created_at,
            created_by=created_by,
            facets=body.facets,
            epistemic=body.epistemic,
            valid_from=Instant(span.valid_from),
            valid_to=None if span.valid_to is None else Instant(span.valid_to),
            observed_at=Instant(span.recorded_at) if page.is_source else body.observed_at,
            root=self.root_name(page.root_id),
            language=page.language,
            error_count=page.error_count,
            test=(page.is_source and is_test(page.path or "")) or None,
            generated=bool(page.generated) or None,
            incomplete=True if page.incomplete else None,
            suspect=suspicions(self.catalog, page.page_id) or None,
            content_ref=body.content_ref,
            as_of=self._pins.as_of,
            recorded_as_of=self._pins.recorded_as_of,
        )

    def payload(self, given: str) -> bytes:
        """Exactly the bytes of the effective revision."""
        page, span = self.effective(self.resolve(given))
        body = self.envelope(page, span.revision_id)
        if body.content_ref is not None and self._elsewhere is not None:
            return self._elsewhere(body.content_ref)
        return self._bytes(page, body.payload)

    def facets(self, given: str) -> Facets:
        page, span = self.effective(self.resolve(given))
        return self.envelope(page, span.revision_id).facets

    def frame(self, given: str) -> FrameView:
        """A frame where it holds under the pins; without pins also one that has closed."""
        reference = self.resolve(given)
        if reference.frame is None:
            raise NotFound(f"{given!r} is no frame")
        return self.frame_view(self._frame_row(reference.frame))

    def frame_source(self, given: str) -> bytes:
        """Exactly the bytes of a symbol."""
        view = self.frame(given)
        page = self.page(view.page_id)
        raw = self._bytes(page, self.envelope(page, view.revision_id).payload)
        return raw[view.bytes[0] : view.bytes[1]]

    def frames_of(self, given: str) -> tuple[FrameView, ...]:
        """The frames of a source page that hold under the pins, the whole file first."""
        reference = self.resolve(given)
        condition, parameters = holds(self._pins, "frame")
        rows = self.catalog.frames(f"page_id = ? AND {condition}", (reference.page, *parameters))
        page = self.page(reference.page)
        return tuple(self.frame_view(row, page) for row in rows)

    def frame_view(self, row: FrameRow, page: PageRow | None = None) -> FrameView:
        """A run as served, at its place in the observation that the pins mean."""
        page = page or self.page(row.page_id)
        revision, lines, span = row.revision_id, (row.line_a, row.line_b), (row.byte_a, row.byte_b)
        if self._pins.as_of is not None:
            revision, placed = self._placed(page, row)
            lines, span = placed.symbol.lines, placed.symbol.bytes
        root = self.root_name(page.root_id) or ""
        return FrameView(
            frame_id=FrameId(row.frame_id),
            page_id=PageId(row.page_id),
            revision_id=RevisionId(revision),
            scope=page.scope,
            root=root,
            path=page.path or "",
            kind=row.kind,
            name=row.name,
            qualified_name=row.qualified_name,
            signature=row.signature,
            doc=row.doc,
            lines=lines,
            bytes=span,
            digest=Digest(row.digest),
            citation_label=symbol_label(root, page, row, lines[0]),
            valid_from=Instant(row.valid_from),
            valid_to=None if row.valid_to is None else Instant(row.valid_to),
            language=page.language or "",
            test=is_test(page.path or "") or None,
            generated=bool(page.generated) or None,
        )

    def relations(self, given: str, direction: str = "both") -> tuple[RelationView, ...]:
        """Relations of a page, out of it and into it (PCP-L1)."""
        page = self.resolve(given).page
        found = []
        if direction in ("out", "both"):
            rows = self.catalog.relations("from_page = ?", (page,))
            found += [self.relation_view(row, "out", row.to_page) for row in rows]
        if direction in ("in", "both"):
            rows = self.catalog.relations("to_page = ? AND from_page <> ?", (page, page))
            found += [self.relation_view(row, "in", row.from_page) for row in rows]
        return tuple(found)

    def log(self, given: str) -> tuple[LogEntry, ...]:
        """A page's life, newest first, without what other branches of a source say."""
        return page_log(self, given)

    def diff(self, given: str, before: str | None, after: str | None) -> Difference:
        """Two revisions of a page; by default the effective one against what came before it."""
        reference = self.resolve(given)
        page, new = self.effective(self._version(reference, after))
        return self.difference(page, self._before(page, reference, before, new), new)

    def difference(self, page: PageRow, old: SpanRow | None, new: SpanRow) -> Difference:
        """Two observations or revisions of a page; the first may be none."""
        old_bytes = self._bytes_of(page, old)
        new_bytes = self._bytes_of(page, new)
        binary = b"\0" in old_bytes or b"\0" in new_bytes
        name = page.path or page.title
        return Difference(
            page_id=PageId(page.page_id),
            before=None if old is None else RevisionId(old.revision_id),
            after=RevisionId(new.revision_id),
            text="" if binary else unified(name, old_bytes, new_bytes),
            binary=binary,
            symbols=self._symbol_diff(page, old, new) if page.is_source else None,
        )

    def _version(self, reference: Reference, given: str | None) -> Reference:
        if given is None:
            return reference
        found = self.resolve(given if "_" in given else f"{reference.page}@{given}")
        if found.page != reference.page:
            raise NotFound(f"{given} is no revision of {reference.page}")
        return found

    def _before(
        self, page: PageRow, reference: Reference, given: str | None, new: SpanRow
    ) -> SpanRow | None:
        if given is not None:
            return self.effective(self._version(reference, given))[1]
        spans = self.catalog.spans(page.page_id)
        if page.is_source:
            earlier = [s for s in spans if s.ordinal < new.ordinal]
        else:
            parents = decode_list(new.parents)
            earlier = [s for s in spans if s.revision_id in parents]
        return earlier[-1] if earlier else None

    def _symbol_diff(
        self, page: PageRow, old: SpanRow | None, new: SpanRow
    ) -> Mapping[str, tuple[str, ...]]:
        before = {} if old is None else self._symbols(page, old)
        after = self._symbols(page, new)
        changed = [f for f in after if f in before and _digest(after[f]) != _digest(before[f])]
        return {
            "added": _names(after[f] for f in after if f not in before),
            "removed": _names(before[f] for f in before if f not in after),
            "changed": _names(after[f] for f in changed),
        }

    def _symbols(self, page: PageRow, span: SpanRow) -> dict[FrameId, Frame]:
        change = ChangeId(span.change_id)
        return self.symbols(page.page_id, span.revision_id, span.adapter, change)

    def symbols(
        self, page_id: str, revision: str, adapter: str | None, change: ChangeId | None = None
    ) -> dict[FrameId, Frame]:
        """What an adapter saw in a revision of a source page, but for the file itself; `change` may
        tell of it where there is no frames file."""
        page = self.page(page_id)
        payload = self.envelope(page, revision).payload
        if payload is None or adapter is None:
            return {}
        namespace, page_id = Namespace(page.scope), PageId(page.page_id)
        sighting = Sighting(payload.ref, adapter, RevisionId(revision), change)
        seen = self._objects.sightings.seen(namespace, page_id, sighting).extraction
        return {f.frame_id: f for f in frame_ids(page_id, seen.symbols)}

    def _placed(self, page: PageRow, row: FrameRow) -> tuple[str, Frame]:
        """Where a run's frame stands in the observation at the pinned instant."""
        _, span = self.effective(Reference(PageId(page.page_id)))
        if row.kind == FILE_KIND or span.revision_id == row.revision_id:
            symbols = {} if row.kind == FILE_KIND else self._symbols(page, span)
            return span.revision_id, symbols.get(FrameId(row.frame_id)) or _as_frame(row)
        return span.revision_id, self._symbols(page, span)[FrameId(row.frame_id)]

    def _frame_row(self, frame: FrameId) -> FrameRow:
        condition, parameters = holds(self._pins, "frame")
        rows = self.catalog.frames(f"frame_id = ? AND {condition}", (frame, *parameters))
        if not rows and self._pins.as_of is None:
            rows = self.catalog.frames("frame_id = ?", (frame,))
        if not rows:
            raise NotFound(f"frame {frame} did not hold" + self._when())
        return rows[-1]

    def relation_view(self, row: RelationRow, direction: str, other: str) -> RelationView:
        """A relation as served to who comes from its other end."""
        page = self.catalog.page(other)
        relation = Relation.from_json(json.loads(row.body))
        return RelationView(  # a digest of bytes that somebody may not read is told nobody (PCP-L3)
            relation if page else replace(relation, to_digest=None),
            PageId(row.from_page),
            direction,
            page.title if page else other,
            page.lifecycle if page else absence(self.catalog, other),
        )

    def _origin(
        self, page: PageRow, body: Revision
    ) -> tuple[Instant, Principal, tuple[ProvenanceEvent, ...]]:
        """Author and time; for a source revision those of its earliest observation."""
        if body.created_at is not None and body.created_by is not None:
            return body.created_at, body.created_by, body.provenance
        spans = self.catalog.spans(page.page_id) or self._beside(page)
        first = min(spans, key=lambda span: (span.recorded_at, span.ordinal))
        at, actor = Instant(first.recorded_at), Principal(first.actor)
        return at, actor, (ProvenanceEvent("import", actor, at, (), first.adapter),)

    def _bytes_of(self, page: PageRow, span: SpanRow | None) -> bytes:
        return (
            b""
            if span is None
            else self._bytes(page, self.envelope(page, span.revision_id).payload)
        )

    def _bytes(self, page: PageRow, payload: Payload | None) -> bytes:
        if payload is None:
            raise NotFound(f"{page.title} ({page.page_id}) has no payload here, only source refs")
        return payload_of(self._objects, self.catalog, page, payload)

    def _when(self) -> str:
        pins = [
            f" {name} {moment}"
            for name, moment in (
                ("as of", self._pins.as_of),
                ("recorded as of", self._pins.recorded_as_of),
            )
            if moment is not None
        ]
        return ",".join(pins)


def symbol_label(root: str, page: PageRow, row: FrameRow, line: int) -> str:
    """`Router.match (app/router.py:41)`: never a bare id (CGP F3)."""
    place = f"{root}/{page.path}"
    return place if row.kind == FILE_KIND else f"{row.qualified_name} ({place}:{line})"


def _holds(span: SpanRow, moment: int) -> bool:
    return span.valid_from <= moment and (span.valid_to is None or moment < span.valid_to)


def _digest(frame: Frame) -> Digest:
    return frame.symbol.digest


def _names(frames: Iterable[Frame]) -> tuple[str, ...]:
    return tuple(frame.symbol.qualified_name for frame in frames)


def _as_frame(row: FrameRow) -> Frame:
    return Frame(
        FrameId(row.frame_id),
        Symbol(
            row.kind,
            row.name,
            row.qualified_name,
            row.signature,
            row.doc,
            (row.line_a, row.line_b),
            (row.byte_a, row.byte_b),
            Digest(row.digest),
        ),
    )
