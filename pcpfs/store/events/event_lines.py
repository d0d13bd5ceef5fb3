"""Finding and reading event pages: where a catalog says that their lines are."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import NamedTuple

from pcpfs.errors import NotFound, PcpfsError, Unavailable
from pcpfs.model.changes import Change
from pcpfs.model.events import EventLine, change_of
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Revision
from pcpfs.store.catalogs.catalog import Catalog


class Place(NamedTuple):
    """Where the line of an event stands."""

    revision_id: str
    page_id: str
    path: str
    start: int
    length: int


class EventLines:
    """The events of one store (`objects.EventSource`). A line that is damaged in one segment is
    taken from another one that has it too."""

    def __init__(self, root: Path, catalog: Callable[[], Catalog]) -> None:
        self._root = os.fspath(root)
        self._catalog = catalog

    def revision(self, revision: RevisionId) -> Revision | None:
        """The envelope of an event; None if no segment has it."""
        line = self._first("revision_id = ?", revision)
        return None if line is None else line.revision

    def payload(self, namespace: Namespace, digest: Digest) -> bytes | None:
        """Bytes that some event of a scope holds; None if none does."""
        line = self._first("digest = ? AND scope = ?", digest, namespace)
        return None if line is None else line.content

    def change(self, change: ChangeId) -> Change | None:
        """An event as a change of its page; None if no segment has it."""
        start = f"rev_{change[4:]}"
        line = self._first("revision_id >= ? AND revision_id < ?", start, start + "g")
        return None if line is None else line.change

    def changes(self, page: PageId, known: Container[ChangeId]) -> dict[ChangeId, Change]:
        """The events of a page as changes of it, without those that are known."""
        rows = self._rows("page_id = ?", page)
        wanted = dict.fromkeys(RevisionId(row.revision_id) for row in rows)
        found: dict[ChangeId, Change] = {}
        for revision in wanted:
            if change_of(revision) not in known:
                line = self._first("revision_id = ?", revision)
                if line is not None:
                    found[line.change_id] = line.change
        return found

    def segment_of(self, revision: str) -> str | None:
        """The path of a segment that holds an event."""
        rows = self._rows("revision_id = ?", revision)
        return rows[0].path if rows else None

    def _first(self, condition: str, *parameters: str) -> EventLine | None:
        """The first of these lines that can be read; the error of the last if none can."""
        trouble: PcpfsError | None = None
        for row in self._rows(condition, *parameters):
            try:
                return self.read(row)
            except PcpfsError as error:
                trouble = error
        if trouble is not None:
            raise trouble
        return None

    def _rows(self, condition: str, *parameters: str) -> list[Place]:
        return event_places(self._catalog(), condition, *parameters)

    def read(self, place: Place) -> EventLine:
        """The line at a place, checked; a PcpfsError where it cannot be read."""
        try:
            with open(f"{self._root}/{place.path}", "rb") as file:
                file.seek(place.start)
                raw = file.read(place.length)
        except FileNotFoundError as error:
            raise NotFound(f"{place.path} is missing from the store; run pcpfs fsck") from error
        except OSError as error:
            raise Unavailable(f"cannot read {place.path} ({error.strerror})") from error
        return EventLine.decode(raw, f"{place.path} at byte {place.start}")


def event_places(catalog: Catalog, condition: str, *parameters: str) -> list[Place]:
    """Places of events for which a condition over the columns of `event` and `segment` holds, in
    order of path and place."""
    rows = catalog.query(
        "SELECT revision_id, page_id, path, start, length FROM event JOIN segment USING (segment) "
        f"WHERE {condition}",
        parameters,
    )
    return sorted((Place(*row) for row in rows), key=lambda place: (place.path, place.start))


def places_in(catalog: Catalog, path: str) -> list[Place]:
    """The places in the segment at a path."""
    return event_places(catalog, "segment = ?", segment_key(path))


def segment_key(path: str) -> str:
    """What the catalog calls a segment: shorter than its path, and the same in every catalog."""
    return hashlib.sha256(path.encode()).hexdigest()[:32]


def latest_events(catalog: Catalog, namespace: Namespace) -> Iterator[RevisionId]:
    """The events of a scope that no other follows: what the next one is `after`; sorted."""
    rows = catalog.query(
        "SELECT revision_id FROM latest_event WHERE scope = ? ORDER BY 1", (namespace,)
    )
    return (RevisionId(revision) for (revision,) in rows)
