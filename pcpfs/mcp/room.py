"""What all calls of one server work with: one principal's session, and a look at the sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pcpfs.model.answers import Pins, Suspicion
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import Digest
from pcpfs.model.shown import safe
from pcpfs.provider.answering import Desk
from pcpfs.provider.candidate import Candidate, Subject
from pcpfs.provider.provider import Provider
from pcpfs.store.catalogs.rows import RelationRow
from pcpfs.store.searches.citations import suspicions
from pcpfs.store.session import Session


class Room:
    """Opens the session with the first call. Sources are looked at again whenever they are shown,
    as a provider of contexts does it. Not safe to share between threads."""

    def __init__(self, open_session: Callable[[], Session]) -> None:
        self._provider = Provider(open_session)

    @property
    def session(self) -> Session:
        return self._provider.session

    def desk(self, pins: Pins) -> Desk:
        """One state of the store, and of the files of this machine."""
        return self._provider.desk(pins)

    def require_index(self, desk: Desk) -> None:
        """Unavailable where a search would have to wait for very many documents."""
        self._provider.require_index(desk)

    def let_go(self) -> None:
        """Keep nothing that an erasure has replaced; called while nobody asks."""
        if "session" in vars(self._provider):
            self.session.let_go()

    def close(self) -> None:
        if "session" in vars(self._provider):
            self.session.close()
            self.session.store.close()


class Broken(NamedTuple):
    """A citation that does not hold: of which frame, what it is called, where, and why."""

    frame_id: str
    name: str
    place: str
    status: str

    def __str__(self) -> str:
        return (
            f"suspect: cites {self.frame_id} {safe(self.name)} in {safe(self.place)}, which is "
            f"{self.status}; read it, then revise this page with cites"
        )


def broken_citations(desk: Desk, page_id: str) -> list[Broken]:
    """What a page cites that does not hold: by what the store knows, and by what stands in the
    files at this moment. Nothing is said of a page as it was."""
    if desk.pins.as_of is not None:
        return []
    known = [_of_suspicion(one) for one in suspicions(desk.reader.catalog, page_id)]
    told = {one.frame_id for one in known}
    return known + [one for one in _changed_since(desk, page_id) if one.frame_id not in told]


def citing_pages(desk: Desk) -> list[str]:
    """The active pages that cite frames, by scope and title."""
    rows = desk.reader.catalog.query(
        "SELECT DISTINCT page_id, page.scope, title FROM relation "
        "JOIN page ON page.page_id = from_page "
        "WHERE to_frame IS NOT NULL AND lifecycle = 'active' ORDER BY page.scope, title, page_id"
    )
    return [page for page, _, _ in rows]


def _of_suspicion(one: Suspicion) -> Broken:
    place = f"{one.root}/{one.path}" if one.root else one.path
    return Broken(one.frame_id, one.qualified_name, place, one.status)


def _changed_since(desk: Desk, page_id: str) -> Iterator[Broken]:
    """Frames that hold in the store, and not in the file any more."""
    latest: dict[str, RelationRow] = {}
    for row in desk.reader.catalog.relations("from_page = ? AND to_frame IS NOT NULL", (page_id,)):
        latest[row.to_frame or ""] = row
    for frame_id, row in latest.items():
        runs = desk.reader.catalog.frames(
            "frame_id = ? AND digest = ? AND valid_to IS NULL", (frame_id, row.to_digest)
        )
        if not runs:
            continue
        is_file = runs[-1].kind == FILE_KIND
        page = desk.reader.page(runs[-1].page_id)
        subject = desk.subject(Candidate(page.page_id, 0.0, None if is_file else frame_id))
        if subject is None or _digest(subject) != row.to_digest:
            place = f"{desk.reader.root_name(page.root_id)}/{page.path}"
            status = "gone" if subject is None else "changed since the last sync"
            yield Broken(frame_id, runs[-1].qualified_name, place, status)


def _digest(subject: Subject) -> Digest:
    return subject.symbol.digest if subject.symbol else Digest.of(subject.standing.text.raw)
