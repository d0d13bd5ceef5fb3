"""`pcpfs related`: what a page is related to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part, with_pins
from pcpfs.cli.text import more_lines, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import RelatedPage
    from pcpfs.store.paging import Part


@click.command(
    cls=Command,
    section="Find",
    examples=[
        "pcpfs related glossary.md",
        "pcpfs related glossary.md --type cites --direction in --depth 2",
        "pcpfs related tidebook/almanac.py --type imports --direction in",
    ],
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only these; repeatable.")
@click.option(
    "--direction",
    type=click.Choice(["out", "in", "both"]),
    default="both",
    show_default=True,
    help="Along the relations, against them, or both.",
)
@click.option(
    "--depth", type=click.IntRange(1, 10), default=1, show_default=True, help="So many relations."
)
@with_part
@with_pins
@click.argument("page", metavar="ID")
def command(call: Call, page: str, **given: Any) -> None:
    """Show what a page is related to, the nearest first.

    A source is related to what it imports, and to what imports it, in its own root: told with the
    line and the name. ID may also be the name of a symbol: then to what its own text needs, and to
    who imports it.
    """
    part = call.session.related(page, **given)
    call.answer({"related": part.items, "cursor": part.cursor}, _lines(part))


def _lines(part: Part[RelatedPage]) -> Iterator[str]:
    for near in part.items:
        way = ", ".join(
            f"{edge.type} {'→' if edge.direction == 'out' else '←'}" for edge in near.via
        )
        name = styled(safe(near.path or near.title), "bold")
        yield f"{safe(way)}  {name}  {near.page_id}  {safe(near.scope)}"
        last = near.via[-1]
        for named in getattr(last, "imports", ()):
            yield styled(f"{named.line:>6}  {safe(named.target)}", "dim")
    yield from more_lines(part.cursor)
