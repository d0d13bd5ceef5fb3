"""`search`: pages, events and code by words."""

from __future__ import annotations

from collections.abc import Iterator

from pcpfs.mcp.arguments import AS_OF, BUDGET, CURSOR, LIMIT, LIST, TEXT, Argument, Given
from pcpfs.mcp.found import quote_of
from pcpfs.mcp.quoting import Quote, answer, at
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.model.requests import Filters


def run(room: Room, given: Given) -> str:
    """The hits, best first, each with the lines to look at."""
    filters = Filters(kinds=given.get("kinds", ()), path=given.get("path"))
    desk = room.desk(given.pins)
    room.require_index(desk)
    found = room.session.search(
        given["query"],
        scopes=given.get("scopes", ()),
        filters=filters,
        pins=given.pins,
        **given.only("limit", "cursor"),
    )

    def quotes() -> Iterator[Quote]:
        return (quote_of(desk, hit) for hit in found.results)

    def more(shown: int) -> str | None:
        if shown < len(found.results):
            return f"{len(found.results) - shown} more found no room: ask for fewer, or more budget"
        return f'more: call again with cursor "{found.cursor}"' if found.cursor else None

    head = f"{len(found.results)} found in {len(found.scopes)} scopes{at(given.pins)}"
    return answer(head, quotes(), given.budget, more)


TOOL = Tool(
    "search",
    "Find notes, events and code by words.",
    (
        Argument("query", 'words; "a phrase", prefix*', TEXT, required=True),
        Argument("scopes", kind=LIST),
        Argument("kinds", "page, event, file, symbol", LIST),
        Argument("path", "glob"),
        AS_OF,
        LIMIT,
        CURSOR,
        BUDGET,
    ),
    run,
)
