"""`pcpfs revise`: a new revision of a page."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_description
from pcpfs.cli.payload import read_draft
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=[
        "pcpfs revise glossary.md --expect rev_3fa90c11d2e4 docs/glossary.md",
        "pcpfs revise pg_01k0w3v5c8e2f9 --branch rev_3fa90c11d2e4 -",
    ],
)
@click.option(
    "--expect",
    multiple=True,
    metavar="REV",
    help="The revision that this text replaces; refused if the page has moved on.",
)
@click.option("--branch", metavar="REV", help="Start a second head from this revision instead.")
@with_description
@click.argument("page", metavar="PAGE")
@click.argument("file", metavar="FILE|-", required=False)
def command(
    call: Call,
    *,
    page: str,
    expect: tuple[str, ...],
    branch: str | None,
    file: str | None,
    **given: Any,
) -> None:
    """Give a page new text; the old one stays in its history.

    Title, tags and kind stay as they are unless they are given.
    """
    draft = read_draft(call, file, **given)
    written = call.session.revise(page, draft, expect=expect, branch=branch)
    call.answer(written, written_lines("revised", written))
