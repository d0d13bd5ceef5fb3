"""`symbol`: where a name is defined, with its source."""

from __future__ import annotations

from pcpfs.mcp.arguments import AS_OF, BUDGET, CURSOR, LIMIT, Argument, Given
from pcpfs.mcp.found import quote_of
from pcpfs.mcp.quoting import answer, at
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.model.requests import Filters


def run(room: Room, given: Given) -> str:
    """Definitions, exact names first, with their source; of names that only contain it the
    signature."""
    desk = room.desk(given.pins)
    found = room.session.symbol(
        given["name"],
        filters=Filters(path=given.get("path")),
        pins=given.pins,
        **given.only("limit", "cursor"),
    )
    quotes = (quote_of(desk, hit, whole=hit.score == 1) for hit in found.results)

    def more(shown: int) -> str | None:
        if shown < len(found.results):
            return f"{len(found.results) - shown} more found no room: ask for fewer, or more budget"
        return f'more: call again with cursor "{found.cursor}"' if found.cursor else None

    head = f"{len(found.results)} definitions{at(given.pins)}"
    return answer(head, quotes, given.budget, more)


TOOL = Tool(
    "symbol",
    "Where a name is defined, with its source.",
    (
        Argument("name", "name, Class.name or a part", required=True),
        Argument("path", "glob"),
        AS_OF,
        LIMIT,
        CURSOR,
        BUDGET,
    ),
    run,
)
