"""`pcpfs scope set`: title and visibility of a scope."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.scope_rules import rules_lines


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs scope set project:tides --visibility shared",
        "pcpfs scope set project:tides --title 'Tide tables'",
    ],
)
@click.option("--title", metavar="T", help="What people call it.")
@click.option(
    "--visibility",
    type=click.Choice(["private", "shared"]),
    help="private: the owner and who was granted something; shared: anybody may list and read it.",
)
@click.argument("scope", metavar="SCOPE")
def command(call: Call, scope: str, title: str | None, visibility: str | None) -> None:
    """Set what a scope is called and who may see it."""
    rules = call.session.governing.set(scope, title=title, visibility=visibility)
    call.answer(rules, rules_lines(rules))
