"""`pcpfs capabilities`: what this store can do (PCP DescribeCapabilities)."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import member_lines


@click.command(
    cls=Command, section="Store", examples=["pcpfs capabilities", "pcpfs capabilities --json"]
)
def command(call: Call) -> None:
    """Tell what this store can do."""
    capabilities = call.session.capabilities()
    call.answer(capabilities, member_lines(capabilities))
