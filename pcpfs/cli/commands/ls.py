"""`pcpfs ls`: look into the virtual view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.entries import entry, listed, shown_name
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import columns, size
from pcpfs.view.nodes import File, Node

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs ls",
        "pcpfs ls /scopes/project/tides",
        "pcpfs ls /sources/tidebook/tidebook/almanac.py.symbols",
        "pcpfs ls /as-of/2026-03-01/sources/tidebook",
    ],
)
@with_pins
@click.argument("path", metavar="[PATH]", default="/")
def command(call: Call, path: str, pins: Pins) -> None:
    """List a folder of the virtual view.

    Below / are scopes, sources (each file with its symbols), pages, frames and as-of/INSTANT.
    """
    nodes = listed(call.view(pins), path)
    entries = [entry(name, node) for name, node in nodes.items()]
    call.answer({"path": path, "entries": entries}, _lines(nodes))


def _lines(nodes: Mapping[str, Node]) -> Iterator[str]:
    rows = [
        (size(node.size), str(node.modified), shown_name(name, node))
        if isinstance(node, File)
        else ("", "", shown_name(name, node))
        for name, node in nodes.items()
    ]
    yield from columns(rows, (None, "dim")) if rows else ()
