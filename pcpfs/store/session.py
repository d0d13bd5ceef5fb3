"""A session: all operations on one store, in the name of one principal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from pcpfs.errors import Corrupt, NotFound, UsageError
from pcpfs.machine import user_secret
from pcpfs.model.answers import (
    Difference,
    FrameView,
    LogEntry,
    Manifest,
    Pins,
    RelationView,
    SearchAnswer,
    SuspectPage,
    Written,
)
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Facets, Principal
from pcpfs.ports import Progress
from pcpfs.store.catalog import Catalog, Damage
from pcpfs.store.citations import suspect_pages
from pcpfs.store.config import POLICIES
from pcpfs.store.conflicts import ConflictView, conflicts
from pcpfs.store.documents import Documents
from pcpfs.store.ingest import EventDraft, Ingest
from pcpfs.store.pinned import catalog_at
from pcpfs.store.reading import Reader
from pcpfs.store.references import Reference, resolve
from pcpfs.store.search_request import MOST_RESULTS, NOW, PROJECTIONS, Filters, Search
from pcpfs.store.store import INDEX_LOCK, Store
from pcpfs.store.symbol_search import SymbolSearch
from pcpfs.store.text_indexes import TextIndexes
from pcpfs.store.text_search import TextSearch
from pcpfs.store.writes import Draft, Writes


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope as ListScopes shows it; nothing of its content."""

    scope: str
    title: str
    kind: str
    visibility: str
    permissions: tuple[str, ...]
    pages: int
    last_activity: Instant


@dataclass(frozen=True, slots=True)
class IndexView:
    """The state of the text indexes."""

    engine: str
    documents: int
    pending: int


class Session:
    """Operations of one principal. Each call sees the newest state of the store.

    Ids may be given in full, as a unique prefix of 8 characters or more, or as a path; see
    `references.resolve`. Raises the errors of `pcpfs.errors`.
    """

    def __init__(self, store: Store, principal: Principal) -> None:
        self.store = store
        self.principal = principal
        self._writes = Writes(store, principal)
        self._pinned: tuple[tuple[int, Instant], Catalog] | None = None
        self._indexes = TextIndexes(
            store.disposable / "index",
            store.config.index,
            store.disk,
            lock=store.local_folder / INDEX_LOCK,
            wait=store.wait,
            secret=lambda: user_secret(store.disk, store.entropy),
            documents=lambda scope, keys: self._documents().documents(scope, keys),
        )
        self._kept_documents: Documents | None = None

    def close(self) -> None:
        self._indexes.close()
        self._pinned = None

    def write(
        self, scope: str, draft: Draft, *, path: str | None = None, key: str | None = None
    ) -> Written:
        """A new page in a scope, which the first write creates (PCP WritePage)."""
        return self._writes.write(scope, draft, path=path, key=key)

    def ingest(self, scope: str, drafts: Sequence[EventDraft]) -> tuple[Written, ...]:
        """Events in this order, in one commit; what a key names already is not written again (PCP
        IngestEvent)."""
        return Ingest(self.store, self.principal).take(scope, drafts)

    def revise(
        self, page: str, draft: Draft, *, expect: Sequence[str] = (), branch: str | None = None
    ) -> Written:
        """A new revision on the heads that the caller read (PCP RevisePage, PCP-R3)."""
        return self._writes.revise(page, draft, expect=expect, branch=branch)

    def resolve_conflict(self, page: str, draft: Draft) -> Written:
        """One text in place of all heads of a page."""
        return self._writes.resolve(page, draft)

    def tombstone(self, page: str, why: str) -> Written:
        """Withdraw a page from ordinary recall; its history stays (PCP TombstonePage)."""
        return self._writes.lifecycle(page, "tombstoned", "tombstone", why)

    def archive(self, page: str, why: str) -> Written:
        """Take a page out of ordinary search; it stays readable."""
        return self._writes.lifecycle(page, "archived", "archive", why)

    def restore(self, page: str, why: str) -> Written:
        """Make an archived or tombstoned page active again."""
        return self._writes.lifecycle(page, "active", "restore", why)

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        """A typed relation; the target is REV, PAGE, FRAME or PAGE#FRAME (PCP LinkPages)."""
        return self._writes.link(source, relation_type, target)

    def resolve(self, given: str, pins: Pins = NOW) -> Reference:
        """What an id, a prefix or a path means."""
        return resolve(self.reader(pins).catalog, given)

    def manifest(self, given: str, pins: Pins = NOW) -> Manifest:
        with self._reading(pins) as reader:
            return reader.manifest(given)

    def read(self, given: str, pins: Pins = NOW) -> tuple[Manifest, bytes]:
        """Manifest and payload of one moment: the revision that it names has these bytes, and is
        what a caller who read them expects to revise."""
        with self._reading(pins) as reader:
            manifest = reader.manifest(given)
            return manifest, reader.payload(f"{manifest.page_id}@{manifest.revision_id}")

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        """Exactly the bytes of a revision."""
        with self._reading(pins) as reader:
            return reader.payload(given)

    def facets(self, given: str, pins: Pins = NOW) -> Facets:
        with self._reading(pins) as reader:
            return reader.facets(given)

    def relations(
        self, given: str, pins: Pins = NOW, *, direction: str = "both"
    ) -> tuple[RelationView, ...]:
        """Relations out of a page, into it, or both."""
        with self._reading(pins) as reader:
            return reader.relations(given, direction)

    def frame(self, given: str, pins: Pins = NOW) -> FrameView:
        with self._reading(pins) as reader:
            return reader.frame(given)

    def frame_source(self, given: str, pins: Pins = NOW) -> bytes:
        """Exactly the bytes of a symbol."""
        with self._reading(pins) as reader:
            return reader.frame_source(given)

    def frames_of(self, given: str, pins: Pins = NOW) -> tuple[FrameView, ...]:
        """The frames of a source page, the whole file first."""
        with self._reading(pins) as reader:
            return reader.frames_of(given)

    def log(self, given: str, pins: Pins = NOW) -> tuple[LogEntry, ...]:
        """A page's life, newest first."""
        with self._reading(pins) as reader:
            return reader.log(given)

    def diff(
        self,
        given: str,
        before: str | None = None,
        after: str | None = None,
        pins: Pins = NOW,
    ) -> Difference:
        """Text and symbols that differ between two revisions; by default the last step."""
        with self._reading(pins) as reader:
            return reader.diff(given, before, after)

    def search(
        self,
        query: str,
        *,
        scopes: Sequence[str] = (),
        policy: str | None = None,
        filters: Filters | None = None,
        pins: Pins = NOW,
        limit: int = 10,
        cursor: str | None = None,
    ) -> SearchAnswer:
        """Pages, files and symbols by words, best first (PCP SearchPages, mode text)."""
        reader = self.reader(pins)
        search = self._request(reader, query, scopes, policy)
        search = search.narrowed(filters or Filters(), pins, limit, cursor)
        current = self.store.catalog
        documents = (
            self._documents()
            if reader.catalog is current
            else Documents(self.store.objects, reader.catalog)
        )
        text = TextSearch(
            reader, documents, lambda scope, past: self._indexes.readers(current, scope, past)
        )
        try:
            return text.run(search)
        except Corrupt:
            for scope in search.scopes:  # disposable: built anew, from what is not
                self._indexes.discard(scope, 0)
                self._indexes.discard(scope, 1)
            return text.run(search)

    def symbol(
        self,
        name: str,
        *,
        scopes: Sequence[str] = (),
        policy: str | None = None,
        filters: Filters | None = None,
        pins: Pins = NOW,
        limit: int = 10,
        cursor: str | None = None,
    ) -> SearchAnswer:
        """Definitions by exact, dotted or partial name."""
        reader = self.reader(pins)
        search = self._request(reader, name, scopes, policy)
        return SymbolSearch(reader).run(search.narrowed(filters or Filters(), pins, limit, cursor))

    def suspects(self) -> tuple[SuspectPage, ...]:
        """Pages that cite frames which have closed."""
        return suspect_pages(self.reader(NOW).catalog)

    def scopes(self) -> tuple[ScopeView, ...]:
        """All scopes (PCP ListScopes)."""
        catalog = self.reader(NOW).catalog
        counted = catalog.query("SELECT scope, count(*), max(updated_at) FROM page GROUP BY scope")
        pages = {scope: (count, last) for scope, count, last in counted}
        return tuple(
            ScopeView(
                scope=row.scope,
                title=row.title,
                kind=Namespace(row.scope).kind,
                visibility="private",
                permissions=("list", "read", "write", "link"),
                pages=pages.get(row.scope, (0, 0))[0],
                last_activity=Instant(max(row.updated_at, pages.get(row.scope, (0, 0))[1])),
            )
            for row in catalog.scopes()
        )

    def conflicts(self) -> tuple[ConflictView, ...]:
        """Pages on which clones do not agree."""
        return conflicts(self.reader(NOW).catalog)

    def damages(self) -> tuple[Damage, ...]:
        """Pages whose files cannot be read; `fsck` says why."""
        return tuple(self.reader(NOW).catalog.damages())

    def index_state(self) -> IndexView:
        """The text indexes as `status` shows them."""
        catalog = self.reader(NOW).catalog
        ((documents,),) = catalog.query("SELECT count(*) FROM document WHERE past = 0")
        ((pending,),) = catalog.query("SELECT count(*) FROM pending")
        return IndexView(self.store.config.index, documents, pending)

    def index_backlog(self, scopes: Iterable[str], pins: Pins = NOW) -> int:
        """How many documents a search in these scopes would have to take in first."""
        catalog = self.reader(NOW).catalog
        needed = product(scopes, (0,) if pins == NOW else (0, 1))
        return sum(self._indexes.backlog(catalog, scope, past) for scope, past in needed)

    def flush_indexes(self, progress: Progress | None = None) -> None:
        """Take everything that waits into the text indexes."""
        catalog = self.reader(NOW).catalog
        waiting = catalog.query("SELECT DISTINCT scope, past FROM pending ORDER BY 1, 2")
        for scope, past in waiting:
            self._indexes.flush(catalog, scope, past, progress)

    def indexed_keys(self, scope: str, past: int) -> set[str]:
        """The documents that a search in a scope can find, by key."""
        keys: set[str] = set()
        for index in self._indexes.readers(self.reader(NOW).catalog, scope, past):
            table = index.documents()
            keys.update(key for n, key in enumerate(table.keys) if n not in table.dead)
        return keys

    def capabilities(self) -> Mapping[str, object]:
        """What this store can do (PCP DescribeCapabilities)."""
        return {
            "search_modes": ["exact", "text"],
            "projections": list(PROJECTIONS),
            "policies": [policy for policy in POLICIES if policy != "linked"],
            "limits": {"results": MOST_RESULTS, "payload_bytes": None},
            "paging": "cursor",
            "relation_types": "open",
            "conflict_detection": True,
            "ingestion": True,
            "durable_deletion": False,
        }

    def reader(self, pins: Pins) -> Reader:
        """Reads under these pins; sees everything that was acknowledged before this call."""
        self.store.refresh()
        catalog = self.store.catalog
        if pins.recorded_as_of is not None:
            catalog = self._catalog_at(pins.recorded_as_of)
        return Reader(catalog, self.store.objects, self.store.owner, pins)

    @contextmanager
    def _reading(self, pins: Pins) -> Iterator[Reader]:
        """A reader whose every question is answered from one state of the catalog."""
        reader = self.reader(pins)
        with reader.catalog.snapshot():
            yield reader

    def _catalog_at(self, moment: Instant) -> Catalog:
        """The pinned catalog, kept for the next question with the same pin."""
        key = (self.store.catalog.generation, moment)
        if self._pinned is None or self._pinned[0] != key:
            self._pinned = (key, catalog_at(self.store.workshop, moment))
        return self._pinned[1]

    def _documents(self) -> Documents:
        catalog = self.store.catalog
        if self._kept_documents is None or self._kept_documents.catalog is not catalog:
            self._kept_documents = Documents(self.store.objects, catalog)
        return self._kept_documents

    def _request(
        self, reader: Reader, text: str, scopes: Sequence[str], policy: str | None
    ) -> Search:
        """Where to look: the scopes given, else what the policy covers (PCP-S1)."""
        known = [row.scope for row in reader.catalog.scopes()]
        if scopes:
            if policy not in (None, "strict"):
                raise UsageError(f"--policy {policy} names no scope; leave --scope away")
            wanted = [str(Namespace.given(scope)) for scope in scopes]
            missing = [scope for scope in wanted if scope not in known]
            if missing and reader.catalog is self.store.catalog:
                raise NotFound(f"there is no scope {missing[0]}; see pcpfs scope list")
            return Search(text, tuple(sorted(set(wanted))), "strict")
        policy = policy or self.store.config.default_policy
        if policy == "global":
            return Search(text, tuple(sorted(known)), policy)
        raise UsageError(f"the policy {policy} needs a scope: --scope S")
