"""`pcpfs status`: how the store and its sources are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.reports import skipped_line
from pcpfs.cli.shown import suspicion_lines
from pcpfs.cli.text import columns, plural, safe, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import RootView
    from pcpfs.store.session import Status


@click.command(cls=Command, section="Store", examples=["pcpfs status", "pcpfs status --json"])
def command(call: Call) -> None:
    """Show roots, suspect pages and what was left out."""
    status = call.session.status()
    call.answer(status, _lines(str(call.store.path), status))


def _lines(path: str, status: Status) -> Iterator[str]:
    yield f"store {styled(safe(path), 'bold')}"
    yield from _roots(status.roots)
    for page in status.suspect:
        yield f"{styled(safe(page.title), 'bold')}  {safe(page.scope)}  {page.page_id}"
        yield from (f"  {line}" for line in suspicion_lines(page.frames))
    for skipped in status.skipped:
        yield skipped_line(skipped)


def _roots(roots: Sequence[RootView]) -> Iterator[str]:
    rows = [
        (
            f"  {safe(root.root)}",
            safe(root.scope),
            plural(root.files, "file"),
            plural(root.symbols, "symbol"),
            root.state,
            safe(root.path or ""),
        )
        for root in roots
    ]
    yield from columns(rows, ("bold",)) if rows else ()
