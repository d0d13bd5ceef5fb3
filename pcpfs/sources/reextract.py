"""Looking again, with newer adapters, at bytes that the store has: `reindex --extract`.

The new observation is of the same bytes since the same instant, so it takes the place of the old
one: nothing opens or closes (CASES). Frames files that are lost come back as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pcpfs.errors import PcpfsError
from pcpfs.model.branches import Version
from pcpfs.model.changes import Observed
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import ChangeId, Digest, PageId
from pcpfs.model.names import Namespace, source_path
from pcpfs.model.pages import Principal
from pcpfs.ports import HEAD_BYTES, AdapterRegistry, Progress
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.store.folding.fold import PageState, fold_page
from pcpfs.store.folding.timeline import Observation
from pcpfs.store.sightings import Sight, Sighting, Sightings
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction

_FLUSHED_PAGES = 500


@dataclass(frozen=True, slots=True)
class ReextractReport:
    """What was looked at again. `elsewhere` are pages that another clone observes: only that one
    may write of them. `unreadable` are observations whose bytes are not here."""

    pages: int
    observations: int
    restored: int
    elsewhere: int
    unreadable: int
    commit: str | None


@dataclass(slots=True)
class _Counts:
    pages: int = 0
    observations: int = 0
    restored: int = 0
    elsewhere: int = 0
    unreadable: int = 0


def reextract(
    store: Store,
    actor: Principal,
    registry: AdapterRegistry,
    pool: ExtractionPool,
    progress: Progress | None = None,
) -> ReextractReport:
    """Write observations with basis `adapter` where an adapter of a newer version sees the bytes
    of an observation, in all pages that this clone observes."""
    with store.writing("reindex", actor) as transaction:
        work = _Reextraction(store, transaction, registry, pool)
        pages = list(_source_pages(store))
        for number, (namespace, page) in enumerate(pages, 1):
            work.look(namespace, page)
            if number % _FLUSHED_PAGES == 0:
                transaction.flush()
                if progress is not None:
                    progress.step("extracting", number, len(pages))
        counts, commit = work.counts, None
        if counts.observations or counts.restored:
            commit = transaction.commit(
                f"reindex: {counts.observations} observations by newer adapters",
                (
                    ("Pcpfs-Operation", "reindex"),
                    ("Pcpfs-Files", str(counts.pages)),
                    ("Pcpfs-Actor", str(actor)),
                ),
            ).commit
        return ReextractReport(
            counts.pages,
            counts.observations,
            counts.restored,
            counts.elsewhere,
            counts.unreadable,
            commit,
        )


def _source_pages(store: Store) -> Iterator[tuple[Namespace, PageId]]:
    """Also pages that the catalog had to leave out: a lost frames file does that."""
    rows = store.catalog.query(
        "SELECT scope, page_id FROM page WHERE is_source UNION SELECT scope, page_id FROM damage"
    )
    for scope, page in sorted(rows):
        if PageId.pattern.fullmatch(page):
            yield Namespace(scope), PageId(page)


class _Reextraction:
    """Looks at one page after the other within a transaction."""

    def __init__(
        self,
        store: Store,
        transaction: Transaction,
        registry: AdapterRegistry,
        pool: ExtractionPool,
    ) -> None:
        self._store = store
        self._transaction = transaction
        self._registry = registry
        self._pool = pool
        self._sightings = Sightings(store.objects)
        roots = store.catalog.roots()
        self._ours = {row.root_id for row in roots if row.observer == store.local.clone}
        self.counts = _Counts()

    def look(self, namespace: Namespace, page: PageId) -> None:
        """Write what newer adapters see in the observations of a page that hold for some time."""
        try:
            state = fold_page(page, namespace, self._store.objects.page_changes(namespace, page))
            root, path = self._source_of(state)
        except PcpfsError:
            self.counts.unreadable += 1
            return
        if not path:
            return
        self._restore(state, path)
        if root not in self._ours:
            self.counts.elsewhere += 1
            return
        lasting = (o for o in state.timeline if o.valid_to is None or o.valid_to > o.valid_from)
        events: list[Observed] = []
        for seen in lasting:
            event = self._again(namespace, page, path, seen, events[-1] if events else None)
            events += [event] if event else []
        if events:
            self._transaction.change(namespace, page, *events)
            self.counts.pages += 1
            self.counts.observations += len(events)

    def _source_of(self, state: PageState) -> tuple[str, str]:
        """The root and path of a source page; empty for another one."""
        seen = _versions(state)
        if not seen:
            return "", ""
        revision = seen[-1][0].revision
        body = self._store.objects.revision(state.namespace, state.page, revision)
        return source_path(body.source_refs[0]) if body.source_refs else ("", "")

    def _again(
        self,
        namespace: Namespace,
        page: PageId,
        path: str,
        seen: Observation,
        last: Observed | None,
    ) -> Observed | None:
        """The observation of the same bytes by a newer adapter, after the `last` such one of the
        page; None where there is none."""
        found = self._bytes(namespace, page, seen)
        if found is None:
            self.counts.unreadable += 1
            return None
        digest, raw = found
        adapter = self._registry.for_source(path, raw[:HEAD_BYTES])
        if not _is_newer(f"{adapter.name}-{adapter.version}", seen.adapter):
            return None
        extraction = self._pool.extract([(path, raw)])[path]
        if not isinstance(extraction, Extraction) or extraction.adapter_tag == seen.adapter:
            return None
        before = None if last is None else self._sighting(namespace, page, last)
        told = self._transaction.extraction(namespace, digest, extraction, (page, before))
        tag = extraction.adapter_tag
        return Observed(seen.revision, seen.valid_from, "adapter", tag, difference=told)

    def _sighting(self, namespace: Namespace, page: PageId, event: Observed) -> Sighting | None:
        """That of an event of the change in the making."""
        payload = self._store.objects.revision(namespace, page, event.revision).payload
        return Sighting(payload.ref, event.adapter, event.revision, None) if payload else None

    def _restore(self, state: PageState, path: str) -> None:
        """Frames files that are lost, by the version of the adapter that made them."""
        for seen, change in _versions(state):
            adapter = self._registry.by_tag(seen.adapter)
            payload = self._payload(state.namespace, state.page, seen)
            if adapter is None or payload is None:
                continue
            sighting = Sighting(payload, seen.adapter, seen.revision, change)
            with suppress(PcpfsError):
                self._sightings.seen(state.namespace, state.page, sighting)
                continue
            found = self._bytes(state.namespace, state.page, seen)
            if found is not None:
                extraction = adapter.extract(found[1])
                self._transaction.extraction(state.namespace, payload, extraction)
                self._sightings.keep(state.page, payload, Sight(extraction))
                self.counts.restored += 1

    def _payload(
        self, namespace: Namespace, page: PageId, seen: Observation | Version
    ) -> Digest | None:
        try:
            payload = self._store.objects.revision(namespace, page, seen.revision).payload
        except PcpfsError:
            return None
        return payload.ref if payload else None

    def _bytes(
        self, namespace: Namespace, page: PageId, seen: Observation | Version
    ) -> tuple[Digest, bytes] | None:
        """The bytes that were seen; None where they are damaged or were thinned out."""
        digest = self._payload(namespace, page, seen)
        try:
            return (digest, self._store.objects.payload(namespace, digest)) if digest else None
        except PcpfsError:
            return None


def _versions(state: PageState) -> list[tuple[Version, ChangeId | None]]:
    """All that adapters have looked at of a source page, with the changes that may tell of it."""
    beside = [(version, None) for aside in state.asides for version in aside.event.versions]
    return [*beside, *((Version(o.revision, o.adapter), o.change) for o in state.timeline)]


def _is_newer(tag: str, before: str) -> bool:
    """Whether an adapter is a later version than the one of a tag, or one of another kind."""
    name, _, version = tag.rpartition("-")
    old_name, _, old_version = before.rpartition("-")
    if name != old_name or not old_version.isdecimal():
        return True
    return int(version) > int(old_version)
