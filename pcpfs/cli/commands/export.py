"""`pcpfs export`: scopes as a store of their own, or a branch of the view as plain files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins
from pcpfs.cli.text import plural
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins
    from pcpfs.view.materialise import Materialised


@click.command(
    cls=Command,
    section="Store",
    examples=[
        "pcpfs export --scope project:tides ../tides-store",
        "pcpfs export --scope project:tides tides.tar.gz",
        "pcpfs export --view /scopes/project/tides ../tides-pages",
        "pcpfs export --view /sources/tidebook --as-of 2026-03-01 ../tidebook-then",
    ],
)
@click.option(
    "--scope", "scopes", multiple=True, metavar="SCOPE", help="Only this; repeatable, else all."
)
@click.option(
    "--view", "branch", metavar="PATH", help="A folder of the virtual view instead, as plain files."
)
@with_pins
@click.argument("target", metavar="DIR|FILE.tar[.gz]")
def command(
    call: Call, scopes: tuple[str, ...], branch: str | None, pins: Pins, target: str
) -> None:
    """Write scopes to a store of their own, or a folder of the view as files.

    A store comes with all ids and the whole history of its pages; without grants, and without what
    belongs to this clone alone. With --view a second time changes only what changed, and leaves
    alone what somebody else put there.
    """
    if branch is not None:
        if scopes:
            raise UsageError("give either --view or --scope")
        report = _view(call, branch, pins, target)
        call.answer(report, _lines(report))
    elif pins.as_of or pins.recorded_as_of:
        raise UsageError("a store is exported with its whole history: --as-of goes with --view")
    else:
        _store(call, scopes, target)


def _view(call: Call, branch: str, pins: Pins, target: str) -> Materialised:
    from pcpfs.view.materialise import materialise  # noqa: PLC0415 (help needs no store)

    store, folder = call.session.store, Path(target)
    return materialise(
        call.view(pins), branch, folder, store.disk, store=str(store.store_id), home=store.path,
        sources=[Path(root.path) for root in store.local.roots().values()],
    )  # fmt: skip


def _lines(report: Materialised) -> Iterator[str]:
    counts = f"{report.written} written, {report.removed} removed, {report.unchanged} unchanged"
    yield f"{safe(report.path)} holds {safe(report.view)}: {counts}"
    yield from (f"left  {safe(path)}: {safe(reason)}" for path, reason in report.left)


def _store(call: Call, scopes: tuple[str, ...], target: str) -> None:
    from pcpfs.store.exchanges.exchange import export  # noqa: PLC0415 (help needs no store)

    report = export(call.session, scopes, Path(target))
    pages, events = plural(report.pages, "page"), plural(report.events, "event")
    call.answer(report, [f"wrote {pages} and {events} to {safe(report.path)}"])
