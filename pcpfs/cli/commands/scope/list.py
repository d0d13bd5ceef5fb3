"""`pcpfs scope list`: the scopes of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import columns, plural, safe, styled

if TYPE_CHECKING:
    from pcpfs.model.answers import ScopeView


@click.command(cls=Command, examples=["pcpfs scope list", "pcpfs scope list --json"])
def command(call: Call) -> None:
    """List the scopes that you may see."""
    scopes = call.session.scopes()
    call.answer({"scopes": scopes}, _lines(scopes))


def _lines(scopes: Sequence[ScopeView]) -> Iterator[str]:
    rows = [
        (
            safe(s.scope),
            plural(s.pages, "page"),
            s.visibility,
            str(s.last_activity or ""),
            safe(s.title or ""),
        )
        for s in scopes
    ]
    yield from columns(rows, ("bold", None, None, "dim")) if rows else ()
    if not rows:
        yield styled("no scopes yet; the first write into one makes it", "dim")
