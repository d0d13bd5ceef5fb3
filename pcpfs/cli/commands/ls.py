"""`pcpfs ls`: look into the virtual view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.entries import cursor_after, entry, listed, place_of, shown_name
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import columns, size
from pcpfs.view.nodes import Entry, File

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins

_TOGETHER = 1000
"""So many entries are printed at once, however many there are."""


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs ls",
        "pcpfs ls /scopes/project/tides",
        "pcpfs ls /sources/tidebook/tidebook/almanac.py.symbols",
        "pcpfs ls /search/'high water'",
        "pcpfs ls /as-of/2026-03-01/sources/tidebook",
        "pcpfs ls /frames --limit 100 --json",
    ],
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="At most so many; else all there are."
)
@click.option("--cursor", metavar="CURSOR", help="Go on after an earlier answer.")
@with_pins
@click.argument("path", metavar="[PATH]", default="/")
def command(call: Call, path: str, pins: Pins, limit: int | None, cursor: str | None) -> None:
    """List a folder of the virtual view.

    Below / are scopes, sources (each file with its symbols), pages, frames, relations,
    search/QUERY and as-of/INSTANT. docs/view.md tells what is in them.
    """
    entries = listed(call.view(pins), path, place_of(cursor, path) if cursor else "")
    given = list(islice(entries, limit)) if limit else entries
    more = (
        cursor_after(given[-1], path) if isinstance(given, list) and next(entries, None) else None
    )
    if call.settings.json:
        call.stream({"path": path}, "entries", map(_member, given), {"cursor": more})
    else:
        call.answer(None, _lines(given))
        if more:
            call.note(f"there is more: --cursor {more}")


def _member(given: Entry) -> dict[str, object]:
    return entry(given.name, given.node)


def _lines(entries: Iterable[Entry]) -> Iterator[str]:
    rest = iter(entries)
    while some := list(islice(rest, _TOGETHER)):
        yield from columns([_row(given) for given in some], (None, "dim"))


def _row(given: Entry) -> tuple[str, str, str]:
    name = shown_name(given.name, given.node)
    if isinstance(given.node, File):
        return size(given.node.size), str(given.node.modified), name
    return "", "", name
