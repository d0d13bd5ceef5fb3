"""`pcpfs conflicts`: pages on which clones do not agree."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.conflict_lines import conflict_lines
from pcpfs.cli.options import with_part
from pcpfs.cli.text import more_lines, plural, styled


@click.command(cls=Command, section="Read", examples=["pcpfs conflicts", "pcpfs conflicts --json"])
@with_part
def command(call: Call, limit: int, cursor: str | None) -> None:
    """List pages on which clones do not agree.

    Their texts lie side by side in tree/; 'pcpfs resolve' puts one in place of all.
    """
    part = call.session.list_conflicts(limit=limit, cursor=cursor)
    total = styled(plural(len(part.items), "conflict"), "dim")
    lines = [*conflict_lines(part.items), total, *more_lines(part.cursor)]
    call.answer({"conflicts": part.items, "cursor": part.cursor}, lines)
