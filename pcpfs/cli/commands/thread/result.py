"""`pcpfs thread result`: what a subagent found out goes back into the ledger."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import entry, ingested_lines, ledger_for_results, with_entry_options
from pcpfs.cli.payload import read_payload


@click.command(
    cls=Command,
    writes=True,
    examples=["echo 'The fixture lacks a year.' | pcpfs thread result fix-17 --from g1 -"],
)
@click.option("--from", "goal_id", required=True, metavar="GOAL", help="The goal it worked on.")
@click.option("--failed", is_flag=True, help="It did not get there.")
@click.option("--source", metavar="S", help="Who it is; else subagent:GOAL.")
@with_entry_options
@click.argument("thread", metavar="THREAD")
@click.argument("file", metavar="FILE|-")
def command(
    call: Call,
    *,
    thread: str,
    file: str,
    goal_id: str,
    failed: bool,
    source: str | None,
    tags: tuple[str, ...],
    **given: Any,
) -> None:
    """Add the result of a subagent.

    It is tagged result, and success or failure.
    """
    found = ledger_for_results(call, thread)
    tags = tuple(dict.fromkeys(("result", "failure" if failed else "success", *tags)))
    one = entry(
        read_payload(file),
        call.store.clock.now(),
        source=source or f"subagent:{goal_id}",
        tags=tags,
        goal_id=goal_id,
        **given,
    )
    written = found.ingest_all([one])
    call.answer(written[0], ingested_lines(thread, written))
