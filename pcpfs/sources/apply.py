"""Carrying out a plan: observations and closings, in parts that fit in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from pcpfs.model.changes import COMMIT, FIRST, Closed, Event, Linked, Noted, Observed, Relation
from pcpfs.model.frames import FILE_KIND, LFS_POINTER, Extraction, frame_ids
from pcpfs.model.ids import FrameId, PageId, RelationId, RevisionId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import source_ref
from pcpfs.model.pages import Payload, Revision
from pcpfs.ports import AdapterRegistry, Progress
from pcpfs.sources.applied import BATCH_BYTES, BATCH_FILES, Applied
from pcpfs.sources.dating import LastScan, valid_from_of
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.extraction_worker import Unextracted
from pcpfs.sources.plan import Close, Novelty, Observe, Plan
from pcpfs.sources.reading import read_stable
from pcpfs.sources.roots import Root
from pcpfs.sources.scanned import Candidate, Content, Reason, Skipped
from pcpfs.sources.statcache import Entry, StatCache
from pcpfs.sources.withholding import without_secrets
from pcpfs.store.catalogs.rows import SpanRow
from pcpfs.store.scopes.secrets import AllowList
from pcpfs.store.sightings import Sighting
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction

_NAMED = 100


@dataclass(frozen=True, slots=True)
class _Before:
    """The last observation of a page; of one that holds also names and digests of its symbols."""

    revision: RevisionId
    valid_from: Instant
    valid_to: Instant | None
    basis: str | None
    recorded_at: Instant
    symbols: Mapping[FrameId, tuple[str, str]]
    sighting: Sighting | None

    @property
    def holds(self) -> bool:
        return self.valid_to is None


@dataclass(frozen=True, slots=True)
class Applier:
    """Applies plans to one root within a transaction of its caller.

    `cache` is what was known of the root's files before the scan that the plan is made from, and
    `last_scan` the last one that covered all of them.
    `flushed` is called whenever a part has become durable, before the rest goes on; a part has at
    most `batch_files` files.
    """

    store: Store
    registry: AdapterRegistry
    pool: ExtractionPool
    transaction: Transaction
    root: Root
    cache: StatCache
    last_scan: LastScan
    flushed: Callable[[], None]
    batch_files: int = BATCH_FILES
    applied: Applied = field(default_factory=Applied)

    def apply(
        self, plan: Plan, contents: Mapping[str, bytes], progress: Progress | None = None
    ) -> Applied:
        """Record a plan. `contents` holds bytes that were read already; the rest is read again,
        and what changed or vanished in between is left to the next look."""
        for close in plan.close:
            self._close(close)
        done, total = 0, len(plan.observe)
        for batch in _batches(plan.observe, self.batch_files):
            read = list(self._read(batch, contents))
            seen = self.pool.extract([(c.candidate.path, c.data) for _, c in read])
            for observe, content in read:
                extraction = self._usable(content, seen[content.candidate.path])
                self._observe(observe, content, extraction)
            done += len(batch)
            if progress is not None:
                progress.step(f"reading {self.root.name}", done, total)
            if done < total:
                self.transaction.flush()
                self.flushed()
        return self.applied

    def _read(
        self, batch: Sequence[Observe], contents: Mapping[str, bytes]
    ) -> Iterator[tuple[Observe, Content]]:
        allowed = AllowList.of(self.store.catalog, self.root.namespace)
        for observe in batch:
            path = observe.file.path
            known = contents.get(path)
            if known is not None:
                yield observe, Content(observe.file, known)
                continue
            outcome = read_stable(self.root.path, path, self.root.options.max_size)
            outcome = without_secrets(outcome, allowed)
            if isinstance(outcome, Content):
                yield observe, outcome
            elif isinstance(outcome, Skipped):
                self.applied.skipped.append(outcome)

    def _usable(self, content: Content, seen: Extraction | Unextracted) -> Extraction:
        """What the adapter saw; for a file that it could not cope with, what plain text sees."""
        path = content.candidate.path
        if isinstance(seen, Extraction):
            if seen.language == LFS_POINTER:
                self.applied.skipped.append(
                    Skipped(path, Reason.LFS_POINTER, "; ".join(seen.notes))
                )
            elif seen.limits:
                reason = Reason.FEWER_SYMBOLS if seen.symbols else Reason.NO_SYMBOLS
                self.applied.skipped.append(Skipped(path, reason, "; ".join(seen.limits)))
            return seen
        self.applied.skipped.append(Skipped(path, Reason.NO_SYMBOLS, seen.detail))
        plain = self.registry.for_source("", b"")
        return plain.extract(content.data)

    def _observe(self, observe: Observe, content: Content, extraction: Extraction) -> None:
        root, transaction = self.root, self.transaction
        path = content.candidate.path
        page = PageId.of_source(root.namespace, root.root_id, path)
        digest = transaction.payload(root.namespace, content.data)
        adapter = self.registry.by_tag(extraction.adapter_tag)
        media_type = adapter.media_type if adapter else "text/plain"
        revision = transaction.revision(
            Revision(
                page=page,
                namespace=root.namespace,
                payload=Payload(media_type, digest, len(content.data)),
                source_refs=(source_ref(root.root_id, path),),
            )
        )
        before = None if observe.novelty is Novelty.NEW else self._before(page)
        start = (page, before.sighting) if before is not None and before.sighting else None
        difference = transaction.extraction(root.namespace, digest, extraction, start)
        since, basis = self._since(page, revision, content.candidate, before)
        if observe.moved_from is not None:
            since, basis = max(since, transaction.at), "moved"
        tag = extraction.adapter_tag
        events: list[Event] = [Observed(revision, since, basis, tag, difference=difference)]
        opened, closed = self._difference(page, before, extraction)
        if before is not None and (opened or closed):
            events.append(Noted({"opened": opened[:_NAMED], "closed": closed[:_NAMED]}))
        if observe.moved_from is not None:
            events.append(self._renamed_from(revision, observe.moved_from))
        transaction.change(root.namespace, page, *events)
        self.applied.count(observe, len(opened), len(closed))

    def _since(
        self, page: PageId, revision: RevisionId, file: Candidate, before: _Before | None
    ) -> tuple[Instant, str]:
        """Since when these bytes are true, and how that is known; never before what was true then,
        nor before a scan that found nothing here.

        Of a page that only commits tell of, a first look is a first scan: it yields to them, unless
        they would take it for one of theirs, or the file has come since.
        """
        now, entry = self.transaction.at, self.cache.get(file.path)
        modified = Instant.of_nanoseconds(file.stat.mtime_ns)
        missed = None if before is not None and before.holds else self._missed(file, entry)
        told = before is not None and before.basis == COMMIT
        is_first = before is None or (told and entry is None and self._is_new(page, revision))
        held = None
        if before is not None:
            held = before.valid_to if is_first else self._held_until(page, file, before, entry)
        last = max((at for at in (missed, held) if at is not None), default=None)
        since = valid_from_of(file.stat.mtime_ns, last, now)
        if is_first and missed is None and (held is None or since == modified):
            return since, FIRST
        if before is not None:
            since = max(since, before.valid_to or before.valid_from)
        return since, "mtime" if since == modified else "seen"

    def _missed(self, file: Candidate, entry: Entry | None) -> Instant | None:
        """When these bytes were last known not to be there, of a file of which no page is open."""
        if entry is None:
            return self.last_scan.missed(file.path)
        return None if entry.digest == file.digest else entry.seen

    def _held_until(
        self, page: PageId, file: Candidate, before: _Before, entry: Entry | None
    ) -> Instant:
        """When what was there before was last known to hold."""
        seen = self.cache.last_seen(file.path)
        if before.basis == COMMIT:  # what was seen here may have been other bytes
            payload = self.store.objects.revision(
                self.root.namespace, page, before.revision
            ).payload
            same = entry is not None and payload is not None and entry.digest == payload.ref
            seen = seen if same else before.valid_from
        return before.valid_to or seen or before.recorded_at

    def _is_new(self, page: PageId, revision: RevisionId) -> bool:
        """Whether no look ever told of a page, and no commit of this revision."""
        query = "SELECT 1 FROM span WHERE page_id = ? AND (basis <> ? OR revision_id = ?) LIMIT 1"
        return not self.store.catalog.query(query, (page, COMMIT, revision))

    def _difference(
        self, page: PageId, before: _Before | None, extraction: Extraction
    ) -> tuple[list[str], list[str]]:
        """The names of the symbols that open and of those that close."""
        now = {f.frame_id: f.symbol for f in frame_ids(page, extraction.symbols)}
        was = before.symbols if before and before.holds else {}
        opened = [s.qualified_name for f, s in now.items() if was.get(f, ("", ""))[1] != s.digest]
        closed = [n for f, (n, d) in was.items() if f not in now or now[f].digest != d]
        return opened, closed

    def _close(self, close: Close) -> None:
        root, transaction = self.root, self.transaction
        before = self._before(close.page)
        if before is None or not before.holds:
            return
        target = close.moved_to and PageId.of_source(root.namespace, root.root_id, close.moved_to)
        end = max(transaction.at, before.valid_from)
        closed = Closed(before.revision, end, close.reason, None, target or None)
        names = [name for name, _ in before.symbols.values()]
        events: list[Event] = [closed]
        events += [Noted({"closed": names[:_NAMED]})] if names else []
        transaction.change(root.namespace, close.page, *events)
        self.applied.count_close(close, len(names))

    def _before(self, page: PageId) -> _Before | None:
        """As the catalog has it, which is up to date under the writer's lock."""
        catalog = self.store.catalog
        last = catalog.last_span(page)
        if last is None:
            return None
        frames = catalog.frames("page_id = ? AND valid_to IS NULL AND kind <> ?", (page, FILE_KIND))
        return _Before(
            RevisionId(last.revision_id),
            Instant(last.valid_from),
            None if last.valid_to is None else Instant(last.valid_to),
            last.basis,
            Instant(last.recorded_at),
            {FrameId(frame.frame_id): (frame.qualified_name, frame.digest) for frame in frames},
            self._sighting(last),
        )

    def _sighting(self, span: SpanRow) -> Sighting | None:
        objects, page = self.store.objects, PageId(span.page_id)
        body = objects.revision(self.root.namespace, page, RevisionId(span.revision_id))
        return Sighting.of_span(span, body.payload.ref) if body.payload else None

    def _renamed_from(self, revision: RevisionId, old: str) -> Linked:
        root, transaction = self.root, self.transaction
        page = PageId.of_source(root.namespace, root.root_id, old)
        row = self.store.catalog.page(page)
        assert row is not None, "a file is renamed from a page that is known"
        return Linked(
            Relation(
                relation_id=RelationId("rel_" + base32(self.store.entropy.random(16))),
                from_revision=revision,
                type="renamed_from",
                to_page=page,
                to_revision=RevisionId(row.revision_id),
                created_by=transaction.actor,
                created_at=transaction.at,
            )
        )


def _batches(observations: Iterable[Observe], files: int) -> Iterator[list[Observe]]:
    """Parts of at most so many files and about BATCH_BYTES bytes."""
    waiting = iter(observations)
    while part := list(islice(waiting, files)):
        while part:
            size, count = 0, 0
            while count < len(part) and (not count or size < BATCH_BYTES):
                size += part[count].file.stat.size
                count += 1
            yield part[:count]
            part = part[count:]
