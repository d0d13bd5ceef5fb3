"""Following the events of one scope: which segments there are, and what stands in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pcpfs.errors import Corrupt, PcpfsError, Unavailable
from pcpfs.model.answers import Pins
from pcpfs.model.grants import READ
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.events.event_lines import (
    EventLines,
    Place,
    event_places,
    latest_events,
    places_in,
)
from pcpfs.store.intents import INTENT
from pcpfs.store.session import Session

SEAL_BYTES = 16
_UNREADABLE = "[not readable]"


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
    seal: bytes
    """A digest of its line: whoever keeps it knows the line again."""
    is_whole: bool = True
    """Whether its text could be read."""
    before: str | None = None
    """The event of the line before it in its segment that can be read."""


class EventLog:
    """The events of one scope. `stamp`, `is_there` and `count` see the newest state of the store,
    the others what was seen last."""

    def __init__(self, session: Session, namespace: Namespace) -> None:
        self._session = session
        self._namespace = namespace

    def stamp(self) -> str:
        """Another one after each change of the store; never the same for other events. (An event's
        id covers those that it follows, so the latest ones stand for all before them.)"""
        catalog = self._refreshed()
        latest = "".join(latest_events(catalog, self._namespace))
        digest = hashlib.sha256(latest.encode()).hexdigest()
        return f"{catalog.meta('catalog_id')} {catalog.generation} {digest[:32]}"

    def is_readable(self) -> bool:
        """Whether the session's principal may read the scope; else there is nothing here."""
        return self._session.authority.may(READ, self._namespace)

    def is_there(self) -> bool:
        """Whether any event was ever taken in."""
        asked = "SELECT 1 FROM segment WHERE scope = ? LIMIT 1"
        return bool(self._refreshed().query(asked, (self._namespace,)))

    def count(self) -> int:
        """How many events were ever taken in; withdrawn ones are among them."""
        asked = (
            "SELECT count(DISTINCT revision_id) FROM event JOIN segment USING (segment) "
            "WHERE scope = ?"
        )
        ((count,),) = self._refreshed().query(asked, (self._namespace,))
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

    def segments(self) -> dict[str, str]:
        """The paths of all segments by their short names, in order of paths."""
        asked = "SELECT segment, path FROM segment WHERE scope = ? ORDER BY path"
        return dict(self._catalog().query(asked, (self._namespace,)))

    def withdrawn(self) -> list[str]:
        """The pages of events that are not active now, sorted."""
        asked = (
            "SELECT page_id FROM page WHERE scope = ? AND is_event AND lifecycle <> 'active' "
            "ORDER BY page_id"
        )
        return [page for (page,) in self._catalog().query(asked, (self._namespace,))]

    def read(self, paths: Iterable[str]) -> Iterator[EventRecord | None]:
        """The lines of segments; None for one that cannot be read (`fsck` names it). A segment that
        is what its name says is not checked line by line again: the catalog knows of none but
        sound ones."""
        for path in paths:
            yield from self._segment(path)

    def overlaps(self, segment: str) -> bool:
        """Whether any event of a segment (by its short name) stands in others too."""
        asked = (
            "SELECT 1 FROM event AS own JOIN event AS other USING (revision_id) "
            "WHERE own.segment = ? AND other.segment <> own.segment LIMIT 1"
        )
        return bool(self._catalog().query(asked, (segment,)))

    def event(self, revision_id: str, seal: bytes) -> EventRecord:
        """The event whose line has this seal; Corrupt if there is none any more."""
        for place in event_places(self._catalog(), "revision_id = ?", revision_id):
            raw = self._bytes(place)
            if raw is not None and _seal(raw) == seal:
                return self._record(json.loads(raw), seal)
        raise Corrupt(f"the line of {revision_id} is gone or damaged; run pcpfs fsck")

    def _refreshed(self) -> Catalog:
        return self._session.reader(Pins()).catalog

    def _catalog(self) -> Catalog:
        return self._session.authority.catalog

    def _bytes(self, place: Place) -> bytes | None:
        try:
            with open(Path(self._session.store.path, place.path), "rb") as file:
                file.seek(place.start)
                return file.read(place.length)
        except OSError:
            return None

    def _segment(self, path: str) -> Iterator[EventRecord | None]:
        store = self._session.store
        try:
            raw = store.disk.read(Path(store.path, path))
        except (FileNotFoundError, PcpfsError):
            raw = b""
        is_sound = hashlib.sha256(raw).hexdigest() == Path(path).stem
        before: str | None = None
        for row in places_in(store.catalog, path):
            line = raw[row.start : row.start + row.length] if is_sound else self._checked(row)
            if line is None:
                yield None
            else:
                yield self._record(json.loads(line), _seal(line))._replace(before=before)
                before = row.revision_id

    def _checked(self, row: Place) -> bytes | None:
        store = self._session.store
        try:
            return EventLines(store.path, lambda: store.catalog).read(row).encode()
        except PcpfsError:
            return None

    def _record(self, value: Mapping[str, Any], seal: bytes) -> EventRecord:
        envelope = value["envelope"]
        event = envelope["event"]
        text = value.get("text")
        if text is None:
            text = self._payload(envelope)
        return EventRecord(
            page_id=envelope["page_id"],
            revision_id=value["revision_id"],
            after=tuple(event["after"]),
            time=Instant.parse(envelope.get("observed_at") or envelope["created_at"]),
            actor=envelope["created_by"]["actor_id"],
            text=_UNREADABLE if text is None else text,
            tags=tuple(envelope.get("facets", {}).get("tags", ())),
            about=event.get("about", {}),
            seal=seal,
            is_whole=text is not None,
        )

    def _payload(self, envelope: Mapping[str, Any]) -> str | None:
        """What is no text, or too long for a line; None if it cannot be read."""
        digest = Digest(envelope["payload"]["ref"])
        try:
            raw = self._session.store.objects.payload(self._namespace, digest)
        except PcpfsError:
            return None
        return raw.decode("utf-8", "backslashreplace")


def _seal(line: bytes) -> bytes:
    return hashlib.blake2b(line, digest_size=SEAL_BYTES).digest()
