"""`pcpfs demo`: the main job, shown on a sample."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command

FAILED = 1


@click.command(cls=Command, section="Start", examples=["pcpfs demo", "pcpfs demo --keep"])
@click.option("--keep", is_flag=True, help="Leave the store and the sample there to play with.")
def command(call: Call, keep: bool) -> int:
    """Show the main job on a small sample.

    Runs real commands in a temporary folder and prints what they print.
    """
    from pcpfs.cli.main import main  # noqa: PLC0415 (which finds this command)
    from pcpfs.cli.tour import StepFailed, Tour  # noqa: PLC0415 (help needs no store)

    os.environ["PCPFS_PAGER"] = "cat"  # a story goes on by itself
    with _folder(keep) as folder:
        tour = Tour(folder, main, quiet=call.settings.json)
        failed = None
        try:
            tour.tell()
        except StepFailed as error:
            failed = str(error)
        answer = {"steps": tour.steps, "failed": failed, "folder": str(folder) if keep else None}
        call.answer(answer, _last_lines(folder, keep, failed))
    return FAILED if failed else 0


def _last_lines(folder: Path, keep: bool, failed: str | None) -> Iterator[str]:
    yield ""
    if failed:
        yield f"the demo failed: {failed}"
    yield f"kept: {folder}" if keep else "'pcpfs demo --keep' leaves it all there to play with"


@contextmanager
def _folder(keep: bool) -> Iterator[Path]:
    """A temporary folder, removed afterwards unless it is to be kept."""
    if keep:
        yield Path(tempfile.mkdtemp(prefix="pcpfs-demo-"))
        return
    with tempfile.TemporaryDirectory(prefix="pcpfs-demo-") as folder:
        yield Path(folder)
