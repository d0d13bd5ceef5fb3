"""`pcpfs restore`: bring a page back."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs restore glossary.md --why 'the harbour office keeps its own now'"],
)
@click.option("--why", required=True, metavar="TEXT", help="The reason, kept in the history.")
@click.argument("page", metavar="PAGE")
def command(call: Call, why: str, page: str) -> None:
    """Bring an archived or tombstoned page back."""
    written = call.session.restore(page, why)
    call.answer(written, written_lines("restored", written))
