"""`log`: the life of a page."""

from __future__ import annotations

from pcpfs.mcp.arguments import AS_OF, BUDGET, CURSOR, LIMIT, Argument, Given
from pcpfs.mcp.quoting import Quote, answer, at, holds
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.model.answers import LogEntry


def run(room: Room, given: Given) -> str:
    """Revisions, or what was observed of a source; newest first."""
    page = room.session.resolve(given["id"], given.pins).page
    manifest = room.session.manifest(page, given.pins)
    part = room.session.history(page, given.pins, **given.only("limit", "cursor"))
    members = {
        "id": page,
        "cite": f"{manifest.title} ({manifest.scope})",
        "kind": "history",
        "scope": manifest.scope,
    }
    quote = Quote(members, "\n".join(map(_line, part.items)), rest=lambda _: "ask with a limit")
    head = f"{len(part.items)} revisions, newest first{at(given.pins)}"
    more = f'more: call again with cursor "{part.cursor}"' if part.cursor else None
    return answer(head, [quote], given.budget, lambda shown: more)


def _line(entry: LogEntry) -> str:
    told = [
        entry.revision_id,
        entry.operation,
        str(entry.created_at),
        f"by {entry.created_by}",
        f"valid {holds(entry.valid_from, entry.valid_to)}"
        if entry.branches is None
        else f"on branch {', '.join(entry.branches)} at {entry.valid_from}, not in force",
        " ".join((entry.title or "").split()),
    ]
    if entry.opened or entry.closed:
        told.append(f"{entry.opened or 0} symbols opened, {entry.closed or 0} closed")
    return "  ".join(filter(None, told))


TOOL = Tool(
    "log",
    "History of a page or source file.",
    (Argument("id", required=True), AS_OF, LIMIT, CURSOR, BUDGET),
    run,
)
