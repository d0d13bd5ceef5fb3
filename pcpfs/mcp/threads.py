"""What the tools of threads share: the ledger, and its views as quotes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from pcpfs.errors import NotFound
from pcpfs.ledger import ContextProjection, Settings, StoreLedger
from pcpfs.mcp.arguments import Given
from pcpfs.mcp.quoting import Quote, answer, short
from pcpfs.mcp.room import Room
from pcpfs.model.context import ShownEntry

_AROUND = 90
"""Tokens that an entry takes besides its text, about."""

View = Callable[[StoreLedger, int], Coroutine[Any, Any, ContextProjection]]


def viewed(room: Room, given: Given, view: View) -> str:
    """A view of a thread: the most relevant entries that there is room for, best first."""
    algorithm = room.session.store.config.ledger_algorithm
    settings = Settings(algorithm=algorithm) if algorithm else Settings()
    ledger = StoreLedger(room.session, given["thread"], settings)
    if not asyncio.run(ledger.restore(given["thread"])):
        raise NotFound(f"there is no thread {given['thread']!r}; event with thread makes one")
    found = asyncio.run(view(ledger, max(given.budget - _AROUND, 1)))
    quotes = [_quote(ledger.thread_id, entry) for entry in found.entries]

    def more(shown: int) -> str | None:
        left = found.total_entries - shown
        return f"{left} other entries of {found.total_entries} are not shown" if left else None

    return answer(f"{found.summary}; {found.algorithm_version}", quotes, given.budget, more)


def _quote(thread: str, entry: ShownEntry) -> Quote:
    members = {
        "id": entry.page_id,
        "revision": short(entry.revision_id) if entry.revision_id else None,
        "cite": f"{entry.source} {entry.timestamp}",
        "kind": "event",
        "scope": f"thread:{thread}",
        "goal": entry.goal_id,
        "tags": " ".join(entry.tags) or None,
        "valid": f"{entry.timestamp}/..",
        "score": f"{entry.score:.2f}",
    }
    return Quote(members, entry.content, rest=lambda part: f"read id={entry.page_id} for all of it")
