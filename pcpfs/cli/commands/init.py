"""`pcpfs init`: make a store."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.settings import absolute, here
from pcpfs.cli.text import styled
from pcpfs.model.shown import safe


@click.command(
    cls=Command,
    section="Start",
    writes=True,
    examples=["pcpfs init", "pcpfs init ~/context", "pcpfs -C ~/context init"],
)
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--nested", is_flag=True, help="Allow a store inside another git repository.")
def command(call: Call, folder: str | None, nested: bool) -> None:
    """Make a store.

    It lies in DIR, else in -C or $PCPFS_STORE, else in this folder, which must be empty.
    """
    path = absolute(folder) if folder else call.settings.named_store or here()
    store = call.create_store(path, nested=nested)
    answer = {
        "store_id": store.store_id,
        "path": str(store.path),
        "format": store.format,
        "owner": store.owner,
    }
    call.answer(answer, _lines(store.path))


def _lines(path: Path) -> Iterator[str]:
    yield f"made the store {styled(safe(str(path)), 'bold')}"
    there = "" if path == here() else f"cd {safe(shlex.quote(str(path)))}, then "
    yield f"next: {there}pcpfs add FOLDER --scope project:NAME"
