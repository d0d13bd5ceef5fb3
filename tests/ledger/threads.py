"""A thread as it is kept, beside the same thread read in full: what both must answer alike."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pcpfs.ledger import Settings
from pcpfs.ledger.corpus import Gathered
from pcpfs.ledger.events import namespace_of, placed
from pcpfs.ledger.order import in_order
from pcpfs.ledger.thread import Thread
from pcpfs.ledger.views import Views
from pcpfs.ledger.words import Words
from pcpfs.store.events.event_log import EventLog
from tests.store.workplace import Workplace

CHUNK = 4
"""Entries a chunk: so few that small threads have several."""
QUESTIONS = (("tide pump", 60), ("failure g1", 12), ("the", 10_000), ("", 30))
"""What is asked, and within which budget."""


def kept(place: Workplace, thread: str = "t", settings: Settings | None = None) -> Thread:
    """A thread as a new process finds it."""
    return Thread(place.session, namespace_of(thread), settings or Settings(), CHUNK)


def in_full(place: Workplace, thread: str = "t", settings: Settings | None = None) -> Views:
    """The views of a thread that is read from its segments, in memory."""
    log = EventLog(place.session, namespace_of(thread))
    log.stamp()
    withdrawn = set(log.withdrawn())
    events = [event for event in log.read(log.segments().values()) if event is not None]
    gathered = Gathered(Words())
    order = in_order(map(placed, events))
    gathered.add([one.found for one in order if one.found.page_id not in withdrawn])
    return Views(settings or Settings(), gathered)


def answers(views: Views, goals: Sequence[str] = ("g1", "g2", "none")) -> str:
    """All that views can say, to the last digit."""
    found: list[object] = []
    for version in ("v1_keyword", "v2_bm25"):
        for view in (views.everything, *map(views.goal, goals)):
            for text, budget in QUESTIONS:
                shown = views.project(view, text, budget, version=version, counter=None)
                found.append(asdict(shown))
    found.append(asdict(views.reflect(100)))
    for goal in (None, *goals):
        found.append(views.summarize(goal))
        page = views.log(goal=goal, limit=3, cursor=None)
        while page.cursor:
            found.append(asdict(page))
            page = views.log(goal=goal, limit=3, cursor=page.cursor)
    return json.dumps(found, default=str)


def folder_of(place: Workplace) -> Path:
    """Where the only thread is kept."""
    (found,) = (place.path / ".pcpfs" / "ledger").iterdir()
    return found


def files_of(place: Workplace) -> list[Path]:
    return sorted(folder_of(place).iterdir())
