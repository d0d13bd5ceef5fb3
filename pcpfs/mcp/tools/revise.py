"""`revise`: a new text for a page, on the revision that was read."""

from __future__ import annotations

from collections.abc import Iterator

from pcpfs.errors import PcpfsError
from pcpfs.mcp.arguments import BUDGET, Argument, Given
from pcpfs.mcp.quoting import Quote, answer, short
from pcpfs.mcp.room import Room
from pcpfs.mcp.tool import Tool
from pcpfs.mcp.writing import ABOUT, TEXT, draft_of, told


def run(room: Room, given: Given) -> str:
    """The ids of the new revision."""
    written = room.session.revise(given["id"], draft_of(given, None), expect=_expected(given))
    return answer(told("revised", room, written))


def refuse(room: Room, given: Given, error: PcpfsError) -> tuple[str, list[Quote]] | None:
    """Of a conflict: what the page says now, and what has changed since."""
    heads = error.fields.get("heads")
    if error.code != "conflict" or not isinstance(heads, list) or not heads:
        return None
    page, expected = error.fields.get("page_id"), error.fields.get("expected")
    quotes = [q for head in heads for q in _since(room, str(page), str(expected), str(head))]
    joined = ",".join(map(short, heads))
    return f'Put both into one text, then revise with expected_revision_id="{joined}".', quotes


def _since(room: Room, page: str, expected: str, head: str) -> Iterator[Quote]:
    manifest = room.session.manifest(f"{page}@{head}")
    changed = room.session.diff(page, expected, head)
    members = {
        "id": page,
        "revision": head,
        "cite": f"{manifest.title} ({manifest.scope})",
        "kind": f"what changed since {expected[:20]}",
        "scope": manifest.scope,
        "by": manifest.created_by,
        "at": manifest.created_at,
    }
    yield Quote(members, changed.text, rest=lambda part: f"read id={page}@{head} for all of it")


def _expected(given: Given) -> tuple[str, ...]:
    return tuple(filter(None, given["expected_revision_id"].replace(",", " ").split()))


TOOL = Tool(
    "revise",
    "Replace the text of a page. If it moved on since you read it, answers what changed.",
    (
        Argument("id", required=True),
        Argument(
            "expected_revision_id",
            "as read; of a conflict all heads, with commas",
            required=True,
        ),
        TEXT,
        *ABOUT,
        BUDGET,
    ),
    run,
    reads=False,
    refuse=refuse,
)
