"""`stale`: notes that rest on what has changed."""

from __future__ import annotations

from collections.abc import Iterator

from pcpfs.mcp.arguments import BUDGET, Argument, Given
from pcpfs.mcp.quoting import Quote, answer, holds, short
from pcpfs.mcp.room import Room, broken_citations, citing_pages
from pcpfs.mcp.tool import Tool
from pcpfs.model.answers import Pins
from pcpfs.provider.answering import Desk


def run(room: Room, given: Given) -> str:
    """The pages that are suspect, with what they cite; files are looked at now."""
    desk = room.desk(Pins())
    wanted = given.get("id")
    pages = citing_pages(desk) if wanted is None else [room.session.resolve(wanted).page]
    quotes = [quote for page in pages for quote in _suspect(room, desk, page)]

    def more(shown: int) -> str | None:
        left = len(quotes) - shown
        return f"{left} more found no room; ask with more budget" if left else None

    count = f"{len(quotes)} of {len(pages)} pages that cite code" if quotes else "no page"
    return answer(f"{count} rests on what has changed", quotes, given.budget, more)


def _suspect(room: Room, desk: Desk, page_id: str) -> Iterator[Quote]:
    broken = broken_citations(desk, page_id)
    if broken:
        page = room.session.manifest(page_id)
        members = {
            "id": page.page_id,
            "revision": short(page.revision_id),
            "cite": f"{page.title} ({page.scope})",
            "kind": page.kind,
            "scope": page.scope,
            "valid": holds(page.valid_from, page.valid_to),
            "state": "suspect",
        }
        yield Quote(members, "", tuple(map(str, broken)))


TOOL = Tool(
    "stale",
    "Notes that cite code which has changed or gone.",
    (Argument("id"), BUDGET),
    run,
)
