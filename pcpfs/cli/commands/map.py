"""`pcpfs map`: an overview of a source, within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Find",
    examples=[
        "pcpfs map tidebook",
        "pcpfs map tidebook --budget-tokens 500 --focus tidebook/almanac.py",
        "pcpfs map --focus Almanac.next_high_water",
        "pcpfs map tidebook --focus 'chart datum' --as-of 2026-03-01 --json",
    ],
)
@click.option(
    "--budget-tokens",
    "budget",
    type=click.IntRange(1),
    default=2048,
    show_default=True,
    metavar="N",
    help="At most so many tokens; one is four bytes of the text.",
)
@click.option(
    "--focus",
    multiple=True,
    metavar="PATH|SYMBOL|WORDS",
    help="What is near this first: a file or folder, else a definition, else words. Repeatable.",
)
@with_pins
@click.argument("source", metavar="[SOURCE]", required=False)
def command(
    call: Call, source: str | None, budget: int, focus: tuple[str, ...], pins: Pins
) -> None:
    """Show what matters in a source.

    Files and their definitions, those first that the rest refers to most, in at most N tokens (of
    four bytes). SOURCE is a root as 'pcpfs status' lists them, and need not be given if there is
    only one.
    """
    from pcpfs.store.searches.source_map import source_map  # noqa: PLC0415 (help needs no store)

    drawn = source_map(call.session, source, focus=focus, budget=budget, pins=pins)
    call.answer(drawn, drawn.text.splitlines())
    if drawn.earliest is not None:
        call.note(f"nothing of {drawn.root} is known of that time; it begins at {drawn.earliest}")
