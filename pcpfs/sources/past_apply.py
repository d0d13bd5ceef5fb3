"""Writing what commits say of paths: payloads, frames, and one change a page with all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pcpfs.git import ObjectId, Repository
from pcpfs.model.branches import Version
from pcpfs.model.changes import (
    COMMIT,
    Closed,
    Event,
    Linked,
    Observed,
    Relation,
    Retracted,
    Unlinked,
)
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import Digest, PageId, RelationId, RevisionId, derived
from pcpfs.model.names import source_ref
from pcpfs.model.pages import Payload, Revision
from pcpfs.ports import HEAD_BYTES, Adapter, AdapterRegistry
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.past_plan import Contents, Held, Told
from pcpfs.sources.past_reading import PastReading
from pcpfs.sources.roots import Root
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.transaction import Transaction

BATCH_BYTES = 16 << 20
FEW = 100
"""Of fewer commits git need not look for what is alike."""

_Seen = Mapping[tuple[ObjectId, str], Extraction]
_Raw = Mapping[ObjectId, bytes | None]


@dataclass(frozen=True, slots=True)
class Writing:
    """What is to be written of one path: first what is taken back, then what commits say.
    `revision` is the last that stays recorded of it."""

    path: str
    page: PageId
    said: tuple[Told, ...]
    retracted: tuple[str, ...] = ()
    revision: RevisionId | None = None


def batches(pages: Sequence[Writing], contents: Contents) -> Iterator[list[Writing]]:
    """Parts of about BATCH_BYTES; a page with more is written in several."""
    part: list[Writing] = []
    size = 0
    for page in pages:
        start = 0
        for end, one in enumerate(page.said, 1):
            held = contents.get(one.blob) if one.blob else None
            size += held.size if isinstance(held, Held) else 0
            if size > BATCH_BYTES:
                yield [*part, _piece(page, start, end)]
                part, size, start = [], 0, end
        if start < len(page.said) or not page.said:
            part.append(_piece(page, start, len(page.said)))
    if part:
        yield part


def _piece(page: Writing, start: int, end: int) -> Writing:
    said = page.said[start:end]
    return Writing(page.path, page.page, said, () if start else page.retracted, page.revision)


@dataclass(slots=True)
class PastApplier:
    """Writes into a transaction of its caller; counts what it wrote."""

    registry: AdapterRegistry
    pool: ExtractionPool
    transaction: Transaction
    catalog: Catalog
    root: Root
    observed: int = 0
    closed: int = 0
    retracted: set[str] = field(default_factory=set)
    _tags: dict[tuple[ObjectId, str], str] = field(default_factory=dict)
    _known: dict[tuple[PageId, ObjectId], Version] = field(default_factory=dict)
    _last: dict[PageId, RevisionId] = field(default_factory=dict)

    def write(self, repository: Repository, batch: Sequence[Writing], contents: Contents) -> None:
        """Objects and changes of some pages, so that the versions of a file lie side by side."""
        blobs = list(dict.fromkeys(blob for page in batch for blob in self._blobs(page)))
        raw = dict(zip(blobs, repository.show_blobs(blobs), strict=True))
        seen = self._extracted(batch, contents, raw)
        for page in batch:
            self._write(page, contents, raw, seen)

    def write_parts(
        self,
        reading: PastReading,
        parts: Sequence[Sequence[Writing]],
        contents: Contents,
        what: str,
        flushed: Callable[[], None],
    ) -> None:
        """Parts one after the other, each of them durable by itself; then `flushed` is called."""
        for number, part in enumerate(parts, 1):
            self.write(reading.repository, part, contents)
            reading.tell(f"recording the {what} of", number, len(parts))
            self.transaction.flush()
            flushed()

    def link(self, pages: Sequence[Writing]) -> None:
        """Say of what was renamed what it was before, once the catalog knows both."""
        for page in pages:
            links = [link for one in page.said if (link := self._linked(page, one)) is not None]
            if links:
                self.transaction.change(self.root.namespace, page.page, *links)

    def _blobs(self, page: Writing) -> Iterator[ObjectId]:
        """What has to be read of a page."""
        return (one.blob for one in page.said if one.blob)

    def _extracted(self, batch: Sequence[Writing], contents: Contents, raw: _Raw) -> _Seen:
        """What the adapters see in the contents that this walk has not met yet."""
        wanted: dict[tuple[ObjectId, str], tuple[str, bytes]] = {}
        for page in batch:
            for blob in dict.fromkeys(self._blobs(page)):
                content = raw.get(blob)
                if content is not None and not self._is_known(page, blob, content, contents):
                    key = (blob, self._adapter(page.path, content).name)
                    if key not in self._tags:
                        wanted.setdefault(key, (f"{blob}/{key[1]}/{page.path}", content))
        answers = self.pool.extract(list(wanted.values()))
        found = {}
        for key, (name, content) in wanted.items():
            answer = answers[name]
            if not isinstance(answer, Extraction):
                answer = self.registry.for_source("", b"").extract(content)
            self._tags[key] = answer.adapter_tag
            found[key] = answer
        return found

    def _is_known(self, page: Writing, blob: ObjectId, content: bytes, contents: Contents) -> bool:
        """Whether the store has what an adapter saw in a content."""
        return False

    def _adapter(self, path: str, content: bytes) -> Adapter:
        return self.registry.for_source(path, content[:HEAD_BYTES])

    def _write(self, page: Writing, contents: Contents, raw: _Raw, seen: _Seen) -> None:
        namespace, transaction = self.root.namespace, self.transaction
        frames: list[tuple[Digest, Extraction]] = []
        versions: dict[ObjectId, Version] = {}
        for blob in dict.fromkeys(self._blobs(page)):
            content, held = raw.get(blob), contents.get(blob)
            if content is not None and isinstance(held, Held):
                transaction.payload(namespace, content)
                key = (blob, self._adapter(page.path, content).name)
                frames += [(held.digest, seen[key])] if key in seen else []
                versions[blob] = self._known.get((page.page, blob)) or self._version(
                    page, held, self._tags[key]
                )
        for digest, extraction in frames:
            transaction.extraction(namespace, digest, extraction)
        events = list(self._events(page, versions))
        if events:
            transaction.change(namespace, page.page, *events)

    def _events(self, page: Writing, versions: Mapping[ObjectId, Version]) -> Iterator[Event]:
        """What is said of a page, given what stands for its contents."""
        if page.revision is not None:
            self._last.setdefault(page.page, page.revision)
        yield from self._retractions(page)
        for one in page.said:
            if one.blob is not None and one.blob in versions:
                yield self._observation(page, one, versions[one.blob])
            elif one.blob is None and page.page in self._last:
                yield self._closing(page, one)

    def _version(self, page: Writing, held: Held, tag: str) -> Version:
        return Version(self.transaction.revision(self._body(page, held, tag)), tag)

    def _body(self, page: Writing, held: Held, tag: str) -> Revision:
        adapter = self.registry.by_tag(tag)
        media_type = adapter.media_type if adapter else "text/plain"
        return Revision(
            page=page.page,
            namespace=self.root.namespace,
            payload=Payload(media_type, held.digest, held.size),
            source_refs=(source_ref(self.root.root_id, page.path),),
        )

    def _observation(self, page: Writing, one: Told, seen: Version) -> Observed:
        self._last[page.page] = seen.revision
        self.observed += 1
        step = one.step
        return Observed(seen.revision, step.at, COMMIT, seen.adapter, step.commit, step.author)

    def _closing(self, page: Writing, one: Told) -> Closed:
        self.closed += 1
        target = one.moved_to and self._page_of(one.moved_to)
        step, revision = one.step, self._last[page.page]
        return Closed(revision, step.at, one.reason, None, target or None, step.commit, step.author)

    def _retractions(self, page: Writing) -> Iterator[Event]:
        if page.retracted:
            self.retracted.update(page.retracted)
            yield Retracted(commits=page.retracted)
            for commit in page.retracted:
                relation = _relation_id(page.page, commit)
                if self.catalog.relations("relation_id = ?", (relation,)):
                    yield Unlinked(relation)

    def _linked(self, page: Writing, one: Told) -> Linked | None:
        if one.moved_from is None:
            return None
        old = self._page_of(one.moved_from)
        before = self._revision_at(old, "end_commit", one)
        after = self._revision_at(page.page, "commit_id", one)
        if before is None or after is None:
            return None
        return Linked(
            Relation(
                relation_id=_relation_id(page.page, one.step.commit),
                from_revision=after,
                type="renamed_from",
                to_page=old,
                to_revision=before,
                created_by=self.transaction.actor,
                created_at=self.transaction.at,
            )
        )

    def _revision_at(self, page: PageId, edge: str, one: Told) -> RevisionId | None:
        query = f"SELECT revision_id FROM span WHERE page_id = ? AND {edge} = ?"
        rows = self.catalog.query(query, (page, one.step.commit))
        return RevisionId(rows[0][0]) if rows else None

    def _page_of(self, path: str) -> PageId:
        return PageId.of_source(self.root.namespace, self.root.root_id, path)


def _relation_id(page: PageId, commit: str) -> RelationId:
    """The same whenever it is recorded, so that it is there once."""
    return RelationId("rel_" + derived("renamed", page, commit))
