"""`pcpfs stale`: pages whose citations no longer hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.shown import suspect_lines
from pcpfs.cli.text import plural, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import SuspectPage


@click.command(cls=Command, section="Find", examples=["pcpfs stale", "pcpfs stale --json"])
def command(call: Call) -> None:
    """List pages whose cited symbols have changed or gone."""
    pages = call.session.suspects()
    call.answer({"pages": pages}, _lines(pages))


def _lines(pages: Sequence[SuspectPage]) -> Iterator[str]:
    yield from suspect_lines(pages)
    yield styled(f"{plural(len(pages), 'suspect page')}", "dim")
