"""`pcpfs maintain`: keep writes fast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, safe

if TYPE_CHECKING:
    from pcpfs.store.maintain import MaintainReport


@click.command(
    cls=Command,
    section="Store",
    writes=True,
    examples=["pcpfs maintain", "pcpfs maintain --json"],
)
def command(call: Call) -> None:
    """Pack git's objects and clear up.

    Worth it after some thousand saves, such as every night; others may go on working meanwhile.
    """
    from pcpfs.store.maintain import maintain  # noqa: PLC0415 (help needs no store)

    with call.progress() as progress:
        report = maintain(call.store_for("maintain it"), progress)
    call.answer(report, _lines(report))


def _lines(report: MaintainReport) -> Iterator[str]:
    before, after = report.before, report.after
    yield (
        f"git: {plural(before.loose, 'loose object')} and {plural(before.packs, 'pack')}, "
        f"{before.kilobytes // 1024} MiB; now {after.loose} and {after.packs}, "
        f"{after.kilobytes // 1024} MiB"
    )
    if report.indexed:
        yield f"taken into the text index: {plural(report.indexed, 'document')}"
    yield from (f"removed {safe(path)}" for path in report.removed)
    yield from (f"erased from history: {page}" for page in report.erased)
