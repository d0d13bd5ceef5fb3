"""`pcpfs symbol`: find definitions by name."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.hits import answer_lines
from pcpfs.cli.options import with_filters, with_pins


@click.command(
    cls=Command,
    section="Find",
    examples=[
        "pcpfs symbol Almanac.next_high_water",
        "pcpfs symbol height --kind method --path 'tidebook/*'",
    ],
)
@with_filters
@with_pins
@click.argument("name", metavar="SYMBOL")
def command(call: Call, *, name: str, **given: Any) -> None:
    """Find where a name is defined.

    NAME is a whole name, a dotted one, a part of one or its beginning.
    """
    answer = call.session.symbol(name, **given)
    call.answer(answer, answer_lines(answer))
