"""`pcpfs reindex`: build catalog and index anew."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural


@click.command(cls=Command, section="Store", writes=True, examples=["pcpfs reindex"])
def command(call: Call) -> None:
    """Build catalog and text index anew from the files."""
    with call.progress() as progress:
        pages = call.store.reindex(progress)
    call.answer({"pages": pages}, [f"built anew: {plural(pages, 'page')}"])
