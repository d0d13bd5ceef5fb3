"""`pcpfs event`: take in something that happened."""

from __future__ import annotations

from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import instant_option, with_epistemic
from pcpfs.cli.payload import BYTES, media_type_for, read_payload
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=[
        "pcpfs event --scope conversation:c1 --source-ref conversation:c1#message-7 message.txt",
        "./deploy.sh 2>&1 | pcpfs event --scope project:tides --key deploy-42 --tag deploy -",
    ],
)
@click.option("--scope", required=True, metavar="SCOPE", help="Where, such as conversation:c1.")
@click.option("--key", metavar="KEY", help="Taking in twice with the same key takes in once.")
@click.option("--media-type", metavar="TYPE", help="What it is; else told by the file's ending.")
@click.option("--title", metavar="TITLE", help="Else its first line.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="A tag; repeatable.")
@click.option("--source-ref", "source_refs", multiple=True, metavar="REF", help="Where it is from.")
@instant_option("--at", "When it happened; else nobody says so.")
@instant_option("--valid-from", "From when on it is true.")
@instant_option("--valid-to", "Until when it is true.")
@with_epistemic
@click.argument("file", metavar="FILE|-")
def command(
    call: Call, *, scope: str, file: str, at: Any, media_type: str | None, **given: Any
) -> None:
    """Take in something that happened.

    A message, what a tool printed: an event page, which stays as it is. Secrets in it are
    withheld, the rest is kept.
    """
    from pcpfs.model.requests import EventDraft  # noqa: PLC0415 (help needs no store)

    payload = read_payload(file)
    kind = media_type or media_type_for(file, payload)
    kind = kind if media_type or kind == BYTES or file != "-" else "text/plain"
    (written,) = call.session.ingest(
        scope, [EventDraft(payload, media_type=kind, observed_at=at, **given)]
    )
    call.answer(written, written_lines("took in", written))
