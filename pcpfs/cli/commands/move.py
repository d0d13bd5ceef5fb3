"""`pcpfs move`: a page into another scope."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs move glossary.md --scope project:charts --why 'all harbours use it'"],
)
@click.option("--scope", required=True, metavar="SCOPE", help="Where to.")
@click.option("--path", metavar="PATH", help="Its place in tree/ there; else as it was.")
@click.option("--why", default="moved", show_default=True, metavar="TEXT", help="The reason.")
@click.option(
    "--allow-secret", is_flag=True, help="Also if it holds what was accepted here but not there."
)
@click.argument("page", metavar="PAGE")
def command(
    call: Call, page: str, *, scope: str, path: str | None, why: str, allow_secret: bool
) -> None:
    """Move a page into another scope.

    A page never changes its scope: a new page there says the same, has its relations and
    supersedes it; the old one is tombstoned and keeps its history. 'pcpfs undo' takes it back.
    """
    written = call.session.move(page, scope, why, path=path, allow_secret=allow_secret)
    call.answer(written, written_lines("moved to", written))
