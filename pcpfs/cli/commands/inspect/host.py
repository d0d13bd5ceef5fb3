"""`pcpfs inspect host`: run the conformance suite on any host of contexts."""

from __future__ import annotations

import sys

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.inspecting import inspect

OURS = (sys.executable, "-m", "pcpfs", "host", "query", "--contract")


@click.command(
    cls=Command,
    examples=[
        "pcpfs inspect host",
        "pcpfs inspect host -- python -m pcpfs_conformance.example_host",
    ],
)
@click.option("--query", metavar="TEXT", help="What the host is asked.")
@click.argument("program", metavar="[-- COMMAND...]", nargs=-1)
def command(call: Call, query: str | None, program: tuple[str, ...]) -> int:
    """Check a host of the Context Graph Protocol; without a command, this one.

    The command reads one JSON object with providers and a query from its standard input, asks
    them, and writes one with the frames that it admitted and dropped (docs/host.md). It is started
    anew for each question, with PATH and HOME as its only variables.

    Exit code 1 if a check fails.
    """
    return inspect(call, "host", program or OURS, query)
