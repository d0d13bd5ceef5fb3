"""`pcpfs log`: the history of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import columns, interval, safe, short, size

if TYPE_CHECKING:
    from pcpfs.model.answers import LogEntry, Pins


@click.command(
    cls=Command,
    section="Read",
    examples=["pcpfs log glossary.md", "pcpfs log --json pg_01k0w3v5c8e2f9"],
)
@with_pins
@click.argument("page", metavar="ID")
def command(call: Call, page: str, pins: Pins) -> None:
    """Show the history of a page.

    The revisions, or what was observed of a source file; newest first.
    """
    entries = call.session.log(page, pins)
    call.answer({"revisions": entries}, _lines(entries))


def _lines(entries: Sequence[LogEntry]) -> Iterator[str]:
    rows = [
        (
            short(entry.revision_id),
            entry.operation,
            str(entry.created_at),
            safe(str(entry.created_by)),
            f"{_span(entry)}{_change(entry)}",
        )
        for entry in entries
    ]
    yield from columns(rows, ("yellow", "bold", "dim")) if rows else ()


def _span(entry: LogEntry) -> str:
    holds = entry.valid_from or entry.valid_to
    told = f"holds {interval(entry.valid_from, entry.valid_to)}" if holds else ""
    return "  ".join(filter(None, [safe(entry.title or ""), _size(entry), told]))


def _size(entry: LogEntry) -> str:
    return "" if entry.size is None else size(entry.size)


def _change(entry: LogEntry) -> str:
    if entry.opened is None and entry.closed is None:
        return ""
    return f"  {entry.opened or 0} opened, {entry.closed or 0} closed"
