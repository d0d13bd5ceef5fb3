"""A session: all operations on one store, in the name of one principal.

What only some of them need is imported there: a command of the CLI runs a single one, and half of
its time is imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING

from pcpfs.model.answers import Pins, RelationView, ScopeView, Written
from pcpfs.model.grants import WRITE
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.requests import DEFAULT_BYTES, Draft, EventDraft, Filters
from pcpfs.ports import Progress
from pcpfs.store.catalogs.catalog import Catalog, Damage
from pcpfs.store.listing import key_of_conflict, key_of_entry, key_of_scope, key_of_suspect
from pcpfs.store.paging import DEFAULT_PART, Part, ordered_part, part_of
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.scopes.governing import Governing
from pcpfs.store.scopes.scope_views import scope_views
from pcpfs.store.searches.search_request import NOW
from pcpfs.store.searches.suppressions import Suppression, Suppressions
from pcpfs.store.store import Store
from pcpfs.store.writes import Writes

if TYPE_CHECKING:
    from pcpfs.model.answers import (
        Difference,
        FrameView,
        LogEntry,
        Manifest,
        RelatedPage,
        SearchAnswer,
        SearchHit,
        SuspectPage,
    )
    from pcpfs.model.pages import Facets, Principal
    from pcpfs.store.erasure.erasing import Erasure
    from pcpfs.store.exchanges.bundles import Bundle
    from pcpfs.store.folding.retention import RetentionView
    from pcpfs.store.merges.conflicts import ConflictView
    from pcpfs.store.reading import Reader
    from pcpfs.store.references import Reference
    from pcpfs.store.scopes.accepted import AcceptedSecrets
    from pcpfs.store.searches.searching import IndexView, Searching


class Session:
    """Operations of one principal. Each call sees the newest state of the store.

    Ids may be given in full, as a unique prefix of 8 characters or more, or as a path; see
    `references.resolve`. Raises the errors of `pcpfs.errors`. `progress` hears of searches that
    have to index first.
    """

    def __init__(
        self, store: Store, principal: Principal, progress: Progress | None = None
    ) -> None:
        self.store = store
        self._progress = progress
        self.principal = principal
        self.authority = Authority(store, principal)
        self.governing = Governing(store, self.authority)
        self._writes = Writes(store, self.authority)
        self._pinned: tuple[tuple[int, Instant], Catalog] | None = None

    def close(self) -> None:
        if "_searching" in vars(self):
            self._searching.close()
        self._pinned = None
        self.authority.close()

    @cached_property
    def _searching(self) -> Searching:
        from pcpfs.store.searches.searching import Searching  # noqa: PLC0415 (see the top)

        return Searching(
            self.store, self.reader, self._suppressions, self.authority, self._progress
        )

    def let_go(self) -> None:
        """Keep nothing open or in memory that an erasure has replaced; for processes that idle."""
        if self.store.let_go():
            self._searching.let_go()
            self._pinned = None
            self.authority.close()

    def write(
        self, scope: str, draft: Draft, *, path: str | None = None, key: str | None = None
    ) -> Written:
        """A new page in a scope, which the first write creates (PCP WritePage)."""
        return self._writes.write(scope, draft, path=path, key=key)

    def ingest(self, scope: str, drafts: Sequence[EventDraft]) -> tuple[Written, ...]:
        """Events in this order, in one commit; what a key names already is not written again (PCP
        IngestEvent)."""
        from pcpfs.store.events.ingest import Ingest  # noqa: PLC0415 (see the top)

        self.authority.require((WRITE,), str(Namespace.given(scope)))
        written = Ingest(self.store, self.principal).take(scope, drafts)
        return tuple(map(self.authority.told, written))

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

    def move(
        self,
        page: str,
        scope: str,
        why: str = "moved",
        *,
        path: str | None = None,
        allow_secret: bool = False,
    ) -> Written:
        """The same page in another scope: a new one there supersedes this one, which is tombstoned
        with this reason. Relations into the page stay as they are."""
        from pcpfs.store.moving import Moving  # noqa: PLC0415 (see the top)

        moving = Moving(self.store, self.authority)
        return moving.move(page, scope, why, path=path, allow_secret=allow_secret)

    def close_at(self, page: str, at: Instant, why: str) -> Written:
        """Say that what a page says holds no longer, from an instant on: it leaves ordinary search
        if that lies behind, and stays readable (PCP-T1)."""
        return self._writes.close(page, at, why)

    def suppress(self, task: str, pages: Sequence[str], why: str) -> tuple[Suppression, ...]:
        """Leave pages out of this task's searches, in this clone, for 30 days (SuppressPages)."""
        found = [self.resolve(given).page for given in pages]
        return self._suppressions().add(task, found, why)

    def lift(self, task: str, pages: Sequence[str]) -> int:
        """Let a task see pages again; how many were suppressed."""
        return self._suppressions().lift(task, [self.resolve(given).page for given in pages])

    def suppressed(self, task: str) -> tuple[Suppression, ...]:
        """What a task does not want to see."""
        seen = self.reader(NOW).catalog
        return tuple(one for one in self._suppressions().of(task) if seen.page(one.page_id))

    def delete(
        self,
        page: str,
        why: str,
        *,
        cascade: bool = False,
        proven: bool = False,
        override: str | None = None,
    ) -> Erasure:
        """Erase a page for good, with `cascade` all that was made of it (PCP DeletePage)."""
        from pcpfs.store.erasure.erasing import delete  # noqa: PLC0415 (see the top)

        return delete(
            self.store, self.principal, page, why,
            cascade=cascade, proven=proven, override=override,
        )  # fmt: skip

    @cached_property
    def accepted(self) -> AcceptedSecrets:
        """The secrets that were let in, and taking that back."""
        from pcpfs.store.scopes.accepted import AcceptedSecrets  # noqa: PLC0415 (see the top)

        return AcceptedSecrets(self.store, self.authority)

    def retain(
        self, scope: str, *, hold_until: Instant | None = None, keep_days: int | None = None
    ) -> RetentionView:
        """Say how long the pages of a scope are kept, in place of what was said before."""
        from pcpfs.store.folding.retention import set_retention  # noqa: PLC0415 (see the top)

        return set_retention(self.store, self.principal, scope, hold_until, keep_days)

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        """A typed relation; the target is REV, PAGE, FRAME or PAGE#FRAME (PCP LinkPages)."""
        return self._writes.link(source, relation_type, target)

    def resolve(self, given: str, pins: Pins = NOW) -> Reference:
        """What an id, a prefix or a path means."""
        return self.reader(pins).resolve(given)

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

    def related(
        self,
        given: str,
        pins: Pins = NOW,
        *,
        direction: str = "both",
        types: Sequence[str] = (),
        depth: int = 1,
        limit: int = DEFAULT_PART,
        cursor: str | None = None,
    ) -> Part[RelatedPage]:
        """Pages that relations and imports lead to, both ways, each by its shortest way, nearest
        first. Of a symbol (its id or its name) what its text needs, and who imports it."""
        from pcpfs.store.searches.related import Asked, related  # noqa: PLC0415 (see the top)

        with self._reading(pins) as reader:
            return related(reader, given, pins, Asked(direction, types, depth, limit, cursor))

    def bundle(
        self,
        given: Sequence[str],
        projections: Sequence[str] = ("payload",),
        pins: Pins = NOW,
        *,
        budget: int = DEFAULT_BYTES,
    ) -> Bundle:
        """Parts of several pages in one bounded answer, each with its ids and source (PCP-B1)."""
        from pcpfs.store.exchanges.bundles import bundle  # noqa: PLC0415 (see the top)

        with self._reading(pins) as reader:
            return bundle(reader, given, projections, budget)

    def history(
        self,
        given: str,
        pins: Pins = NOW,
        *,
        limit: int = DEFAULT_PART,
        cursor: str | None = None,
        branch: str | None = None,
    ) -> Part[LogEntry]:
        """A page's life in parts, newest first (PCP-S4)."""
        entries = self.log(given, pins, branch)
        question = ("history", self.resolve(given, pins).page, pins, branch)
        return part_of(entries, key_of_entry, question, limit, cursor)

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

    def log(self, given: str, pins: Pins = NOW, branch: str | None = None) -> tuple[LogEntry, ...]:
        """A page's life, newest first, all branches of its source included; or only one."""
        from pcpfs.store.page_log import log_with_branches  # noqa: PLC0415

        with self._reading(pins) as reader:
            return log_with_branches(reader, given, branch)

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
        mode: str = "auto",
        task: str | None = None,
    ) -> SearchAnswer:
        """Pages, files and symbols (PCP SearchPages): by words, best first, unless another mode is
        asked for; without what `task` suppressed."""
        from pcpfs.store.searches.searching import Asked  # noqa: PLC0415 (see the top)

        asked = Asked(tuple(scopes), policy, filters or Filters(), pins, limit, cursor)
        return self._searching.search(query, asked, mode, task)

    def hits(self, query: str, filters: Filters, pins: Pins, first: int) -> Iterator[SearchHit]:
        """By words, in all scopes, one by one and without end, for who cannot tell how many it
        takes; so many as `first` are looked for at once."""
        from pcpfs.store.searches.searching import Asked  # noqa: PLC0415 (see the top)

        return self._searching.hits(query, Asked((), "global", filters, pins, first, None))

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
        exact: bool = False,
    ) -> SearchAnswer:
        """Definitions by exact, dotted or partial name; with `exact` by exact name only."""
        from pcpfs.store.searches.searching import Asked  # noqa: PLC0415 (see the top)

        asked = Asked(tuple(scopes), policy, filters or Filters(), pins, limit, cursor)
        return self._searching.symbol(name, asked, exact=exact)

    def list_suspects(
        self, *, limit: int = DEFAULT_PART, cursor: str | None = None
    ) -> Part[SuspectPage]:
        """The same in parts, by scope and title (PCP-S4)."""
        return ordered_part(self.suspects(), key_of_suspect, ("suspects",), limit, cursor)

    def suspects(self) -> tuple[SuspectPage, ...]:
        """Pages that cite frames which have closed."""
        from pcpfs.store.searches.citations import suspect_pages  # noqa: PLC0415 (see the top)

        return suspect_pages(self.reader(NOW).catalog)

    def list_scopes(
        self, *, limit: int = DEFAULT_PART, cursor: str | None = None
    ) -> Part[ScopeView]:
        """The scopes that may be listed, in parts (PCP ListScopes)."""
        return ordered_part(self.scopes(), key_of_scope, ("scopes",), limit, cursor)

    def scopes(self) -> tuple[ScopeView, ...]:
        """All scopes that may be listed."""
        self.store.refresh()
        return scope_views(self.authority)

    def list_conflicts(
        self, *, limit: int = DEFAULT_PART, cursor: str | None = None
    ) -> Part[ConflictView]:
        """The same in parts, by page."""
        return ordered_part(self.conflicts(), key_of_conflict, ("conflicts",), limit, cursor)

    def conflicts(self) -> tuple[ConflictView, ...]:
        """Pages on which clones do not agree."""
        from pcpfs.store.merges.conflicts import conflicts  # noqa: PLC0415 (see the top)

        return conflicts(self.reader(NOW).catalog)

    def damages(self) -> tuple[Damage, ...]:
        """Pages whose files cannot be read; `fsck` says why."""
        return tuple(self.reader(NOW).catalog.damages())

    def index_state(self) -> IndexView:
        """The text indexes as `status` shows them."""
        return self._searching.index_state()

    def index_backlog(self, scopes: Iterable[str], pins: Pins = NOW) -> int:
        """How many documents a search in these scopes would have to take in first."""
        return self._searching.backlog(scopes, pins)

    def flush_indexes(self, progress: Progress | None = None) -> None:
        """Take everything that waits into the text indexes."""
        self._searching.flush(progress)

    def indexed_keys(self, scope: str, past: int) -> set[str]:
        """The documents that a search in a scope can find, by key."""
        return self._searching.indexed_keys(scope, past)

    def capabilities(self) -> Mapping[str, object]:
        """What this store can do (PCP DescribeCapabilities)."""
        from pcpfs.store.capabilities import capabilities  # noqa: PLC0415 (see the top)

        return capabilities()

    def _suppressions(self) -> Suppressions:
        return Suppressions(self.store.local, self.store.clock.now())

    def reader(self, pins: Pins, *, glance: bool = False) -> Reader:
        """Reads under these pins; sees everything that was acknowledged before this call, or with
        `glance` what is in the catalog already, without waiting (see `Store.look`)."""
        from pcpfs.store.elsewhere import bytes_of  # noqa: PLC0415 (see the top)
        from pcpfs.store.reading import Reader  # noqa: PLC0415 (see the top)

        self.store.look() if glance else self.store.refresh()
        catalog = self.authority.catalog
        if pins.recorded_as_of is not None:
            catalog = self._catalog_at(pins.recorded_as_of)
        elsewhere = partial(bytes_of, disk=self.store.disk, is_owner=self.authority.is_owner)
        return Reader(catalog, self.store.objects, self.store.owner, pins, elsewhere)

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
            from pcpfs.store.catalogs.pinned import catalog_at  # noqa: PLC0415 (see the top)

            self._pinned = (key, catalog_at(self.store.workshop, moment))
            self.authority.cover(self._pinned[1])
        return self._pinned[1]
