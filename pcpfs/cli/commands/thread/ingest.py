"""`pcpfs thread ingest`: add entries to the ledger of a thread."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import (
    entries_of_lines,
    entry,
    ingested_lines,
    ledger,
    with_entry_options,
)
from pcpfs.cli.options import instant_option
from pcpfs.cli.payload import read_payload
from pcpfs.errors import UsageError


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "make test 2>&1 | pcpfs thread ingest fix-17 --source tool:make --goal g1 --tag failure -",
        "pcpfs thread ingest fix-17 --jsonl entries.jsonl",
    ],
)
@click.option("--source", metavar="S", help="Who or what said it, such as tool:grep.")
@click.option("--goal", "goal_id", metavar="GOAL", help="The goal that it is about.")
@with_entry_options
@instant_option("--at", "When it happened; else now.")
@click.option(
    "--jsonl", is_flag=True, help="One JSON object a line, each an entry; all or nothing."
)
@click.argument("thread", metavar="THREAD")
@click.argument("file", metavar="FILE|-")
def command(
    call: Call, *, thread: str, file: str, jsonl: bool, at: Any, source: str | None, **given: Any
) -> None:
    """Add to the ledger of a thread.

    An entry is never changed or removed. Secrets in it are withheld, the rest is kept.
    """
    now = at or call.store.clock.now()
    found = ledger(call, thread)
    raw = read_payload(file)
    if jsonl:
        if given["tags"] or given["key"] or given["importance"] is not None:
            raise UsageError("with --jsonl each line has its own tags, importance and key")
        entries = entries_of_lines(raw, now, source=source, goal_id=given["goal_id"])
        written = found.ingest_all(entries)
        answer: Any = {
            "thread": thread,
            "entries": written,
            "created": sum(one.created for one in written),
        }
    else:
        if source is None:
            raise UsageError("say who or what said it: --source S, such as tool:grep")
        written = found.ingest_all([entry(raw, now, source=source, **given)])
        answer = written[0]
    call.answer(answer, ingested_lines(thread, written))
