"""`pcpfs thread project`: what matters in a thread for a question, within a budget."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import awaited, known_ledger, projection_lines, with_view_options


@click.command(
    cls=Command,
    examples=["pcpfs thread project fix-17 'why does the import fail' --budget 2000"],
)
@with_view_options
@click.argument("thread", metavar="THREAD")
@click.argument("query", metavar="QUERY")
def command(call: Call, *, thread: str, query: str, budget: int, **how: Any) -> None:
    """Show what matters for a question.

    The orchestrator's view: of everything in the thread the most relevant, within the budget.
    Each entry says by what terms it was ranked.
    """
    found = known_ledger(call, thread, **how)
    view = awaited(found.project(query, budget))
    call.answer(view, projection_lines(view))
