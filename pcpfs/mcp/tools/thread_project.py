"""`thread_project`: what matters in a thread for a question."""

from __future__ import annotations

from pcpfs.mcp.arguments import BUDGET, Argument, Given
from pcpfs.mcp.room import Room
from pcpfs.mcp.threads import viewed
from pcpfs.mcp.tool import Tool


def run(room: Room, given: Given) -> str:
    """The orchestrator's view: of everything in the thread."""
    return viewed(room, given, lambda ledger, budget: ledger.project(given["query"], budget))


TOOL = Tool(
    "thread_project",
    "What matters in a thread for a question.",
    (Argument("thread", required=True), Argument("query", required=True), BUDGET),
    run,
)
