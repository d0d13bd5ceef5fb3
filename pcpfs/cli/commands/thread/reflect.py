"""`pcpfs thread reflect`: the evidence for looking back at a thread."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.ledgers import awaited, entry_lines, known_ledger, with_budget
from pcpfs.cli.text import plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.ledger import Reflection


@click.command(cls=Command, examples=["pcpfs thread reflect fix-17 --json"])
@with_budget
@click.argument("thread", metavar="THREAD")
def command(call: Call, *, thread: str, budget: int, **how: Any) -> None:
    """Show failures, successes and reflections.

    By goal, those of the highest importance, within the budget.
    """
    found = awaited(known_ledger(call, thread, **how).reflect(budget))
    call.answer(found, _lines(found))


def _lines(found: Reflection) -> Iterator[str]:
    for goal in found.goals:
        told = ", ".join(f"{count} {tag}" for tag, count in goal.tagged.items())
        count = plural(goal.entries, "entry", "entries")
        yield styled(safe(goal.goal_id or "(no goal)"), "bold") + f"  {count}  {told}".rstrip()
        for shown in goal.evidence:
            yield from (f"  {line}" for line in entry_lines(shown))
    yield styled(f"{found.token_count} of {found.token_budget} tokens ({found.counter})", "dim")
