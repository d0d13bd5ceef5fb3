"""`pcpfs tree`: the virtual view as a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.entries import Place, entry, shown_name, walk
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Read",
    examples=["pcpfs tree", "pcpfs tree /sources --depth 4"],
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    metavar="N",
    help="How many levels to show.",
)
@with_pins
@click.argument("path", metavar="[PATH]", default="/scopes")
def command(call: Call, path: str, depth: int, pins: Pins) -> None:
    """Show the virtual view, or a folder of it, as a tree; the pages of all scopes by default."""
    places = walk(call.view(pins), path, depth)
    if call.settings.json:
        entries = [{"path": place.path, **entry(place.name, place.node)} for place in places]
        call.answer({"path": path, "entries": entries}, ())
    else:
        call.answer(None, _lines(path, places), cut=True)


def _lines(path: str, places: Iterator[Place]) -> Iterator[str]:
    yield styled(safe(path), "bold")
    for place in places:
        branch = "└── " if place.is_last else "├── "
        bars = "".join("    " if last else "│   " for last in place.above)
        yield f"{bars}{branch}{shown_name(place.name, place.node)}"
