"""`pcpfs add`: take a source tree in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_history
from pcpfs.cli.reports import sync_lines
from pcpfs.cli.settings import absolute

if TYPE_CHECKING:
    from pcpfs.sources.roots import HistoryWish

MIB = 1 << 20


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=[
        "pcpfs add . --scope project:tides",
        "pcpfs add ~/src/tidebook --scope project:tides --root book --include '*.py'",
        "pcpfs add . --scope project:tides --history --since 2024-01-01",
    ],
)
@click.option("--scope", required=True, metavar="SCOPE", help="Where, such as project:tides.")
@click.option("--root", "name", metavar="NAME", help="What to call it; else the folder's name.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only such files; repeatable.")
@click.option(
    "--max-bytes", type=click.IntRange(1), default=MIB, show_default=True, help="Skip larger files."
)
@with_history
@click.option("--take-over", is_flag=True, help="Observe it from here, instead of another clone.")
@click.argument("path", metavar="PATH")
def command(
    call: Call,
    *,
    path: str,
    scope: str,
    name: str | None,
    include: tuple[str, ...],
    max_bytes: int,
    take_over: bool,
    history: HistoryWish | None,
) -> None:
    """Take a folder of sources in.

    Each file becomes a page, each definition a symbol that pages can cite. What .gitignore and
    .pcpfsignore name is left out, so are binaries and links that lead away. With --history also
    what each commit held; see docs/history.md.
    """
    from pcpfs.model.names import Namespace  # noqa: PLC0415 (help needs no store)
    from pcpfs.sources.roots import Wanted  # noqa: PLC0415
    from pcpfs.sources.scanned import ScanOptions  # noqa: PLC0415

    options = ScanOptions(include=include, max_size=max_bytes)
    wanted = Wanted(absolute(path), Namespace.given(scope), name, options, take_over, history)
    with call.progress() as progress:
        report = call.sources.add(wanted, progress)
    call.answer(report, sync_lines(report))
