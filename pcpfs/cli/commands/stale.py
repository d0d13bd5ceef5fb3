"""`pcpfs stale`: pages whose citations no longer hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part
from pcpfs.cli.shown import suspect_lines
from pcpfs.cli.text import more_lines, plural, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import SuspectPage


@click.command(cls=Command, section="Find", examples=["pcpfs stale", "pcpfs stale --json"])
@with_part
def command(call: Call, limit: int, cursor: str | None) -> None:
    """List pages whose cited symbols have changed or gone."""
    part = call.session.list_suspects(limit=limit, cursor=cursor)
    lines = [*_lines(part.items), *more_lines(part.cursor)]
    call.answer({"pages": part.items, "cursor": part.cursor}, lines)


def _lines(pages: Sequence[SuspectPage]) -> Iterator[str]:
    yield from suspect_lines(pages)
    yield styled(f"{plural(len(pages), 'suspect page')}", "dim")
