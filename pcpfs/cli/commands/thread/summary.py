"""`pcpfs thread summary`: progress, for a person."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import awaited, known_ledger
from pcpfs.model.shown import safe_lines


@click.command(cls=Command, examples=["pcpfs thread summary fix-17"])
@click.option("--goal", metavar="GOAL", help="Of this goal only.")
@click.argument("thread", metavar="THREAD")
def command(call: Call, thread: str, goal: str | None) -> None:
    """Show the progress of a thread."""
    text = awaited(known_ledger(call, thread).summarize(goal))
    answer = {"thread": thread, "goal_id": goal, "summary": text}
    call.answer(answer, safe_lines(text).split("\n"))
