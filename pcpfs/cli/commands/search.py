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
        "pcpfs search --mode temporal --limit 5",
        "pcpfs search --mode graph --relation cites glossary.md",
        "pcpfs search -- -1",
    ],
)
@with_filters
@click.option(
    "--mode",
    type=click.Choice(["auto", "exact", "text", "graph", "temporal"]),
    default="auto",
    show_default=True,
    help="auto: an id exactly, else by words. exact: what is called or says just so. "
    "graph: what the named page is related to. temporal: the latest first, words or not.",
)
@click.option(
    "--depth", type=click.IntRange(1, 10), default=1, help="With --mode graph: so many relations."
)
@click.option("--task", metavar="TASK", help="Without what was suppressed for this task.")
@with_pins
@click.argument("words", metavar="WORD...", nargs=-1)
def command(call: Call, *, words: tuple[str, ...], **given: Any) -> None:
    """Find pages, files and symbols by words.

    All words are wanted, none is required. Words are taken as they are, but for "a phrase",
    prefix* and fuzzy~.
    """
    if not words and given["mode"] != "temporal":
        raise click.UsageError("Missing argument 'WORD...'.")
    answer = call.session.search(" ".join(words), **given)
    call.answer(answer, answer_lines(answer))
