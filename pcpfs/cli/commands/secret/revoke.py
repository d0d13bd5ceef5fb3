"""`pcpfs secret revoke`: what was accepted is a secret again."""

from __future__ import annotations

import click

from pcpfs.cli.accepted import accepted_lines
from pcpfs.cli.call import Call
from pcpfs.cli.command import Command


@click.command(cls=Command, writes=True, examples=["pcpfs secret revoke 4f2a90c1"])
@click.argument("accepted", metavar="ID...", nargs=-1, required=True)
def command(call: Call, accepted: tuple[str, ...]) -> None:
    """Take back that a secret was let in; ID is from 'pcpfs secret list'.

    From now on it is refused like any other. What is in the store stays there ('pcpfs delete'
    erases a page); a source file that holds it is withheld from the next sync on.
    """
    views = call.session.accepted.take_back(accepted)
    call.answer({"revoked": views}, accepted_lines(views))
