"""`pcpfs fsck`: check the store itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import safe, styled

if TYPE_CHECKING:
    from pcpfs.store.fsck import FsckReport

FAILED = 1


@click.command(cls=Command, section="Store", examples=["pcpfs fsck", "pcpfs fsck --json"])
def command(call: Call) -> int:
    """Check the files of the store.

    Each must be what its name says; catalog and index must agree with them.

    Exit code 1 if there is a problem.
    """
    from pcpfs.store.fsck import fsck  # noqa: PLC0415 (help needs no store)

    with call.progress() as progress:
        report = fsck(call.store, progress)
    call.answer(report, _lines(report))
    return 0 if report.ok else FAILED


def _lines(report: FsckReport) -> Iterator[str]:
    for problem in report.problems:
        yield f"{styled(problem.code, 'red')}  {safe(problem.path)}  {safe(problem.message)}"
    found = f"{len(report.problems)} problems" if report.problems else styled("all well", "green")
    yield f"{report.checked} files checked: {found}"
