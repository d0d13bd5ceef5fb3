"""`pcpfs diff`: what changed between two revisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import safe, safe_lines, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import Difference, Pins

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


@click.command(
    cls=Command,
    section="Read",
    examples=["pcpfs diff glossary.md", "pcpfs diff glossary.md rev_3fa90c11d2e4 rev_0b7d1c22a9f0"],
)
@with_pins
@click.argument("page", metavar="ID")
@click.argument("before", metavar="[REV]", required=False)
@click.argument("after", metavar="[REV]", required=False)
def command(call: Call, page: str, before: str | None, after: str | None, pins: Pins) -> None:
    """Compare two revisions.

    Shows the text, and for source files the symbols added, removed and changed.

    Without REV the newest with the one before it; with one REV that with the newest.
    """
    difference = call.session.diff(page, before, after, pins)
    call.answer(difference, _lines(difference))


def _lines(difference: Difference) -> Iterator[str]:
    for change, names in (difference.symbols or {}).items():
        for name in names:
            mark = _MARKS.get(change, "~")
            yield styled(f"{mark} {safe(name)}", _COLOURS.get(mark, "yellow"))
    if difference.binary:
        yield "the bytes differ; they are no text"
    for line in safe_lines(difference.text).splitlines():
        yield styled(line, _COLOURS.get(line[:1]))
