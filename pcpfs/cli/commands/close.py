"""`pcpfs close`: end the time in which a page holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import instant
from pcpfs.cli.written import written_lines

if TYPE_CHECKING:
    from pcpfs.model.instants import Instant


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=[
        "pcpfs close glossary.md --at 2026-03-01 --why 'the office moved'",
    ],
)
@click.option("--at", required=True, type=instant, metavar="INSTANT", help="Since when.")
@click.option("--why", required=True, metavar="TEXT", help="The reason, kept in the history.")
@click.argument("page", metavar="PAGE")
def command(call: Call, at: Instant, why: str, page: str) -> None:
    """End the time in which a page holds.

    It leaves ordinary search if that time lies behind, stays readable, and --as-of finds it.
    """
    written = call.session.close_at(page, at, why)
    call.answer(written, written_lines("closed", written))
