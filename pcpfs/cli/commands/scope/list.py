"""`pcpfs scope list`: the scopes of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part
from pcpfs.cli.text import columns, more_lines, plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import ScopeView


@click.command(cls=Command, examples=["pcpfs scope list", "pcpfs scope list --json"])
@with_part
def command(call: Call, limit: int, cursor: str | None) -> None:
    """List the scopes that you may see."""
    part = call.session.list_scopes(limit=limit, cursor=cursor)
    lines = [*_lines(part.items), *more_lines(part.cursor)]
    call.answer({"scopes": part.items, "cursor": part.cursor}, lines)


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
