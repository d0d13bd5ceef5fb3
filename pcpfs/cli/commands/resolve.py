"""`pcpfs resolve`: one text in place of several heads."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.payload import read_draft
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs resolve glossary.md merged.md", "pcpfs resolve pg_01k0w3v5c8e2f9 -"],
)
@click.argument("page", metavar="PAGE")
@click.argument("file", metavar="FILE|-")
def command(call: Call, page: str, file: str) -> None:
    """Settle a conflict with one text.

    It goes on from all heads of the page; they stay in its history.
    """
    draft = read_draft(call, file, tags=())
    written = call.session.resolve_conflict(page, draft)
    call.answer(written, written_lines("resolved", written))
