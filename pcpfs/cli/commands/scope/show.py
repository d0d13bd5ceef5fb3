"""`pcpfs scope show`: who may do what in a scope."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.scope_rules import rules_lines


@click.command(cls=Command, examples=["pcpfs scope show project:tides"])
@click.argument("scope", metavar="SCOPE")
def command(call: Call, scope: str) -> None:
    """Show who may do what in a scope; for its administrators."""
    rules = call.session.governing.rules(scope)
    call.answer(rules, rules_lines(rules))
