"""`pcpfs verify`: compare every symbol with the bytes on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import columns, safe, short

if TYPE_CHECKING:
    from pcpfs.sources.service import VerifyReport

FAILED = 1


@click.command(cls=Command, section="Sources", examples=["pcpfs verify", "pcpfs verify --json"])
def command(call: Call) -> int:
    """Compare every symbol with its source file.

    Each is valid, stale or gone; nothing is changed.

    Exit code 1 if one is stale or gone.
    """
    report = call.sources.verify()
    call.answer(report, _lines(report))
    return FAILED if report.stale or report.gone else 0


def _lines(report: VerifyReport) -> Iterator[str]:
    rows = [
        (check.status, safe(check.qualified_name), safe(check.path), short(check.frame_id))
        for check in report.frames
        if check.status != "valid"
    ]
    yield from columns(rows, ("red", "bold")) if rows else ()
    yield (
        f"{report.checked} checked: {report.valid} valid, {report.stale} stale, {report.gone} gone"
    )
