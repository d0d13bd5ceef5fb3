"""`pcpfs verify`: compare every symbol with the bytes on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import columns, short
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.sources.verify import VerifyReport

FAILED = 1


@click.command(cls=Command, section="Sources", examples=["pcpfs verify", "pcpfs verify --json"])
def command(call: Call) -> int:
    """Compare every symbol with its source file.

    Each is valid, stale or gone; nothing is changed.

    Exit code 1 if one is stale or gone.
    """
    from pcpfs.sources.verify import verify  # noqa: PLC0415
    from pcpfs.store.registry import installed_registry  # noqa: PLC0415 (help needs no store)

    report = verify(call.store, installed_registry(), call.session.authority)
    call.answer(report, _lines(report))
    return 0 if report.ok else FAILED


def _lines(report: VerifyReport) -> Iterator[str]:
    rows = [
        (check.status, safe(check.qualified_name), safe(check.path), short(check.frame_id))
        for check in report.frames
        if check.status != "valid"
    ]
    yield from columns(rows, ("red", "bold")) if rows else ()
    counts = f"{report.valid} valid, {report.stale} stale, {report.gone} gone"
    unknown = f"; {report.unknown} not to be read here" if report.unknown else ""
    yield f"{report.checked} checked: {counts}{unknown}"
