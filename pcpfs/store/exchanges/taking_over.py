"""Taking over the files of another store, each checked against its name, by union."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from pcpfs.errors import Conflict, Corrupt, NotFound
from pcpfs.model.changes import Change, Event
from pcpfs.model.events import EventLine
from pcpfs.model.frames import Extraction
from pcpfs.model.grants import ScopeLinked
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Payload, Revision
from pcpfs.model.versions import versions_of
from pcpfs.store import layout
from pcpfs.store.events.event_segments import Segment
from pcpfs.store.exchanges.both_files import BothFiles
from pcpfs.store.exchanges.foreign_files import Files
from pcpfs.store.exchanges.import_secrets import Looking
from pcpfs.store.folding.fold import fold_page
from pcpfs.store.folding.scope_fold import ScopeState, fold_scope
from pcpfs.store.scopes.secrets import allow
from pcpfs.store.sightings import Sighting, Sightings
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction

_PART = 500
Page = tuple[Namespace, PageId]


@dataclass(slots=True)
class Taken:
    """What was taken over so far; `left` is what was not, and why."""

    pages: set[PageId] = field(default_factory=set)
    events: int = 0
    files: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


class TakingOver:
    """One import: the files of another store on their way into a transaction of this one. The
    secrets of one that is `trusted` are not looked for, and what it accepted is accepted here."""

    def __init__(
        self, store: Store, files: Files, scopes: Collection[str], *, trusted: bool = False
    ) -> None:
        self._store = store
        self._files = files
        self._trusted = trusted
        self._pages: dict[Page, list[str]] = {}
        self._scopes: dict[Namespace, list[str]] = {}
        self._segments: dict[Namespace, list[str]] = {}
        self._known = set[str]()
        self._sort(files.paths(), scopes)
        self._sightings = Sightings(BothFiles(files, self._known, store.objects))
        self.taken = Taken()
        self.looking = Looking(store.catalog)

    @property
    def scopes(self) -> tuple[Namespace, ...]:
        found = {namespace for namespace, _ in self._pages} | set(self._scopes)
        return tuple(sorted(found | set(self._segments)))

    def into(self, transaction: Transaction) -> None:
        """Hand over what is new; nothing is acknowledged before all was checked once."""
        self._refuse_moved()
        for namespace in self.scopes:
            self._scope(transaction, namespace)
            allow(self._store, transaction, namespace, self.looking.found.get(namespace, ()))
        event_pages = {page for ns in self._segments for page in self._events(transaction, ns)}
        own = [page for page in sorted(self._pages) if page[1] not in event_pages]
        for number, (namespace, page) in enumerate(own, 1):
            self._page(transaction, namespace, page)
            if number % _PART == 0:
                transaction.flush()

    def check(self) -> None:
        """Read everything once: Corrupt for what is not what its name says. What is new here is
        looked through."""
        for (namespace, page), paths in self._pages.items():
            for path in paths:
                raw, body = self._checked(namespace, page, path)
                if self._is_new(namespace, page, path):
                    self._look(namespace, page, raw, body)
        for namespace, paths in self._segments.items():
            for path in paths:
                for placed in self._segment(namespace, path).lines:
                    if self._is_new(namespace, placed.line.revision.page, path):
                        self._look_at_event(namespace, placed.line)
        for namespace in self._scopes:
            if not self._trusted:
                self._look_at_scope(namespace)

    def _is_new(self, namespace: Namespace, page: PageId, path: str) -> bool:
        is_known = self._is_here(path) or self._receipt(namespace, page)
        return not (self._trusted or is_known)

    def _look(
        self, namespace: Namespace, page: PageId, raw: bytes, body: Revision | Change
    ) -> None:
        self.looking.document(namespace, page, raw)
        if isinstance(body, Revision) and body.payload and not self._is_thinned(body):
            content = self._content(namespace, body.payload)
            is_source = body.created_at is None
            self.looking.payload(namespace, page, content, is_source=is_source)

    def _look_at_scope(self, namespace: Namespace) -> None:
        state = self._scope_state(namespace)
        roots = (text for root in state.roots.values() for text in (root.name, *root.include))
        branches = (ref for known in state.branches.values() for ref in known.tips)
        for text in (state.title, *roots, *branches):
            self.looking.text(namespace, f"scope {namespace}", text)

    def _look_at_event(self, namespace: Namespace, line: EventLine) -> None:
        page, payload, content = line.revision.page, line.revision.payload, line.content
        self.looking.document(namespace, page, line.revision.encode())
        if content is None and payload is not None:
            content = self._content(namespace, payload)
        if content is not None:
            self.looking.payload(namespace, page, content, is_source=False)

    def _sort(self, paths: Sequence[str], scopes: Collection[str]) -> None:
        self._known = set(paths)
        for path in paths:
            page, scope, segment = layout.page_of(path), layout.scope_of(path), None
            if page is None and scope is None:
                segment = layout.segment_of(path)
            where = page[0] if page else scope or segment
            if where is None or (scopes and where not in scopes):
                continue
            if page is not None:
                self._pages.setdefault(page, []).append(path)
            elif scope is not None:
                self._scopes.setdefault(scope, []).append(path)
            else:
                self._segments.setdefault(where, []).append(path)

    def _refuse_moved(self) -> None:
        """A page never changes scope: the same id elsewhere is another page's, or a forgery."""
        for namespace, page in self._pages:
            row = self._store.catalog.page(page)
            if row is not None and row.scope != namespace:
                raise Conflict(
                    f"page {page} of {namespace} is known here in {row.scope}; import without it",
                    page_id=page,
                    scope=row.scope,
                )

    def _scope(self, transaction: Transaction, namespace: Namespace) -> None:
        """Title and roots as the other side has them, and the links of a scope that is new here;
        who may do what is decided here."""
        state = self._scope_state(namespace)
        more: list[Event] = []
        if transaction.ensure_scope(namespace, state.title):
            more += [ScopeLinked(Namespace(target)) for target in sorted(state.access.links)]
        if self._trusted:
            more += [one.secret for one in state.accepted if not one.is_over]
        known = {row.root_id for row in self._store.catalog.roots()}
        more += [root for ident, root in state.roots.items() if ident not in known]
        more += [
            replace(far, branches=state.branches.get(ident))
            for ident, far in state.walked.items()
            if ident not in known
        ]
        if more:
            transaction.scope_change(namespace, *more)

    def _scope_state(self, namespace: Namespace) -> ScopeState:
        changes: dict[ChangeId, Change] = {}
        for path in self._scopes.get(namespace, ()):
            raw = self._files.read(path)
            name = path.rpartition("/")[2].removesuffix(".json")
            change = Change.decode(raw, path)
            if ChangeId.of(raw) != name or change.namespace != namespace or change.page:
                raise _not_its_name(path)
            changes[ChangeId(name)] = change
        return fold_scope(namespace, changes)

    def _events(self, transaction: Transaction, namespace: Namespace) -> Iterator[PageId]:
        """The segments that are new here, with later changes of their pages; these pages."""
        fresh: dict[PageId, None] = {}
        for path in self._segments[namespace]:
            if self._is_here(path):
                continue
            segment = self._segment(namespace, path)
            kept = [p.line for p in segment.lines if not self._is_erased(p.line.revision)]
            if not kept:
                self.taken.left.append((path, "erased"))
                continue
            for line in kept:
                self._event_payload(transaction, namespace, line)
                fresh[line.revision.page] = None
            transaction.segment(namespace, kept)
            self.taken.events += len(kept)
            self.taken.files += 1
        for page in fresh:
            self._page(transaction, namespace, page, is_new_event=True)
        if fresh:
            transaction.flush()
        yield from fresh

    def _event_payload(
        self, transaction: Transaction, namespace: Namespace, line: EventLine
    ) -> None:
        if line.content is None and line.revision.payload is not None:
            self._payload(transaction, namespace, line.revision.payload)

    def _segment(self, namespace: Namespace, path: str) -> Segment:
        found = Segment.read(path, namespace, self._files.read(path))
        if found.troubles:
            raise Corrupt(found.troubles[0].message, path=path)
        return found

    def _page(
        self,
        transaction: Transaction,
        namespace: Namespace,
        page: PageId,
        *,
        is_new_event: bool = False,
    ) -> None:
        new = [p for p in self._pages.get((namespace, page), ()) if not self._is_here(p)]
        if self._receipt(namespace, page):
            self.taken.left += [(page, "erased")] if new else []
            return
        changes: dict[ChangeId, tuple[Change, bytes]] = {}
        for path in sorted(new, key=layout.is_change):
            raw, body = self._checked(namespace, page, path)
            if isinstance(body, Revision):
                transaction.adopt_object(path, raw)
                if body.payload and not self._is_thinned(body):
                    self._payload(transaction, namespace, body.payload)
            else:
                changes[ChangeId.of(raw)] = body, raw
            self.taken.files += 1
        for name, (body, _) in changes.items():
            self._frames(transaction, namespace, page, name, body)
        if changes:
            transaction.adopt_changes(namespace, page, changes, folded=not is_new_event)
            if not is_new_event:
                self.taken.pages.add(page)

    def _checked(
        self, namespace: Namespace, page: PageId, path: str
    ) -> tuple[bytes, Revision | Change]:
        raw = self._files.read(path)
        name = path.rpartition("/")[2].removesuffix(".json")
        body: Revision | Change
        if name.startswith("rev_"):
            is_named, body = RevisionId.of(raw) == name, Revision.decode(raw, path)
        else:
            is_named, body = ChangeId.of(raw) == name, Change.decode(raw, path)
        if not is_named or (body.page, body.namespace) != (page, namespace):
            raise _not_its_name(path)
        return raw, body

    def _payload(self, transaction: Transaction, namespace: Namespace, payload: Payload) -> None:
        if not self._is_here(layout.payload_file(namespace, payload.ref)):
            transaction.payload(namespace, self._content(namespace, payload))
            self.taken.files += 1

    def _is_thinned(self, body: Revision) -> bool:
        """Whether the other side says that it let go of these bytes, and has."""
        if not body.payload or layout.payload_file(body.namespace, body.payload.ref) in self._known:
            return False
        changes: dict[ChangeId, Change] = {}
        for path in self._pages[body.namespace, body.page]:
            raw, change = self._checked(body.namespace, body.page, path)
            if isinstance(change, Change):
                changes[ChangeId.of(raw)] = change
        state = fold_page(body.page, body.namespace, changes)
        return RevisionId.of(body.encode()) in state.thinned

    def _content(self, namespace: Namespace, payload: Payload) -> bytes:
        """The bytes that the other side has under this name."""
        path = layout.payload_file(namespace, payload.ref)
        if path not in self._known:
            raise Corrupt(f"{path} is named by a revision and missing", path=path)
        raw = self._files.read(path)
        if hashlib.sha256(raw).hexdigest() != payload.ref.hex or len(raw) != payload.size:
            raise _not_its_name(path)
        return raw

    def _frames(
        self,
        transaction: Transaction,
        namespace: Namespace,
        page: PageId,
        name: ChangeId,
        change: Change,
    ) -> None:
        """What adapters saw in the bytes that this change tells of."""
        for version in (version for event in change.events for version in versions_of(event)):
            digest = self._digest(namespace, page, version.revision)
            path = layout.frames_file(namespace, digest, version.adapter)
            if self._is_here(path):
                continue
            if path not in self._known:
                sighting = Sighting(digest, version.adapter, version.revision, name)
                self._require_told(namespace, page, sighting)
                continue
            seen = Extraction.decode(self._files.read(path), path)
            transaction.extraction(namespace, digest, seen)
            self.taken.files += 1

    def _require_told(self, namespace: Namespace, page: PageId, sighting: Sighting) -> None:
        """Corrupt unless the change itself says what was seen, and says it rightly."""
        try:
            self._sightings.seen(namespace, page, sighting)
        except NotFound as error:
            path = layout.frames_file(namespace, sighting.payload, sighting.adapter)
            raise Corrupt(f"{path} is named by a change and missing", path=path) from error

    def _digest(self, namespace: Namespace, page: PageId, revision: RevisionId) -> Digest:
        path = layout.revision_file(namespace, page, revision)
        if path in self._known:
            body = Revision.decode(self._files.read(path), path)
        else:
            body = self._store.objects.revision(namespace, page, revision)
        if body.payload is None:
            raise Corrupt(f"{path} is observed and has no payload", path=path)
        return body.payload.ref

    def _is_here(self, path: str) -> bool:
        return os.path.lexists(f"{self._store.path}/{path}")

    def _is_erased(self, revision: Revision) -> bool:
        return self._receipt(revision.namespace, revision.page)

    def _receipt(self, namespace: Namespace, page: PageId) -> bool:
        """Erasure receipts outrank every object of their page, wherever it comes from."""
        return self._is_here(f"{namespace.folder}/erased/{page}.json")


def refuse_unknown(wanted: Collection[str], found: Collection[str]) -> None:
    """NotFound for a scope that the other store does not have."""
    missing = sorted(set(wanted) - set(found))
    if missing:
        raise NotFound(f"there is no scope {missing[0]} in it; it has {', '.join(sorted(found))}")


def _not_its_name(path: str) -> Corrupt:
    return Corrupt(f"{path} does not hold what its name says; nothing was taken over", path=path)
