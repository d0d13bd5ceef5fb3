"""`pcpfs suppress`: leave pages out of one task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.searches.suppressions import Suppression


@click.command(
    cls=Command,
    section="Find",
    examples=[
        "pcpfs suppress glossary.md --task draft-7 --why 'read it already'",
        "pcpfs suppress --task draft-7",
        "pcpfs suppress --lift glossary.md --task draft-7",
    ],
)
@click.option("--task", required=True, metavar="TASK", help="The task, by a name of your own.")
@click.option("--why", default="asked", metavar="TEXT", help="The reason.")
@click.option("--lift", is_flag=True, help="Recall them again.")
@click.argument("pages", metavar="PAGE...", nargs=-1)
def command(call: Call, task: str, why: str, lift: bool, pages: tuple[str, ...]) -> None:
    """Leave pages out of one task's searches.

    Without a PAGE, list what is left out. For 30 days, in this clone only; the pages themselves
    and all other tasks are untouched.
    """
    session = call.session
    if lift:
        call.answer({"lifted": session.lift(task, pages)}, [f"recalled again in {safe(task)}"])
        return
    if pages:
        session.suppress(task, pages, why)
    found = session.suppressed(task)
    call.answer({"suppressed": found}, _lines(found))


def _lines(found: Sequence[Suppression]) -> Iterator[str]:
    for one in found:
        yield f"{one.page_id}  until {one.until}  {safe(one.why)}"
    yield styled(plural(len(found), "suppressed page"), "dim")
