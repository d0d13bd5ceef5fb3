"""`pcpfs inspect provider`: run the conformance suite on any provider of contexts."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.inspecting import inspect


@click.command(
    cls=Command,
    examples=[
        "pcpfs inspect provider --query 'retry policy' -- pcpfs -C notes serve",
        "pcpfs inspect provider -- python -m pcpfs_conformance.example_provider",
    ],
)
@click.option("--query", metavar="TEXT", help="A query that the provider is known to match.")
@click.argument("program", metavar="-- COMMAND...", nargs=-1, required=True)
def command(call: Call, query: str | None, program: tuple[str, ...]) -> int:
    """Check a provider of the Context Graph Protocol.

    Starts the command anew for each check, with PATH and HOME as its only variables. Each check
    prints pass, fail or skip, with a line of evidence.

    Exit code 1 if a check fails.
    """
    return inspect(call, "provider", program, query)
