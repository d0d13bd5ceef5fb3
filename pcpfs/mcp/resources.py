"""Resources: pages and symbols by uri, as `read` shows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pcpfs.errors import NotFound, UsageError
from pcpfs.mcp.arguments import Given
from pcpfs.mcp.room import Room
from pcpfs.mcp.tools.read import TOOL as READ
from pcpfs.model.shown import safe
from pcpfs.provider.naming import item_of, item_uri
from pcpfs.store.searches.search_request import NOW

BUDGET = 8_000
"""Tokens of one resource; the text says how to go on."""
PART = 100
TEMPLATES: Mapping[str, str] = {
    "page": "pcpfs://{store}/{page}",
    "revision": "pcpfs://{store}/{page}@{revision}",
    "symbol": "pcpfs://{store}/{frame}",
}

_CURSOR = re.compile(r"(\d{1,18})\.(pg_[0-9a-z]{26})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page in the list of resources."""

    uri: str
    name: str
    title: str
    media_type: str | None
    size: int | None


def listed(room: Room, cursor: str | None, part: int = PART) -> tuple[list[Listed], str | None]:
    """Notes, the newest first, in parts (sources and events are found with the tools); a cursor
    names the last one of a part."""
    found = _CURSOR.fullmatch(cursor) if cursor is not None else None
    if cursor is not None and found is None:
        raise UsageError("that is no cursor of this list; ask without one")
    behind = (int(found[1]), int(found[1]), found[2]) if found else ()
    rows = room.session.reader(NOW).catalog.pages(
        "is_source = 0 AND is_event = 0 AND lifecycle = 'active'"
        + (" AND (updated_at < ? OR (updated_at = ? AND page_id > ?))" if behind else ""),
        behind,
    )
    rows.sort(key=lambda row: (-row.updated_at, row.page_id))
    store = room.session.store.store_id
    shown = [
        Listed(
            item_uri(store, row.page_id),
            row.path or row.page_id,
            safe(f"{row.title} ({row.scope})"),
            row.media_type,
            row.size,
        )
        for row in rows[:part]
    ]
    last = rows[part - 1] if len(rows) > part else None
    return shown, f"{last.updated_at}.{last.page_id}" if last else None


def text_at(room: Room, uri: str) -> str:
    """What `read` answers for a uri of this store; NotFound for any other."""
    if item_of(uri, room.session.store.store_id) is None:
        raise NotFound(f"{uri[:200]!r} is no resource of this store")
    return READ.run(room, Given(READ.arguments, {"id": uri, "budget": BUDGET}))
