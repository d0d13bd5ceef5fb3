"""`pcpfs mount`: the virtual view as folders and files of this system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_pins
from pcpfs.cli.serving import serves_a_model
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Serve",
    examples=[
        "pcpfs mount ~/context",
        "pcpfs mount --as user:anna ~/context",
        "pcpfs mount --as-of 2026-03-01 ~/then",
    ],
)
@click.option("--non-empty", is_flag=True, help="Also on a folder that holds something.")
@with_pins
@click.argument("folder", metavar="DIR")
def command(call: Call, folder: str, non_empty: bool, pins: Pins) -> None:
    """Mount the virtual view on a folder, read-only, until you stop it.

    It stays up to date. Without --as it shows what model:local may read. Ctrl-C or SIGTERM
    unmounts it. After kill -9 the system's fusermount3 does, or you: fusermount3 -u DIR. Needs
    FUSE and the extra 'fuse'; see docs/view.md.
    """
    from pcpfs.fuse.mounting import mount  # noqa: PLC0415 (help needs no store)

    serves_a_model(call)
    acting = call.session.principal
    told = {"mounted": folder, "principal": str(acting)}

    def ready() -> None:
        call.answer(told, [f"mounted on {safe(folder)} for {acting}; Ctrl-C unmounts it"])

    mount(call.session, Path(folder), pins, ready, non_empty=non_empty)
