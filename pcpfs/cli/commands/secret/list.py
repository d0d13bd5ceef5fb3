"""`pcpfs secret list`: the secrets that were accepted."""

from __future__ import annotations

import click

from pcpfs.cli.accepted import accepted_lines
from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part
from pcpfs.cli.text import more_lines, styled


@click.command(
    cls=Command, examples=["pcpfs secret list", "pcpfs secret list --scope project:tides --json"]
)
@click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Only here; repeatable.")
@with_part
def command(call: Call, scopes: tuple[str, ...], limit: int, cursor: str | None) -> None:
    """List the secrets that were let in with --allow-secret.

    What they are is not shown, and not kept: only a salted digest is.
    """
    part = call.session.accepted.listed(scopes, limit=limit, cursor=cursor)
    lines = [*accepted_lines(part.items), *more_lines(part.cursor)]
    call.answer(
        {"accepted": part.items, "cursor": part.cursor},
        lines or [styled("no secret was accepted", "dim")],
    )
