"""`pcpfs scope grant`: let somebody do something in a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command, principal
from pcpfs.cli.scope_rules import rules_lines

if TYPE_CHECKING:
    from pcpfs.model.pages import Principal


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs scope grant project:tides user:ben read",
        "pcpfs scope grant project:tides tool:importer read write",
    ],
)
@click.argument("scope", metavar="SCOPE")
@click.argument("who", metavar="PRINCIPAL", type=principal)
@click.argument("permissions", metavar="PERMISSION...", nargs=-1, required=True)
def command(call: Call, scope: str, who: Principal, permissions: tuple[str, ...]) -> None:
    """Let PRINCIPAL do something in SCOPE.

    A PERMISSION is list, read, write, link, tombstone, delete or administer. A model may never
    delete or administer. Grants bind whoever comes through pcpfs: who can read the folder of the
    store reads everything in it.
    """
    rules = call.session.governing.grant(scope, who, permissions)
    call.answer(rules, rules_lines(rules))
