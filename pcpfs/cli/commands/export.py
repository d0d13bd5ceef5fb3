"""`pcpfs export`: scopes as a store of their own."""

from __future__ import annotations

from pathlib import Path

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, safe


@click.command(
    cls=Command,
    section="Store",
    examples=[
        "pcpfs export --scope project:tides ../tides-store",
        "pcpfs export --scope project:tides tides.tar.gz",
    ],
)
@click.option(
    "--scope", "scopes", multiple=True, metavar="SCOPE", help="Only this; repeatable, else all."
)
@click.argument("target", metavar="DIR|FILE.tar[.gz]")
def command(call: Call, scopes: tuple[str, ...], target: str) -> None:
    """Write scopes to a store of their own.

    With all ids and the whole history of their pages; without grants, and without what belongs to
    this clone alone.
    """
    from pcpfs.store.exchange import export  # noqa: PLC0415 (help needs no store)

    report = export(call.session, scopes, Path(target))
    pages, events = plural(report.pages, "page"), plural(report.events, "event")
    call.answer(report, [f"wrote {pages} and {events} to {safe(report.path)}"])
