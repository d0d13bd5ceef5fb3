"""`pcpfs changes`: the feed of what comes to a store."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.commands.watch import signals_call
from pcpfs.cli.text import styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.feed import FeedEntry

POLL_SECONDS = 0.5


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs changes --last 20",
        "pcpfs changes --limit 20",
        "pcpfs changes --since CURSOR --json",
        "pcpfs changes --since now --follow",
    ],
)
@click.option(
    "--since",
    metavar="CURSOR",
    default="-",
    help="Go on behind an earlier line; - is the beginning (as without it), now is the end.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="So many at most.")
@click.option(
    "--last", type=click.IntRange(1), metavar="N", help="The latest N instead, newest first."
)
@click.option("--follow", is_flag=True, help="Wait for more until you stop it.")
def command(call: Call, since: str, limit: int | None, last: int | None, follow: bool) -> None:
    """Tell what has changed, oldest first.

    Each line has a cursor: give that of the last one you have dealt with to --since, and you get
    all that came after, also what others wrote earlier and you pulled since. With --json one
    document a line. Whoever wants to take back what lies further behind finds its name with
    --last, for 'pcpfs undo'.
    """
    from pcpfs.store.feed import Cursor, Feed  # noqa: PLC0415 (help needs no store)

    feed, stop = Feed(call.store, call.session.authority), threading.Event()
    if last is not None:
        if follow or limit or since != "-":
            raise click.UsageError("--last goes without --since, --limit and --follow")
        for entry in feed.last(last):
            call.answer(entry, _lines(entry, with_cursor=False))
        return
    cursor, left = feed.now() if since == "now" else Cursor.parse(since), limit
    with signals_call(stop.set):
        while not stop.is_set():
            for entry in feed.since(cursor, left):
                call.answer(entry, _lines(entry))
                cursor = Cursor.parse(entry.cursor)
                left = left and left - 1
                if stop.is_set():
                    break
            if not follow or left == 0:
                break
            stop.wait(POLL_SECONDS)


def _lines(entry: FeedEntry, *, with_cursor: bool = True) -> Iterator[str]:
    place = safe(entry.path or entry.page_id or "the scope itself")
    who = f"{entry.at}  {safe(entry.actor)}"
    yield f"{who}  {styled(safe(entry.operation), 'bold')}  {safe(entry.scope)}  {place}"
    cursor = f"  cursor {entry.cursor}" if with_cursor else ""
    yield styled(f"  {entry.change_id}{cursor}", "dim")
