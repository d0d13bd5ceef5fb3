"""`pcpfs tombstone`: withdraw a page."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs tombstone glossary.md --why 'the harbour office keeps its own now'"],
)
@click.option("--why", required=True, metavar="TEXT", help="The reason, kept in the history.")
@click.argument("page", metavar="PAGE")
def command(call: Call, why: str, page: str) -> None:
    """Withdraw a page.

    It is kept in the history, but no longer found.
    """
    written = call.session.tombstone(page, why)
    call.answer(written, written_lines("tombstoned", written))
