"""`pcpfs sync`: bring sources up to date."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.reports import sync_lines


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=["pcpfs sync", "pcpfs sync book"],
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1)
def command(call: Call, roots: tuple[str, ...]) -> None:
    """Bring the sources up to date.

    Symbols that changed are closed and opened anew, others stay as they are.
    """
    with call.progress() as progress:
        report = call.sources.sync(roots, progress=progress)
    call.answer(report, sync_lines(report))
