"""Entries of a ledger as events of a store, and back."""

from __future__ import annotations

from pcpfs.ledger.corpus import LedgerEntry
from pcpfs.ledger.order import Placed
from pcpfs.model.context import ORDINARY, ContextEntry
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EventDraft
from pcpfs.store.events.event_log import EventRecord

SOURCE, GOAL, IMPORTANCE = "source", "goal_id", "importance"
"""What a ledger says about its events."""


def namespace_of(thread_id: str) -> Namespace:
    """The scope of a thread; InvalidName for an id that cannot be one."""
    return Namespace.given(f"thread:{thread_id}")


def event_of(entry: ContextEntry) -> EventDraft:
    """An entry as an event."""
    about = {SOURCE: entry.source, IMPORTANCE: repr(entry.importance)}
    if entry.goal_id is not None:
        about[GOAL] = entry.goal_id
    return EventDraft(
        entry.content.encode(),
        media_type="text/plain",
        tags=entry.tags,
        key=entry.key,
        observed_at=entry.timestamp,
        about=about,
    )


def placed(event: EventRecord) -> Placed:
    """An event in the order of its thread."""
    return Placed(
        event.revision_id, event.after, entry_of(event), event.before, event.seal, event.is_whole
    )


def entry_of(event: EventRecord) -> LedgerEntry:
    """An event as the entry that it is."""
    entry = ContextEntry(
        source=_said(event, SOURCE) or event.actor,
        content=event.text,
        timestamp=event.time,
        tags=event.tags,
        importance=_importance(event.about.get(IMPORTANCE)),
        goal_id=_said(event, GOAL),
    )
    return LedgerEntry(event.page_id, entry, event.revision_id)


def _said(event: EventRecord, name: str) -> str | None:
    text = event.about.get(name)
    return text if text and text.strip() else None


def _importance(given: str | None) -> float:
    """What another writer said, if it is a number between 0 and 1."""
    try:
        value = ORDINARY if given is None else float(given)
    except ValueError:
        return ORDINARY
    return value if 0 <= value <= 1 else ORDINARY
