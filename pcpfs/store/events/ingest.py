"""Taking in events: raw messages, tool events, entries of a ledger (PCP IngestEvent).

Many at once are one segment, one change of the store and one commit. What was taken in before,
told by its key, is not written again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pcpfs.errors import KeyReused, UsageError
from pcpfs.model.answers import Written
from pcpfs.model.events import INLINE, EventLine
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, escaped, refuse_unprintable
from pcpfs.model.pages import (
    EPISTEMIC,
    Facets,
    Occurrence,
    Payload,
    Principal,
    ProvenanceEvent,
    Revision,
)
from pcpfs.model.requests import EventDraft
from pcpfs.model.secrets import secrets_in, withheld
from pcpfs.model.texts import decoded, encoding_of
from pcpfs.store.events.event_lines import EventLines, latest_events
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.writes import one_line

SEGMENT_BYTES = 4 << 20
"""Of more payload bytes than these further segments are made."""

_UNKNOWN_TYPE = "application/octet-stream"


class Ingest:
    """Takes events into one store in the name of one principal."""

    def __init__(self, store: Store, actor: Principal) -> None:
        self._store = store
        self._actor = actor

    def take(self, scope: str, drafts: Sequence[EventDraft]) -> tuple[Written, ...]:
        """Write these events in this order, each after the one before, the first after the latest
        of the scope. All or nothing: KeyReused if a key already names other bytes."""
        namespace = Namespace.given(scope)
        sound = [_without_secrets(draft) for draft in drafts]
        for draft in sound:
            _check(draft)
        with self._store.writing("event", self._actor) as transaction:
            taking = _Taking(self._store, self._actor, transaction, namespace)
            answers = [taking.take(draft) for draft in sound]
            if not taking.lines:
                return tuple(answers)
            transaction.ensure_scope(namespace, escaped(scope))
            places = taking.keep()
            done = transaction.commit(*self._message(namespace, taking.lines))
        return tuple(
            replace(
                answer,
                path=places.get(answer.revision_id, answer.path),
                commit=done.commit,
                warnings=done.warnings,
            )
            if answer.created
            else answer
            for answer in answers
        )

    def _message(
        self, namespace: Namespace, lines: Sequence[EventLine]
    ) -> tuple[str, list[tuple[str, str]]]:
        trailers = [("Pcpfs-Operation", "event"), ("Pcpfs-Actor", str(self._actor))]
        if len(lines) > 1:
            count = str(len(lines))
            return f"event: {count} in {namespace}", [*trailers, ("Pcpfs-Events", count)]
        ids = [("Pcpfs-Page", lines[0].revision.page), ("Pcpfs-Revision", lines[0].revision_id)]
        title = lines[0].revision.facets.title or f"one in {namespace}"
        return f"event: {one_line(title)}", [trailers[0], *ids, trailers[1]]


class _Taking:
    """One batch on its way in."""

    def __init__(
        self, store: Store, actor: Principal, transaction: Transaction, namespace: Namespace
    ) -> None:
        self._store = store
        self._actor = actor
        self._transaction = transaction
        self._namespace = namespace
        self._latest = tuple(latest_events(store.catalog, namespace))
        self._known: dict[PageId, tuple[EventDraft, Written]] = {}
        self.lines: list[EventLine] = []

    def take(self, draft: EventDraft) -> Written:
        page = self._page(draft.key)
        if draft.key is not None:
            known = self._retried(page, draft)
            if known is not None:
                return known
        line = self._line(page, draft)
        self.lines.append(line)
        self._latest = (line.revision_id,)
        written = Written(page, line.revision_id, self._namespace, None)
        if draft.key is not None:
            self._known[page] = (draft, replace(written, created=False))
        return written

    def keep(self) -> dict[RevisionId, str]:
        """Hand the lines to the transaction; the segment of each."""
        places: dict[RevisionId, str] = {}
        for part in _parts(self.lines):
            path = self._transaction.segment(self._namespace, part)
            places.update(dict.fromkeys([line.revision_id for line in part], path))
        return places

    def _page(self, key: str | None) -> PageId:
        if key is None:
            return PageId.authored(self._store.entropy.time_ordered())
        return self._store.objects.keyed_page(self._namespace, key)

    def _retried(self, page: PageId, draft: EventDraft) -> Written | None:
        """The answer of the first time; None if this is it."""
        if page in self._known:
            before, answer = self._known[page]
            if _bytes_of(before) != _bytes_of(draft):
                raise _reused(page, answer.revision_id)
            return answer
        row = self._store.catalog.page(page)
        if row is None:
            return None
        first = RevisionId(self._store.catalog.spans(page)[0].revision_id)
        payload = self._store.objects.revision(self._namespace, page, first).payload
        if payload is None or (payload.ref, payload.media_type) != _bytes_of(draft):
            raise _reused(page, first)
        path = EventLines(self._store.path, lambda: self._store.catalog).segment_of(first)
        return Written(page, first, self._namespace, path, created=False)

    def _line(self, page: PageId, draft: EventDraft) -> EventLine:
        digest, media_type = _bytes_of(draft)
        inline = len(draft.payload) <= INLINE
        if not inline:
            self._transaction.payload(self._namespace, draft.payload)
        at = self._transaction.at
        body = Revision(
            page=page,
            namespace=self._namespace,
            payload=Payload(media_type, digest, len(draft.payload)),
            source_refs=draft.source_refs,
            facets=Facets(title=draft.title, tags=draft.tags),
            created_at=at,
            created_by=self._actor,
            provenance=(ProvenanceEvent("ingest", self._actor, at),),
            observed_at=draft.observed_at,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            epistemic=draft.epistemic,
            salt=self._store.entropy.random(16).hex(),
            event=Occurrence(self._transaction.shop.clone, self._latest, draft.about),
        )
        return EventLine(body, draft.payload if inline else None)


def _parts(lines: Sequence[EventLine]) -> Iterator[list[EventLine]]:
    part: list[EventLine] = []
    size = 0
    for line in lines:
        held = len(line.content or b"")
        if part and size + held > SEGMENT_BYTES:
            yield part
            part, size = [], 0
        part.append(line)
        size += held
    yield part


def _bytes_of(draft: EventDraft) -> tuple[Digest, str]:
    return Digest.of(draft.payload), draft.media_type or _UNKNOWN_TYPE


def _reused(page: PageId, revision: RevisionId) -> KeyReused:
    return KeyReused(
        f"this key already names the event {page} with other bytes; use another key",
        page_id=page,
        revision_id=revision,
    )


def _without_secrets(draft: EventDraft) -> EventDraft:
    """Ledger L1: the span of a secret is replaced, the event is kept."""
    return replace(
        draft,
        payload=_payload_without_secrets(draft.payload),
        media_type=None if secrets_in(draft.media_type or "") else draft.media_type,
        title=draft.title and withheld(draft.title),
        tags=tuple(map(withheld, draft.tags)),
        source_refs=tuple(map(withheld, draft.source_refs)),
        epistemic={name: withheld(text) for name, text in draft.epistemic.items()},
        about={name: withheld(text) for name, text in draft.about.items()},
    )


def _payload_without_secrets(raw: bytes) -> bytes:
    """In the encoding that it has; the same bytes where it holds none."""
    text = decoded(raw)
    if not secrets_in(text):
        return raw
    return withheld(text).encode(encoding_of(raw))


def _check(draft: EventDraft) -> None:
    """Refuse what could not be shown, or would not mean anything."""
    if draft.title is not None:
        refuse_unprintable(draft.title, "title")
    for tag in draft.tags:
        refuse_unprintable(tag, "tag")
    for ref in draft.source_refs:
        refuse_unprintable(ref, "source ref")
    for name, text in draft.about.items():
        refuse_unprintable(text, name)
    if draft.key is not None and not 1 <= len(draft.key) <= 500:
        raise UsageError("a key has 1 to 500 characters")
    unknown = set(draft.epistemic) - set(EPISTEMIC)
    if unknown:
        raise UsageError(f"{sorted(unknown)[0]} is none of {', '.join(EPISTEMIC)}")
