"""`pcpfs undo`: take the last operation back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import short, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.undo import UndoReport


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=["pcpfs undo", "pcpfs undo chg_3fa9c02e"],
)
@click.argument("change", metavar="[CHANGE]", required=False)
def command(call: Call, change: str | None) -> None:
    """Take back your last operation in this clone, or CHANGE.

    That is an operation of its own and everything stays in the history, so a second undo redoes. To
    go further back name a change; 'pcpfs changes --last 20' lists them.
    """
    from pcpfs.store.undo import undo  # noqa: PLC0415 (help needs no store)

    report = undo(call.store, call.session.principal, change)
    call.answer(report, _lines(report))


def _lines(report: UndoReport) -> Iterator[str]:
    for item in report.undone:
        place = styled(safe(item.path or item.title), "bold")
        yield f"undid {safe(item.operation)} of {place} in {safe(item.scope)}"
        yield f"  {item.page_id}  {short(item.revision_id)}  {', '.join(item.events)}"
    yield from (f"  note: {safe(warning)}" for warning in report.warnings)
