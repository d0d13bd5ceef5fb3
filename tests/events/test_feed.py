"""The feed of changes tells events as well."""

from __future__ import annotations

from pathlib import Path

from pcpfs.model.requests import EventDraft
from pcpfs.store.feed import Cursor, Feed
from tests.events.test_segments import SCOPE, cloned, pull, said
from tests.store.workplace import Workplace


def told(place: Workplace, cursor: Cursor) -> list[tuple[str, str | None]]:
    return [(entry.operation, entry.page_id) for entry in Feed(place.store).since(cursor)]


def test_events_are_told_in_their_order_each_once(place: Workplace, tmp_path: Path) -> None:
    place.write("# A page\n")
    other = cloned(place, tmp_path / "other")
    cursor = Feed(place.store).now()
    mine = place.session.ingest(SCOPE, [said("a"), said("b")])
    (theirs,) = other.session.ingest(SCOPE, [said("c")])
    pull(place, other)
    place.session.tombstone(mine[0].page_id, "wrong")
    found = told(place, cursor)
    assert sorted(found, key=str) == sorted(
        [
            ("event", None),
            ("event", None),
            *(("event", written.page_id) for written in (*mine, theirs)),
            ("tombstone", mine[0].page_id),
        ],
        key=str,
    )
    assert told(place, Feed(place.store).now()) == []
    beginning = told(place, Cursor(None))
    assert [page for operation, page in beginning if operation == "event" and page] == [
        page for operation, page in found if operation == "event" and page
    ]
    other.close()


def test_an_event_says_its_revision(place: Workplace) -> None:
    (written,) = place.session.ingest(SCOPE, [EventDraft(b"x")])
    (entry,) = (e for e in Feed(place.store).since(Cursor(None)) if e.page_id)
    assert (entry.revision_id, entry.events) == (written.revision_id, ("revision",))
