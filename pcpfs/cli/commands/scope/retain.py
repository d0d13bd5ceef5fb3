"""`pcpfs scope retain`: how long the pages of a scope are kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import instant_option
from pcpfs.cli.text import plural
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.instants import Instant
    from pcpfs.store.folding.retention import RetentionView


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs scope retain project:tides --hold-until 2030-01-01",
        "pcpfs scope retain project:tides --keep-days 365",
        "pcpfs scope retain project:tides --none",
    ],
)
@instant_option("--hold-until", "Nothing of the scope is erased before then.")
@click.option(
    "--keep-days", type=int, metavar="N", help="No page is erased before N days after its change."
)
@click.option("--none", "ends", is_flag=True, help="No hold any more.")
@click.argument("scope", metavar="SCOPE")
def command(
    call: Call, scope: str, hold_until: Instant | None, keep_days: int | None, ends: bool
) -> None:
    """Say how long the pages of a scope are kept.

    What is given replaces what was. 'pcpfs delete' is then refused, unless it says why not
    (--override-hold), which its receipt records.
    """
    if ends == (hold_until is not None or keep_days is not None):
        raise UsageError("say --hold-until INSTANT, --keep-days N or both, or else --none")
    view = call.session.retain(scope, hold_until=hold_until, keep_days=keep_days)
    call.answer(view, _lines(view))


def _lines(view: RetentionView) -> Iterator[str]:
    if view.hold_until is not None:
        yield f"nothing in {safe(view.scope)} is erased before {view.hold_until}"
    if view.keep_days is not None:
        days = plural(view.keep_days, "day")
        yield f"no page in {safe(view.scope)} is erased before {days} after its last change"
    if view.hold_until is None and view.keep_days is None:
        yield f"nothing keeps pages in {safe(view.scope)} from being erased"
