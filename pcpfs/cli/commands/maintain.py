"""`pcpfs maintain`: keep writes fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural, size
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.upkeeping.maintain import MaintainReport


@click.command(
    cls=Command,
    section="Store",
    writes=True,
    examples=["pcpfs maintain", "pcpfs maintain --json"],
)
def command(call: Call) -> None:
    """Pack git's objects and clear up.

    The bytes of saves that were superseded more than seven days ago go, unless the source's
    repository has them, a page cites them, or they were the last of their day; what changed when
    stays known.

    Worth it after some thousand saves, such as every night; others may go on working meanwhile.
    """
    from pcpfs.sources.thinning import thin  # noqa: PLC0415 (help needs no store)
    from pcpfs.store.upkeeping.maintain import maintain  # noqa: PLC0415

    store = call.store_for("maintain it")
    thinned = thin(store, call.session.principal)
    with call.progress() as progress:
        report = replace(maintain(store, progress), thinned=thinned)
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
    if report.thinned and report.thinned.payloads:
        saves, held = plural(report.thinned.payloads, "old save"), size(report.thinned.bytes)
        yield f"thinned out: {saves} of sources, {held}"
    yield from (f"removed {safe(path)}" for path in report.removed)
    yield from (f"erased from history: {page}" for page in report.erased)
