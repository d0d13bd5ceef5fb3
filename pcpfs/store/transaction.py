"""One atomic operation: collects objects and changes, makes them durable, then tells everybody.

Order (DESIGN §2): intent → payloads, frames, revisions → changes = acknowledged → catalog →
`tree/` → git commit → intent removed. A crash before the changes leaves nothing that counts; one
after them is finished by `recover` at the next opening.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.changes import Change, Event, ScopeTitled
from pcpfs.model.events import EventLine
from pcpfs.model.frame_differences import Difference
from pcpfs.model.frames import Extraction
from pcpfs.model.front import read_front
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal, Revision
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.refresh import refold_paths
from pcpfs.store.catalogs.rows import PageRows
from pcpfs.store.catalogs.seen_frames import Bodies
from pcpfs.store.events.event_segments import Segment, take_in
from pcpfs.store.folding.continuing import continued
from pcpfs.store.folding.fold import Changes, PageState, fold_page
from pcpfs.store.folding.projection import page_rows
from pcpfs.store.intents import Committed, Intent, conclude, settled, waiting, withdraw
from pcpfs.store.sightings import Sight, Sighting
from pcpfs.store.trees.tree import NOTHING_SEEN, Seen
from pcpfs.store.workshop import Workshop, bodies, claims_of, refold_scope

_HELD_BYTES = 128 * 1024 * 1024
"""So much of what is written is kept for the commit; the rest is read again for it."""


@dataclass(slots=True)
class Transaction:
    """Collects what one operation writes. Nothing is on disk before `commit`.

    Only under the store's writer lock. `at` is the record time of all its changes. `alike`: most
    files that are written one after the other are much alike.
    """

    shop: Workshop
    operation: str
    actor: Principal
    at: Instant
    alike: bool = False
    _objects: dict[str, bytes] = field(default_factory=dict)
    _change_files: dict[str, bytes] = field(default_factory=dict)
    _payloads: dict[Digest, bytes] = field(default_factory=dict)
    _extractions: dict[tuple[Digest, str], Extraction] = field(default_factory=dict)
    _revisions: dict[RevisionId, Revision] = field(default_factory=dict)
    _pages: dict[PageId, tuple[Namespace, dict[ChangeId, Change]]] = field(default_factory=dict)
    _adopted: set[PageId] = field(default_factory=set)
    _scopes: dict[Namespace, dict[ChangeId, Change]] = field(default_factory=dict)
    _segments: list[Segment] = field(default_factory=list)
    _receipts: list[str] = field(default_factory=list)
    _done: dict[str, bytes | Path] = field(default_factory=dict)
    _held: int = 0
    _carried: tuple[str, ...] = ()
    _parts: int = 0
    _no_links: set[str] = field(default_factory=set)
    _about: tuple[str, tuple[tuple[str, str], ...]] = ("", ())

    def payload(self, namespace: Namespace, raw: bytes) -> Digest:
        """Keep these bytes; writing the same bytes again costs nothing."""
        digest = Digest.of(raw)
        self._objects[layout.payload_file(namespace, digest)] = raw
        self._payloads[digest] = raw
        return digest

    def extraction(
        self,
        namespace: Namespace,
        digest: Digest,
        seen: Extraction,
        before: tuple[PageId, Sighting | None] | None = None,
    ) -> Difference | None:
        """Keep what an adapter saw in the payload of that digest. What comes back is for the
        `observed` event to tell: the difference from what was seen of the page `before`, where that
        takes the place of a frames file."""
        path = layout.frames_file(namespace, digest, seen.adapter_tag)
        difference = None
        if path not in self._objects and path not in self._done:
            raw = seen.encode()
            if before is not None and self._is_new(path):
                sightings = self.shop.objects.sightings
                difference, steps = sightings.told(namespace, *before, seen, raw)
                sightings.keep(before[0], digest, Sight(seen, steps))
            if difference is None:
                self._objects[path] = raw
        self._extractions[digest, seen.adapter_tag] = seen
        return difference

    def revision(self, revision: Revision) -> RevisionId:
        """Keep an envelope."""
        raw = revision.encode()
        revision_id = RevisionId.of(raw)
        path = layout.revision_file(revision.namespace, revision.page, revision_id)
        self._objects[path] = raw
        self._revisions[revision_id] = revision
        return revision_id

    def change(self, namespace: Namespace, page: PageId, *events: Event) -> ChangeId:
        """Say what happened to a page; after all changes of it that this store has seen."""
        own = self._pages.setdefault(page, (namespace, {}))[1]
        row = None if own else self.shop.catalog.page(page)
        return self._add(namespace, page, own, row and row.latest, events)

    def scope_change(self, namespace: Namespace, *events: Event) -> ChangeId:
        """Say what happened to a scope."""
        own = self._scopes.setdefault(namespace, {})
        rows = [row for row in self.shop.catalog.scopes() if row.scope == namespace]
        return self._add(namespace, None, own, rows[0].latest if rows else None, events)

    def ensure_scope(self, namespace: Namespace, title: str) -> bool:
        """The first write into a scope creates it; whether this was that."""
        known = any(row.scope == namespace for row in self.shop.catalog.scopes())
        if known or namespace in self._scopes:
            return False
        self.scope_change(namespace, ScopeTitled(title))
        return True

    def segment(self, namespace: Namespace, lines: Sequence[EventLine]) -> str:
        """Keep events that happened in a scope, all in one segment; its path."""
        found, raw = Segment.of(namespace, lines)
        self._segments.append(found)
        self._change_files[found.path] = raw
        return found.path

    def receipt(self, receipt: Receipt) -> None:
        """A page that is not to be: nothing is taken in as such."""
        path = layout.receipt_file(receipt.namespace, receipt.page)
        self._change_files[path] = receipt.encode()
        self._receipts.append(path)

    def adopt_object(self, path: str, raw: bytes) -> None:
        """Take over an envelope as it is; the caller has checked it against its name."""
        self._objects[path] = raw

    def adopt_changes(
        self,
        namespace: Namespace,
        page: PageId,
        changes: Mapping[ChangeId, tuple[Change, bytes]],
        *,
        folded: bool,
    ) -> None:
        """Take over changes of a page as they are. Not `folded` if the page is one of a segment of
        this transaction, which is folded with that."""
        for change, (_, raw) in changes.items():
            self._change_files[layout.change_file(namespace, page, change)] = raw
        if folded:
            own = self._pages.setdefault(page, (namespace, {}))[1]
            own.update({change: body for change, (body, _) in changes.items()})
            self._adopted.add(page)

    def carry_on(self, intent: Intent | None) -> None:
        """Take over what an earlier transaction wrote and could not commit."""
        paths = settled(self.shop, intent) if intent else ()
        self._carried = tuple(path for path in paths if (self.shop.root / path).is_file())
        self._done = {path: self.shop.root / path for path in self._carried}

    def title_of(self, page: PageId) -> str | None:
        """What people call a page after this transaction: its new title, else the known one."""
        written = [r for r in self._revisions.values() if r.page == page]
        if written and written[-1].facets.title:
            return written[-1].facets.title
        payload = written[-1].payload if written else None
        if payload is not None and payload.media_type.startswith("text/"):
            return read_front(self._payloads[payload.ref]).title
        row = self.shop.catalog.page(page)
        return row.title if row else None

    @property
    def is_empty(self) -> bool:
        return not (self._change_files or self._done)

    def flush(self) -> None:
        """Make what was collected durable and known to the catalog; the commit comes later.

        For operations too large to hold in memory: each part is acknowledged by itself.
        """
        files = {**self._objects, **self._change_files}
        if not files:
            return
        intent = self._acknowledge({}, NOTHING_SEEN)
        self._catalogue()
        self._parts += 1
        intent.keep_part(self.shop, self._parts)
        self._carried = ()
        self._held += sum(map(len, files.values()))
        on_disk = self._held > _HELD_BYTES
        self._done.update({p: self.shop.root / p if on_disk else raw for p, raw in files.items()})
        for collected in (self._objects, self._change_files, self._payloads, self._extractions):
            collected.clear()
        for mapping in (self._revisions, self._pages, self._scopes):
            mapping.clear()
        self._segments.clear()
        self._receipts.clear()

    def commit(
        self,
        subject: str,
        trailers: Iterable[tuple[str, str]] = (),
        extra: Mapping[str, bytes] | None = None,
        seen: Seen = NOTHING_SEEN,
        catalogued: Callable[[], None] = lambda: None,
    ) -> Committed:
        """Make it durable and tell catalog, `tree/` and git. Raises before anything is
        acknowledged or not at all; what fails after that is a warning, finished at the next
        opening. `extra` are generated files outside of `scopes/`; `catalogued` is called when the
        catalog knows."""
        others = dict(extra or {})
        self._about = (subject, tuple(trailers))
        pages = list(self._pages)
        intent = self._acknowledge(others, seen)
        files = {**self._done, **self._objects, **self._change_files, **others}
        try:
            claims = self._catalogue()
        except PcpfsError as error:
            return Committed(None, (), (waiting(error, None),))
        catalogued()
        only_laid = not (self._change_files or others)
        return conclude(
            self.shop,
            intent,
            files,
            pages,
            claims=claims,
            at=self.at,
            again=only_laid,
            alike=self.alike,
            seen=seen,
        )

    def _acknowledge(self, others: Mapping[str, bytes], seen: Seen) -> Intent:
        """Make everything durable, in order."""
        intent = self._intent(others, seen)
        _refuse_links(self.shop.root, [*self._objects, *self._change_files], self._no_links)
        intent.write(self.shop)
        try:
            self._make_durable(others)
        except BaseException:
            withdraw(self.shop, intent, is_all=not self._done)
            raise
        return intent

    def _catalogue(self) -> list[tuple[str, str]]:
        """Tell the catalog; the claims in `tree/` that are concerned."""
        rows = list(self._page_rows())
        claims = claims_of(self.shop.catalog, rows)
        with self.shop.catalog.writing():
            self.shop.catalog.replace_pages(rows)
            for found in self._segments:
                take_in(self.shop, found)
            for namespace in self._scopes:
                refold_scope(self.shop, namespace)
            refold_paths(self.shop, self._receipts)
        return claims

    def _intent(self, others: Mapping[str, bytes], seen: Seen) -> Intent:
        subject, trailers = self._about
        last = {**self._change_files, **others}
        return Intent(
            subject or self.operation,
            trailers,
            str(self.actor),
            tuple(dict.fromkeys([*self._carried, *self._objects, *last])),
            tuple(path for path in self._objects if self._is_new(path)),
            {path: raw.decode() for path, raw in last.items() if self._is_new(path)},
            seen.bases,
        )

    def _is_new(self, path: str) -> bool:
        return not os.path.lexists(f"{self.shop.root}/{path}")

    def _add(
        self,
        namespace: Namespace,
        page: PageId | None,
        own: dict[ChangeId, Change],
        latest: str | None,
        events: Sequence[Event],
    ) -> ChangeId:
        after = [list(own)[-1]] if own else [ChangeId(c) for c in decode_list(latest or "[]")]
        change = Change(
            namespace,
            page,
            self.at,
            self.shop.clone,
            self.actor,
            self.operation,
            tuple(sorted(after)),
            tuple(events),
        )
        raw = change.encode()
        change_id = ChangeId.of(raw)
        own[change_id] = change
        self._change_files[layout.change_file(namespace, page, change_id)] = raw
        return change_id

    def _make_durable(self, others: Mapping[str, bytes]) -> None:
        base = os.fspath(self.shop.root)
        with self.shop.disk.batch(self.shop.local_folder) as batch:
            for path, raw in self._objects.items():
                batch.write_once(f"{base}/{path}", raw)
            batch.barrier()
            for path, raw in others.items():
                batch.write(f"{base}/{path}", raw)
            for path, raw in self._change_files.items():
                batch.write_once(f"{base}/{path}", raw)

    def _page_rows(self) -> Iterator[PageRows]:
        for page, (namespace, own) in self._pages.items():
            state = self._state(page, namespace, own)
            yield page_rows(state, self._bodies(namespace, page))

    def _state(self, page: PageId, namespace: Namespace, own: Changes) -> PageState:
        """From the tail of what the catalog knows where that suffices, else from all changes."""
        objects = self.shop.objects
        known = None
        if page not in self._adopted:
            earlier = objects.count_changes(namespace, page) - len(own)
            if earlier:
                known = continued(self.shop.catalog, page, namespace, own, earlier)
        return known or fold_page(page, namespace, objects.page_changes(namespace, page, own))

    def _bodies(self, namespace: Namespace, page: PageId) -> Bodies:
        stored = bodies(self.shop.objects, namespace, page)
        return Bodies(
            revision=lambda r: self._revisions.get(r) or stored.revision(r),
            extraction=lambda one: (
                self._extractions.get((one.payload, one.adapter)) or stored.extraction(one)
            ),
            payload=lambda d: self._payloads[d] if d in self._payloads else stored.payload(d),
        )


def _refuse_links(root: Path, paths: Iterable[str], seen: set[str]) -> None:
    """Corrupt if a folder on the way is a link: a store holds none, and we never write through.
    `seen` are folders that need no second look."""
    base = os.fspath(root)
    for path in paths:
        folder = os.path.dirname(path)
        while folder and folder not in seen:
            seen.add(folder)
            if os.path.islink(f"{base}/{folder}"):
                raise Corrupt(f"{folder} is a link, and leads out of the store; remove it")
            folder = os.path.dirname(folder)
