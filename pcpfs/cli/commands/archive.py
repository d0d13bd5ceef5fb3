"""`pcpfs archive`: put a page away."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs archive glossary.md --why 'the harbour office keeps its own now'"],
)
@click.option("--why", required=True, metavar="TEXT", help="The reason, kept in the history.")
@click.argument("page", metavar="PAGE")
def command(call: Call, why: str, page: str) -> None:
    """Put a page away.

    It stays readable and can be restored.
    """
    written = call.session.archive(page, why)
    call.answer(written, written_lines("archived", written))
