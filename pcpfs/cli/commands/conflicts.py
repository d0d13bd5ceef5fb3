"""`pcpfs conflicts`: pages on which clones do not agree."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.conflict_lines import conflict_lines
from pcpfs.cli.text import plural, styled


@click.command(cls=Command, section="Read", examples=["pcpfs conflicts", "pcpfs conflicts --json"])
def command(call: Call) -> None:
    """List pages on which clones do not agree.

    Their texts lie side by side in tree/; 'pcpfs resolve' puts one in place of all.
    """
    found = call.session.conflicts()
    total = styled(plural(len(found), "conflict"), "dim")
    call.answer({"conflicts": found}, [*conflict_lines(found), total])
