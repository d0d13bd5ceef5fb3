"""`pcpfs bundle`: parts of several pages at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins
from pcpfs.cli.subject import PROJECTIONS
from pcpfs.cli.text import short, styled
from pcpfs.model.shown import safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins
    from pcpfs.store.exchanges.bundles import Bundle


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs bundle glossary.md pg_01k0w3v5c8e2f9 --budget 8000 --json",
        "pcpfs bundle glossary.md --projection manifest --projection payload",
    ],
)
@click.option(
    "--projection",
    "projections",
    multiple=True,
    default=["payload"],
    type=click.Choice(list(PROJECTIONS)),
    metavar="NAME",
    help=f"What of each page: {', '.join(PROJECTIONS)}; repeatable, else the payload.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 1 << 20),
    default=32_768,
    show_default=True,
    metavar="BYTES",
    help="No more content than this.",
)
@with_pins
@click.argument("ids", metavar="ID[@REV]...", nargs=-1, required=True)
def command(
    call: Call, ids: tuple[str, ...], projections: tuple[str, ...], budget: int, pins: Pins
) -> None:
    """Read parts of several pages at once.

    Each fragment keeps its page, revision and source; what did not fit is named.
    """
    found = call.session.bundle(ids, projections, pins, budget=budget)
    call.answer(found, _lines(found))


def _lines(found: Bundle) -> Iterator[str]:
    for part in found.fragments:
        yield styled(f"{safe(part.title)}  {part.page_id}@{short(part.revision_id)}", "bold")
        yield f"  {part.projection} in {safe(part.scope)}  {safe(', '.join(part.source_refs))}"
        if part.text is not None:
            yield safe_lines(part.text.rstrip("\n"))
        else:
            shown = part.value if part.base64 is None else part.base64
            yield json.dumps(shown, ensure_ascii=True, indent=2)
    for left in found.left_out:
        yield styled(f"left out: {safe(left.given)} {left.projection} ({left.reason})", "yellow")
    yield styled(f"{found.size} of {found.budget} bytes", "dim")
