"""`pcpfs thread log`: all entries of a thread in their order."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import entry_lines, known_ledger


@click.command(cls=Command, examples=["pcpfs thread log fix-17 --limit 20"])
@click.option("--goal", metavar="GOAL", help="Of this goal only.")
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@click.option("--cursor", metavar="CURSOR", help="Go on after an earlier answer.")
@click.argument("thread", metavar="THREAD")
def command(call: Call, thread: str, goal: str | None, limit: int, cursor: str | None) -> None:
    """List the entries of a thread, oldest first."""
    page = known_ledger(call, thread).log(goal=goal, limit=limit, cursor=cursor)
    lines = [line for shown in page.entries for line in entry_lines(shown)]
    more = [f"more: --cursor {page.cursor}"] if page.cursor else []
    call.answer(page, [*lines, *more])
