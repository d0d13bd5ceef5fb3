"""`pcpfs log`: the history of a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part, with_pins
from pcpfs.cli.text import columns, interval, more_lines, safe, short, size

if TYPE_CHECKING:
    from pcpfs.model.answers import LogEntry, Pins
    from pcpfs.store.paging import Part


@click.command(
    cls=Command,
    section="Read",
    examples=["pcpfs log glossary.md", "pcpfs log --json pg_01k0w3v5c8e2f9"],
)
@with_part
@with_pins
@click.argument("page", metavar="ID")
def command(call: Call, page: str, pins: Pins, limit: int, cursor: str | None) -> None:
    """Show the history of a page.

    The revisions, or what was observed of a source file; newest first.
    """
    part = call.session.history(page, pins, limit=limit, cursor=cursor)
    call.answer({"revisions": part.items, "cursor": part.cursor}, _lines(part))


def _lines(part: Part[LogEntry]) -> Iterator[str]:
    rows = [
        (
            short(entry.revision_id),
            entry.operation,
            str(entry.created_at),
            safe(str(entry.created_by)),
            f"{_span(entry)}{_change(entry)}",
        )
        for entry in part.items
    ]
    yield from columns(rows, ("yellow", "bold", "dim")) if rows else ()
    yield from more_lines(part.cursor)


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
