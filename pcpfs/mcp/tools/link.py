"""`link`: a typed relation between two pages."""

from __future__ import annotations

from pcpfs.mcp.arguments import Argument, Given
from pcpfs.mcp.quoting import answer
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool


def run(room: Room, given: Given) -> str:
    """What is now related to what."""
    view = room.session.link(given["from"], given["type"], given["to"])
    relation = view.relation
    far = f"{relation.to_page}#{relation.to_frame}" if relation.to_frame else relation.to_page
    return answer(
        f"linked: {view.from_page_id} {relation.type} {far} relation={relation.relation_id} "
        f"by={relation.created_by}"
    )


TOOL = Tool(
    "link",
    "Relate a page to a page or symbol.",
    (
        Argument("from", required=True),
        Argument("type", "cites, refines, contradicts, supersedes…", required=True),
        Argument("to", required=True),
    ),
    run,
    reads=False,
)
