"""`pcpfs write`: a new page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_description
from pcpfs.cli.payload import media_type_for, read_draft
from pcpfs.cli.written import written_lines


@click.command(
    cls=Command,
    section="Write",
    writes=True,
    examples=[
        "pcpfs write --scope project:tides docs/glossary.md",
        "echo 'Ask the harbour master.' | pcpfs write --scope project:tides --title Surge -",
        "pcpfs write --scope project:tides --title Scan --ref file:///archive/scan.pdf",
        "pcpfs write --scope project:tides --key import-7 --tag imported docs/saint-malo.txt",
    ],
)
@click.option("--scope", required=True, metavar="SCOPE", help="Where, such as project:tides.")
@click.option("--path", metavar="PATH", help="Its place in tree/; else made from the title.")
@click.option("--key", metavar="KEY", help="Writing twice with the same key writes once.")
@with_description
@click.argument("file", metavar="FILE|-", required=False)
def command(
    call: Call, *, scope: str, path: str | None, key: str | None, file: str | None, **given: Any
) -> None:
    """Write a new page.

    The text comes from a file, or from standard input with '-'; or it lies elsewhere (--ref), and
    is checked whenever it is read.
    """
    draft = read_draft(call, file, **given)
    if file is not None and draft.media_type is None and draft.payload is not None:
        draft = replace(draft, media_type=media_type_for(file, draft.payload))
    written = call.session.write(scope, draft, path=path, key=key)
    call.answer(written, written_lines("wrote", written))
