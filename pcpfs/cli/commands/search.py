"""`pcpfs search`: find pages, files and symbols by words."""

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
        "pcpfs search next high water",
        "pcpfs search '\"chart datum\"' --scope project:tides",
        "pcpfs search 'harm*' --kind function --lang python --limit 3",
        "pcpfs search height --as-of 2026-03-01 --json",
        "pcpfs search -- -1",
    ],
)
@with_filters
@with_pins
@click.argument("words", metavar="WORD...", nargs=-1, required=True)
def command(call: Call, *, words: tuple[str, ...], **given: Any) -> None:
    """Find pages, files and symbols by words.

    All words are wanted, none is required. Words are taken as they are, but for "a phrase",
    prefix* and fuzzy~.
    """
    answer = call.session.search(" ".join(words), **given)
    call.answer(answer, answer_lines(answer))
