"""`pcpfs link`: relate two pages."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.written import relation_line


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs link glossary.md refines 0001-predict-from-constituents.md"],
)
@click.argument("source", metavar="REV|PAGE")
@click.argument("kind", metavar="TYPE")
@click.argument("target", metavar="REV|PAGE[#FRAME]")
def command(call: Call, source: str, kind: str, target: str) -> None:
    """Relate a page to another.

    TYPE is cites, refines, contradicts, supersedes or a word of your own.
    """
    relation = call.session.link(source, kind, target)
    call.answer(relation, [relation_line(relation)])
