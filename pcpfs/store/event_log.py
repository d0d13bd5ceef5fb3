"""Following the events of one scope: what came since the last look, read once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.model.answers import Pins
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.store.catalog import Catalog
from pcpfs.store.event_lines import EventLines, Place, places_in, segments_of
from pcpfs.store.intents import INTENT
from pcpfs.store.session import Session


class EventRecord(NamedTuple):
    """An event in short: what a view of many needs."""

    page_id: str
    revision_id: str
    after: tuple[str, ...]
    time: Instant
    actor: str
    text: str
    tags: tuple[str, ...]
    about: Mapping[str, str]
    before: str | None = None
    """The event of the line before it in its segment that can be read."""


class News(NamedTuple):
    """Events that were not told before. If something was taken away, or withdrawn or restored,
    `is_anew`: then these are all events that are active."""

    events: tuple[EventRecord, ...]
    is_anew: bool


class EventLog:
    """The events of one scope, for one follower."""

    def __init__(self, session: Session, namespace: Namespace) -> None:
        self._session = session
        self._namespace = namespace
        self._state: tuple[str | None, int] | None = None
        self._told: dict[str, tuple[EventRecord, ...]] = {}
        self._withdrawn: frozenset[str] = frozenset()

    def count(self) -> int:
        """How many events were ever taken in; withdrawn ones are among them."""
        catalog = self._session.reader(Pins()).catalog
        asked = (
            "SELECT count(DISTINCT revision_id) FROM event JOIN segment USING (segment) "
            "WHERE scope = ?"
        )
        ((count,),) = catalog.query(asked, (self._namespace,))
        return int(count)

    def settle(self) -> None:
        """Everything that was acknowledged is committed. Unavailable where git cannot commit: then
        it is written, and waits."""
        store = self._session.store
        intent = store.local_folder / INTENT
        if intent.exists():
            with store.writing("event", self._session.principal):
                pass  # whoever holds the lock finishes what waits
        if intent.exists():
            raise Unavailable(
                f"everything is written, but {store.path} cannot be committed to now; look at "
                "git status there, and try again"
            )

    def news(self) -> News | None:
        """What came since the last call; None where nothing did. Lines that cannot be read are
        left out (`fsck` names them)."""
        catalog = self._session.reader(Pins()).catalog
        state = (catalog.meta("catalog_id"), catalog.generation)
        if state == self._state:
            return None
        self._state = state
        return self._looked(catalog)

    def _looked(self, catalog: Catalog) -> News | None:
        there = segments_of(catalog, self._namespace)
        withdrawn = self._now_withdrawn(catalog)
        is_anew = withdrawn != self._withdrawn or not self._told.keys() <= set(there)
        new = {path: tuple(self._read(path)) for path in there if path not in self._told}
        self._told = {path: self._told.get(path) or new.get(path, ()) for path in there}
        self._withdrawn = withdrawn
        if not new and not is_anew:
            return None
        parts = self._told if is_anew else new
        events = {event.revision_id: event for part in parts.values() for event in part}
        return News(tuple(e for e in events.values() if e.page_id not in withdrawn), is_anew)

    def _now_withdrawn(self, catalog: Catalog) -> frozenset[str]:
        asked = "SELECT page_id FROM page WHERE scope = ? AND is_event AND lifecycle <> 'active'"
        return frozenset(page for (page,) in catalog.query(asked, (self._namespace,)))

    def _read(self, path: str) -> Iterator[EventRecord]:
        """The sound lines of a segment. One that is what its name says is not checked line by line
        again: the catalog knows of none but sound ones."""
        store = self._session.store
        rows = places_in(store.catalog, path)
        try:
            raw = store.disk.read(Path(store.path, path))
        except (FileNotFoundError, PcpfsError):
            return
        if hashlib.sha256(raw).hexdigest() != path.rpartition("/")[2].removesuffix(".jsonl"):
            raw = b""
        before: str | None = None
        for row in rows:
            value = json.loads(raw[row.start : row.start + row.length]) if raw else self._one(row)
            if value is not None:
                yield self._record(value)._replace(before=before)
                before = row.revision_id

    def _one(self, row: Place) -> Any:
        store = self._session.store
        try:
            return json.loads(EventLines(store.path, lambda: store.catalog).read(row).encode())
        except PcpfsError:
            return None

    def _record(self, value: Mapping[str, Any]) -> EventRecord:
        envelope = value["envelope"]
        event = envelope["event"]
        text = value.get("text")
        return EventRecord(
            page_id=envelope["page_id"],
            revision_id=value["revision_id"],
            after=tuple(event["after"]),
            time=Instant.parse(envelope.get("observed_at") or envelope["created_at"]),
            actor=envelope["created_by"]["actor_id"],
            text=text if text is not None else self._payload(envelope),
            tags=tuple(envelope.get("facets", {}).get("tags", ())),
            about=event.get("about", {}),
        )

    def _payload(self, envelope: Mapping[str, Any]) -> str:
        """What is no text, or too long for a line."""
        digest = Digest(envelope["payload"]["ref"])
        try:
            raw = self._session.store.objects.payload(self._namespace, digest)
        except PcpfsError:
            return "[not readable]"
        return raw.decode("utf-8", "backslashreplace")
