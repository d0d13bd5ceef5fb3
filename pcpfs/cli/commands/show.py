"""`pcpfs show`: a page, a revision or a symbol."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call, document
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_part, with_pins
from pcpfs.cli.subject import PROJECTIONS, Subject
from pcpfs.errors import UsageError
from pcpfs.model.answers import plain

if TYPE_CHECKING:
    from pcpfs.model.answers import Pins


@click.command(
    cls=Command,
    section="Read",
    examples=[
        "pcpfs show glossary.md",
        "pcpfs show pg_01k0w3v5c8e2f9 --projection payload",
        "pcpfs show pg_01k0w3v5c8e2f9@rev_3fa90c11d2e4 --json",
        "pcpfs show fr_4h6j7k8m9n --as-of 2026-03-01",
        "pcpfs show 'pg_01k0w3v5c8e2f9#bytes=4096-9000' --projection payload",
    ],
)
@click.option(
    "--projection",
    type=click.Choice(list(PROJECTIONS)),
    metavar="NAME",
    help=f"Only this part: {', '.join(PROJECTIONS)}. "
    "Without --json, payload writes exactly the bytes.",
)
@click.option(
    "--bytes",
    "span",
    metavar="A-B",
    callback=lambda ctx, param, value: None if value is None else _span(value),
    help="Only these bytes of the text, half-open, such as 0-4096.",
)
@with_part
@with_pins
@click.argument("given", metavar="ID[@REV]")
def command(call: Call, given: str, projection: str | None, pins: Pins, **part: Any) -> None:
    """Show a page or a symbol with its text.

    ID is a page, revision or symbol id (or the first 8 characters or more of one), or a path in
    tree/. `#bytes=A-B` behind an id, as in the mark of a cut entry of a thread, is `--bytes A-B`.
    """
    given, _, place = given.partition("#bytes=") if given.startswith("pg_") else (given, "", "")
    if place and part["span"] is not None:
        raise UsageError(f"--bytes and #bytes={place} both say which bytes; give one of them")
    if place:
        part["span"] = _span(place)
    subject = Subject(call.session, given, pins, **part)
    if call.settings.json:
        call.raw(document(subject.document(projection)))
    elif projection == "payload":
        call.content(subject.content)
    elif projection:
        shown = plain(subject.document(projection))
        click.echo(json.dumps(shown, ensure_ascii=True, indent=2))
    else:
        call.answer(None, subject.lines())


def _span(given: str) -> tuple[int, int]:
    """`A-B`: from byte A, up to but without byte B."""
    found = re.fullmatch(r"(\d{1,18})-(\d{1,18})", given, re.ASCII)
    if found is None or int(found[1]) > int(found[2]):
        raise click.BadParameter(f"{given!r} is no range; one looks like 0-4096")
    return int(found[1]), int(found[2])
