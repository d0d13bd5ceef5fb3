"""`pcpfs reindex`: build catalog and index anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import plural

if TYPE_CHECKING:
    from pcpfs.sources.reextract import ReextractReport


@click.command(
    cls=Command,
    section="Store",
    writes=True,
    examples=["pcpfs reindex", "pcpfs reindex --extract"],
)
@click.option(
    "--extract",
    is_flag=True,
    help="First look at all source files in the store with newer adapters, if there are any.",
)
def command(call: Call, extract: bool) -> None:
    """Build catalog and text index anew from the files."""
    extracted = None
    with call.progress() as progress:
        if extract:
            extracted = call.sources.reextract(progress)
        pages = call.store_for("build its indexes anew").reindex(progress)
        call.session.flush_indexes(progress)
    answer: dict[str, object] = {"pages": pages}
    if extracted is not None:
        answer["extracted"] = asdict(extracted)
    call.answer(answer, [*_lines(extracted), f"built anew: {plural(pages, 'page')}"])


def _lines(report: ReextractReport | None) -> Iterator[str]:
    if report is None:
        return
    yield f"seen anew by newer adapters: {plural(report.pages, 'page')}"
    if report.restored:
        yield f"lost frames files made again: {report.restored}"
    if report.elsewhere:
        yield f"left to the clone that observes them: {plural(report.elsewhere, 'page')}"
    if report.unreadable:
        yield f"without bytes to look at: {report.unreadable}; 'pcpfs fsck' says why"
