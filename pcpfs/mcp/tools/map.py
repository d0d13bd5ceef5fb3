"""`map`: what matters in a source."""

from __future__ import annotations

from pcpfs.mcp.arguments import AS_OF, BUDGET, LIST, Argument, Given
from pcpfs.mcp.quoting import Quote, answer, at
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.store.searches.source_map import source_map

_AROUND = 150
"""Tokens for what is not the map itself."""


def run(room: Room, given: Given) -> str:
    """An overview within the budget, as of the last sync."""
    drawn = source_map(
        room.session,
        given.get("source"),
        focus=given.get("focus", ()),
        budget=given.budget - _AROUND,
        pins=given.pins,
    )
    left = drawn.left_out
    members = {"source": drawn.root, "scope": drawn.scope, "kind": "map", "cite": drawn.root}
    if drawn.earliest is not None:
        return f"Nothing of {drawn.root} is known{at(given.pins)}; it begins at {drawn.earliest}."
    head = (
        f"{len(drawn.files)} files as of the last sync{at(given.pins)}; "
        f"{left['files']} files and {left['symbols']} definitions found no room"
    )
    return answer(head, [Quote(members, drawn.text)], given.budget)


TOOL = Tool(
    "map",
    "Overview of a source: files and signatures that the rest refers to most.",
    (
        Argument("source", "if there are several"),
        Argument("focus", "paths, symbols, words", LIST),
        AS_OF,
        BUDGET,
    ),
    run,
)
