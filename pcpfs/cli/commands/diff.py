"""`pcpfs diff`: what changed between two revisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import branch_option, instant_option, with_pins
from pcpfs.cli.text import styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.model.answers import Difference, Pins
    from pcpfs.model.instants import Instant
    from pcpfs.model.symbol_answers import SymbolDifference, SymbolStep

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs diff glossary.md",
        "pcpfs diff glossary.md rev_3fa90c11d2e4 rev_0b7d1c22a9f0",
        "pcpfs diff --symbol Router.match --since 2024-01-01",
        "pcpfs diff --symbol Router.match --branch feature/faster",
    ],
)
@with_pins
@click.option("--symbol", metavar="SYMBOL", help="Two texts of one; with ID only of that file.")
@branch_option("Against what this branch of a source has, of the file or of the symbol.")
@instant_option("--since", "With --symbol: against what it was then.")
@click.argument("page", metavar="[ID]", required=False)
@click.argument("before", metavar="[REV]", required=False)
@click.argument("after", metavar="[REV]", required=False)
def command(
    call: Call,
    *,
    page: str | None,
    before: str | None,
    after: str | None,
    symbol: str | None,
    branch: str | None,
    since: Instant | None,
    pins: Pins,
) -> None:
    """Compare two revisions.

    Shows the text, and for source files the symbols added, removed and changed.

    Without REV the newest with the one before it; with one REV that with the newest.
    """
    if branch is not None and (since or before):
        raise UsageError("--branch says what to compare with; leave --since and REV away")
    if symbol is not None:
        from pcpfs.store.searches.symbol_life import differences  # noqa: PLC0415 (help needs no store)

        reader = call.session.reader(pins)
        found = differences(reader, symbol, until=pins.as_of, since=since, page=page, branch=branch)
        call.answer({"symbols": found}, _symbol_lines(found))
        return
    if page is None or since is not None:
        raise UsageError("say of which page, or --symbol NAME (to which --since belongs)")
    if branch is not None:
        from pcpfs.store.branch_reading import against_branch  # noqa: PLC0415

        against = against_branch(call.session.reader(pins), page, branch, pins)
        call.answer(against, _lines(against))
        return
    difference = call.session.diff(page, before, after, pins)
    call.answer(difference, _lines(difference))


def _lines(difference: Difference) -> Iterator[str]:
    for change, names in (difference.symbols or {}).items():
        for name in names:
            mark = _MARKS.get(change, "~")
            yield styled(f"{mark} {safe(name)}", _COLOURS.get(mark, "yellow"))
    if difference.binary:
        yield "the bytes differ; they are no text"
    yield from _text_lines(difference.text)


def _symbol_lines(found: Iterable[SymbolDifference]) -> Iterator[str]:
    for one in found:
        name = next(step.qualified_name for step in (one.after, one.before) if step)
        both = f"{_place(one.before)} → {_place(one.after)}"
        yield styled(safe(f"{name}: {both}"), "bold")
        yield from _text_lines(one.text)


def _place(step: SymbolStep | None) -> str:
    if step is None:
        return "nothing"
    on = f" on {step.branches[0]}" if step.branches else ""
    return f"{step.path}:{step.lines[0]} since {step.at}{on}"


def _text_lines(text: str) -> Iterator[str]:
    for line in safe_lines(text).splitlines():
        yield styled(line, _COLOURS.get(line[:1]))
