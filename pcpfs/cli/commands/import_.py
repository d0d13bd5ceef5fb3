"""`pcpfs import`: a store, or what an importer reads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.importers import chosen
from pcpfs.cli.text import plural, styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.store.exchanges.exchange import ImportReport
    from pcpfs.store.exchanges.importing import Imported


@click.command(
    cls=Command,
    section="Store",
    writes=True,
    examples=[
        "pcpfs import tides.tar.gz",
        "pcpfs import --scope notes:vault ~/vault",
        "pcpfs import --format chat conversations.json",
    ],
)
@click.option("--scope", metavar="SCOPE", help="Where to; of a store: only this scope of it.")
@click.option(
    "--format",
    "form",
    metavar="NAME",
    help="store, chat, markdown or an importer that is installed; else what it looks like.",
)
@click.option(
    "--allow-secret", is_flag=True, help="Take what holds a key, token or password all the same."
)
@click.argument("source", metavar="PATH")
def command(
    call: Call, source: str, scope: str | None, form: str | None, allow_secret: bool
) -> None:
    """Take in a store, or another format.

    From a store, ids are kept; doing it again changes nothing; pages on which the two differ get
    two heads and are listed. What holds a key, a token or a password is refused: a store as a
    whole, of another format that page.
    """
    path = Path(source)
    importer = chosen(path, form)
    if importer is None:
        from pcpfs.store.exchanges.exchange import import_store  # noqa: PLC0415 (help needs no store)

        report = import_store(
            call.session, path, [scope] if scope else (), allow_secret=allow_secret
        )
        call.answer(report, _store_lines(report))
        return
    from pcpfs.store.exchanges.importing import take_in  # noqa: PLC0415 (help needs no store)

    call.store.commit_late()
    done = take_in(call.session, importer.read(path), scope, allow_secret=allow_secret)
    call.answer(done, _lines(done))


def _store_lines(report: ImportReport) -> Iterator[str]:
    told = f"{plural(report.pages, 'page')} and {plural(report.events, 'event')}"
    yield (
        f"took in {told} in {plural(len(report.scopes), 'scope')}"
        if report.files
        else ("nothing to do, everything is here already")
    )
    for clash in report.conflicts:
        yield f"{styled('conflict', 'yellow')} {safe(clash.title)}  {clash.page_id}"
    for what, why in report.left:
        yield f"left out: {safe(what)} ({safe(why)})"


def _lines(done: Imported) -> Iterator[str]:
    counts = (
        (done.created, "created"),
        (done.revised, "revised"),
        (done.events, "events"),
        (done.links, "links"),
        (done.unchanged, "unchanged"),
    )
    told = ", ".join(f"{number} {what}" for number, what in counts if number)
    yield f"{told or 'nothing found'} in {safe(', '.join(done.scopes) or 'no scope')}"
    for page, path in done.conflicts:
        yield f"{styled('conflict', 'yellow')} {safe(path)}  {page}"
    for path, kind, target in done.unresolved[:20]:
        yield styled(f"no page for {safe(kind)} [[{safe(target)}]] in {safe(path)}", "dim")
    for left in done.unread:
        yield f"left out: {safe(left.path)} ({safe(left.reason)})"
