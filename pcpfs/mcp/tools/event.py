"""`event`: keep what happened."""

from __future__ import annotations

from pcpfs.errors import UsageError
from pcpfs.ledger import ContextEntry, StoreLedger
from pcpfs.mcp.arguments import LIST, Argument, Given
from pcpfs.mcp.quoting import answer
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.mcp.writing import TEXT, told
from pcpfs.model.answers import Written
from pcpfs.model.context import BY_TAGS
from pcpfs.model.instants import Instant
from pcpfs.model.requests import EventDraft


def run(room: Room, given: Given) -> str:
    """The ids of the event."""
    if ("thread" in given) == ("scope" in given):
        raise UsageError("an event belongs to a thread or to a scope; give one of them")
    written = _entry(room, given) if "thread" in given else _event(room, given)
    return answer(told("kept", room, written))


def _event(room: Room, given: Given) -> Written:
    if "goal" in given:
        raise UsageError("only an event of a thread has a goal")
    draft = EventDraft(
        given["text"].encode("utf-8", "backslashreplace"),
        "text/plain",
        source_refs=(given["source"],) if "source" in given else (),
        observed_at=_at(given),
        **given.only("tags", "key"),
    )
    (written,) = room.session.ingest(given["scope"], [draft])
    return written


def _entry(room: Room, given: Given) -> Written:
    entry = ContextEntry(
        given.get("source", str(room.session.principal)),
        given["text"],
        _at(given) or room.session.store.clock.now(),
        given.get("tags", ()),
        BY_TAGS,
        given.get("goal"),
        given.get("key"),
    )
    (written,) = StoreLedger(room.session, given["thread"]).ingest_all([entry])
    return written


def _at(given: Given) -> Instant | None:
    return Instant.read(given["at"]) if "at" in given else None


TOOL = Tool(
    "event",
    "Keep what happened: a message, a tool's output, a result; in a thread or a scope.",
    (
        TEXT,
        Argument("thread"),
        Argument("scope"),
        Argument("source", "such as tool:pytest"),
        Argument("goal"),
        Argument("tags", "failure, success, reflection…", LIST),
        Argument("key", "same key, one event"),
        Argument("at"),
    ),
    run,
    reads=False,
)
