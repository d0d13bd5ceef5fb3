"""`pcpfs cat`: read a file of the virtual view."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call, as_member, document
from pcpfs.cli.command import Command
from pcpfs.cli.options import branch_option, with_pins

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs cat /scopes/project/tides/glossary.md",
        "pcpfs cat /sources/tidebook/tidebook/almanac.py.symbols/Almanac.height.py",
        "pcpfs cat --as-of 2026-03-01 /sources/tidebook/README.md",
        "pcpfs cat /sources/tidebook/tidebook/almanac.py --branch feature/faster",
    ],
)
@with_pins
@branch_option("A file of a source as this branch has it; see add --all-branches.")
@click.argument("path", metavar="PATH")
def command(call: Call, path: str, branch: str | None, pins: Pins) -> None:
    """Write a file of the virtual view as it is.

    Exactly its bytes go to standard output (to a terminal with escapes for what would drive it);
    see 'pcpfs ls' for the paths.
    """
    if branch is None:
        content = call.view(pins).file(path).read()
    else:
        from pcpfs.store.branch_reading import text_on_branch  # noqa: PLC0415

        content = text_on_branch(call.session.reader(pins), path, branch, pins)
    if call.settings.json:
        answer = {"path": path, "size": len(content), **as_member(content)}
        call.raw(document(answer))
    else:
        call.content(content)
