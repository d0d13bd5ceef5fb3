"""`pcpfs pull`: take over what other clones wrote."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.conflict_lines import conflict_lines
from pcpfs.cli.text import plural, short
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.merges.remote import Pulled

_NAMED = 20
"""So many erased pages are named."""


@click.command(
    cls=Command, section="Store", writes=True, examples=["pcpfs pull", "pcpfs pull upstream"]
)
@click.argument("remote", metavar="[REMOTE]", required=False)
def command(call: Call, remote: str | None) -> None:
    """Take over what other clones wrote.

    Nothing of either side is lost: two revisions of one page are two heads, see 'pcpfs conflicts'.
    """
    from pcpfs.store.merges.remote import pull  # noqa: PLC0415 (help needs no store)

    pulled = pull(call.store, call.session.principal, remote)
    call.answer(pulled, _lines(pulled))


def _lines(pulled: Pulled) -> Iterator[str]:
    place = safe(f"{pulled.remote}/{pulled.branch}")
    did = {"current": "nothing new in", "forward": "went on to", "merged": "merged"}
    gone = f", {plural(len(pulled.erased), 'page')} erased" if pulled.erased else ""
    yield f"{did[pulled.outcome]} {place}: {plural(pulled.changes, 'new change')}{gone}"
    for page in pulled.erased[:_NAMED]:
        yield f"erased: {safe(page.path or page.title)} in {page.scope}  {short(page.page_id)}"
    if len(pulled.erased) > _NAMED:
        yield f"erased: {len(pulled.erased) - _NAMED:,} more; --json lists all"
    yield from conflict_lines(pulled.conflicts)
    yield from (f"edited in tree/ and not taken in: {safe(path)}" for path in pulled.left)
