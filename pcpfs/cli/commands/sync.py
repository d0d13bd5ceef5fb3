"""`pcpfs sync`: take in what people edited, and bring sources up to date."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_removals
from pcpfs.cli.reports import sync_lines


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=["pcpfs sync", "pcpfs sync book"],
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1)
@with_removals
def command(call: Call, roots: tuple[str, ...], accept_removals: bool) -> None:
    """Take in what was edited in tree/, and bring the sources up to date.

    Files in tree/ that were edited, added, moved or removed become revisions, pages, names and
    tombstones. Symbols that changed are closed and opened anew, others stay as they are.
    """
    with call.progress() as progress:
        report = call.sources.sync(roots, progress=progress, accept_removals=accept_removals)
    call.answer(report, sync_lines(report))
