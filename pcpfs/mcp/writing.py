"""What the tools that write share: drafts, and what is told of a write."""

from __future__ import annotations

from pcpfs.mcp.arguments import LIST, Argument, Given
from pcpfs.mcp.room import Room
from pcpfs.model.answers import Written
from pcpfs.model.instants import Instant
from pcpfs.model.requests import Draft

TEXT = Argument("text", required=True)
ABOUT = (
    Argument("title"),
    Argument("tags", kind=LIST),
    Argument("cites", "fr_ ids it rests on", LIST),
)
MARKDOWN = "text/markdown"


def draft_of(given: Given, media_type: str | None = MARKDOWN) -> Draft:
    """The draft that the arguments of a write describe."""
    valid_from = given.get("valid_from")
    return Draft(
        given["text"].encode("utf-8", "backslashreplace"),
        media_type,
        title=given.get("title"),
        tags=given.get("tags"),
        cites=given.get("cites", ()),
        derived_from=given.get("derived_from", ()),
        valid_from=None if valid_from is None else Instant.read(valid_from),
    )


def told(what: str, room: Room, written: Written) -> str:
    """The final ids; `already` where nothing had to be written."""
    done = what if written.created else "already there"
    path = f" path={written.path}" if written.path else ""
    lines = [f"{done}: page={written.page_id} revision={written.revision_id}"]
    lines.append(f"scope={written.scope}{path} by={room.session.principal}")
    return " ".join(lines) + "".join(f"; note: {warning}" for warning in written.warnings)
