"""`thread_brief`: what a subagent may see of a thread."""

from __future__ import annotations

from pcpfs.mcp.arguments import BUDGET, Argument, Given
from pcpfs.mcp.room import Room
from pcpfs.mcp.threads import viewed
from pcpfs.mcp.tool import Tool


def run(room: Room, given: Given) -> str:
    """Entries of exactly one goal (ledger L5)."""
    goal, query = given["goal"], given.get("query")
    return viewed(
        room,
        given,
        lambda ledger, budget: ledger.project_for_subagent(goal, budget, query=query),
    )


TOOL = Tool(
    "thread_brief",
    "What a subagent gets of a thread: entries of one goal only.",
    (
        Argument("thread", required=True),
        Argument("goal", required=True),
        Argument("query"),
        BUDGET,
    ),
    run,
)
