"""`pcpfs thread brief`: what a subagent is given for one goal."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import awaited, known_ledger, projection_lines, with_view_options


@click.command(cls=Command, examples=["pcpfs thread brief fix-17 g1 --budget 1000"])
@with_view_options
@click.option("--query", metavar="TEXT", help="What it will need to know; else the goal's name.")
@click.argument("thread", metavar="THREAD")
@click.argument("goal", metavar="GOAL")
def command(
    call: Call, *, thread: str, goal: str, query: str | None, budget: int, **how: Any
) -> None:
    """Show what a subagent may see.

    Only entries whose goal is exactly GOAL, whatever is asked for.
    """
    found = known_ledger(call, thread, **how)
    view = awaited(found.project_for_subagent(goal, budget, query=query))
    call.answer(view, projection_lines(view))
