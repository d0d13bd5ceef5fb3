"""`write`: a new page."""

from __future__ import annotations

from pcpfs.errors import PcpfsError
from pcpfs.mcp.arguments import LIST, Argument, Given
from pcpfs.mcp.quoting import Quote, answer
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.mcp.writing import ABOUT, TEXT, draft_of, told


def run(room: Room, given: Given) -> str:
    """The ids of the new page."""
    written = room.session.write(given["scope"], draft_of(given), **given.only("path", "key"))
    return answer(told("written", room, written))


def refuse(room: Room, given: Given, error: PcpfsError) -> tuple[str, list[Quote]] | None:
    """A key that is taken names the page to revise; a frame that has closed its name."""
    if error.code == "key_reused":
        page, revision = error.fields.get("page_id"), error.fields.get("revision_id")
        return f"read id={page} and revise it (it began as {revision}), or use another key.", []
    if error.code == "conflict":
        return "Find what holds now with symbol, and cite that. Nothing was written.", []
    return None


TOOL = Tool(
    "write",
    "Keep a new note (Markdown).",
    (
        Argument("scope", "such as project:tides", required=True),
        TEXT,
        *ABOUT,
        Argument("derived_from", "revisions", LIST),
        Argument("path", "file name"),
        Argument("key", "same key, one write"),
        Argument("valid_from"),
    ),
    run,
    reads=False,
    refuse=refuse,
)
