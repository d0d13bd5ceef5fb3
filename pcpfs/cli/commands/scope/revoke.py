"""`pcpfs scope revoke`: take a permission away."""

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
        "pcpfs scope revoke project:tides user:ben write",
        "pcpfs scope revoke project:tides model:local",
    ],
)
@click.argument("scope", metavar="SCOPE")
@click.argument("who", metavar="PRINCIPAL", type=principal)
@click.argument("permissions", metavar="[PERMISSION]...", nargs=-1)
def command(call: Call, scope: str, who: Principal, permissions: tuple[str, ...]) -> None:
    """Take permissions of PRINCIPAL in SCOPE away; all, if none is named.

    It holds from the next question on, also in sessions that are open, and against whoever grants
    the same at the same time in another clone.
    """
    from pcpfs.model.grants import PERMISSIONS  # noqa: PLC0415 (help needs no store)

    rules = call.session.governing.revoke(scope, who, permissions or PERMISSIONS)
    call.answer(rules, rules_lines(rules))
