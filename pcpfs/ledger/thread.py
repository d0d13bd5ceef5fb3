"""One thread as a store holds it, in its order, and the views of it."""

from __future__ import annotations

from pcpfs.ledger.corpus import LedgerEntry
from pcpfs.ledger.order import Placed, goes_on, in_order
from pcpfs.ledger.views import Settings, Views
from pcpfs.model.context import ORDINARY, ContextEntry
from pcpfs.model.names import Namespace
from pcpfs.store.event_log import EventLog, EventRecord
from pcpfs.store.ingest import EventDraft
from pcpfs.store.session import Session

SOURCE, GOAL, IMPORTANCE = "source", "goal_id", "importance"
"""What a ledger says about its events."""


class Thread:
    """The entries of one thread and their views; each event is read once."""

    def __init__(self, session: Session, namespace: Namespace, settings: Settings) -> None:
        self.log = EventLog(session, namespace)
        self._placed: dict[str, Placed] = {}
        self._latest: set[str] = set()
        self._views = Views(settings)

    def newest(self) -> Views:
        """The views of what the store holds now."""
        news = self.log.news()
        if news is not None:
            if news.is_anew:
                self._placed.clear()
            self._take([_placed(event) for event in news.events], is_anew=news.is_anew)
        return self._views

    def _take(self, new: list[Placed], *, is_anew: bool) -> None:
        """Append what comes after everything else; else put all in order anew."""
        new = in_order(one for one in new if one.revision not in self._placed)
        self._placed.update((one.revision, one) for one in new)
        if not is_anew and goes_on(self._latest, new):
            self._views.add([one.found for one in new])
            self._latest = {new[-1].revision} if new else self._latest
            return
        order = in_order(self._placed.values())
        self._views.start_over([one.found for one in order])
        followed = {before for one in order for before in one.after}
        self._latest = {one.revision for one in order} - followed


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


def _placed(event: EventRecord) -> Placed:
    entry = ContextEntry(
        source=_said(event, SOURCE) or event.actor,
        content=event.text,
        timestamp=event.time,
        tags=event.tags,
        importance=_importance(event.about.get(IMPORTANCE)),
        goal_id=_said(event, GOAL),
    )
    found = LedgerEntry(event.page_id, entry, event.revision_id)
    return Placed(event.revision_id, event.after, found, event.before)


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
