"""`pcpfs sync`: take in what people edited, and bring sources up to date."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.failure import Failure
from pcpfs.cli.options import with_history, with_removals
from pcpfs.cli.reports import sync_lines

if TYPE_CHECKING:
    from pcpfs.sources.roots import HistoryWish


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=["pcpfs sync", "pcpfs sync book", "pcpfs sync book --history"],
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1)
@with_removals
@with_history
@click.option(
    "--allow-secret",
    "allow_secrets",
    multiple=True,
    metavar="FILE",
    help="Take a file of tree/ or ROOT/PATH although it holds a key or password; repeatable.",
)
def command(
    call: Call,
    roots: tuple[str, ...],
    accept_removals: bool,
    allow_secrets: tuple[str, ...],
    history: HistoryWish | None,
) -> int:
    """Take in what was edited in tree/, and bring the sources up to date.

    Files in tree/ that were edited, added, moved or removed become revisions, pages, names and
    tombstones. Symbols that changed are closed and opened anew, others stay as they are. What holds
    a key, a token or a password is left where it is, and named. The git history of sources is
    recorded from the first --history on. A source that has none is named and the others are done;
    the exit code then tells of it.
    """
    with call.progress() as progress:
        report = call.sources.sync(
            roots,
            progress=progress,
            accept_removals=accept_removals,
            allow_secrets=allow_secrets,
            history=history,
        )
    failure = Failure.of(report.refused[0].error) if report.refused else None
    members = {field.name: getattr(report, field.name) for field in fields(report)}
    call.answer({**members, "error": failure}, sync_lines(report))
    return failure.exit_code if failure else 0
