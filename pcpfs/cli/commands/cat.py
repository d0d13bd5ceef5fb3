"""`pcpfs cat`: read a file of the virtual view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call, as_member, document
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs cat /scopes/project/tides/glossary.md",
        "pcpfs cat /sources/tidebook/tidebook/almanac.py.symbols/Almanac.height.py",
        "pcpfs cat --as-of 2026-03-01 /sources/tidebook/README.md",
    ],
)
@with_pins
@click.argument("path", metavar="PATH")
def command(call: Call, path: str, pins: Pins) -> None:
    """Write a file of the virtual view as it is.

    Exactly its bytes go to standard output (to a terminal with escapes for what would drive it);
    see 'pcpfs ls' for the paths.
    """
    content = call.view(pins).file(path).read()
    if call.settings.json:
        answer = {"path": path, "size": len(content), **as_member(content)}
        call.raw(document(answer))
    else:
        call.content(content)
