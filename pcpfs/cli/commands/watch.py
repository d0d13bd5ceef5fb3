"""`pcpfs watch`: keep the store up to date while people work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.text import safe
from pcpfs.model.answers import plain

if TYPE_CHECKING:
    from pcpfs.sources.watch import WatchLine


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=["pcpfs watch", "pcpfs watch book --json"],
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1)
def command(call: Call, roots: tuple[str, ...]) -> None:
    """Follow the sources until you stop it.

    Prints a line for each change; with --json one document a line. Ctrl-C ends it.
    """
    from pcpfs.sources.watch import watch  # noqa: PLC0415 (help needs no store)

    def tell(line: WatchLine) -> None:
        call.answer(line, [watch_line(line)])

    with stopped_by_signals() as stop:
        watch(call.sources, roots, tell, stop)


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, instead of ending the process."""
    stop = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in numbers]
    try:
        yield stop
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def watch_line(line: WatchLine) -> str:
    """One change, as a person reads it."""
    members = plain(line)
    told = members.values() if isinstance(members, dict) else [members]
    return safe("  ".join(str(value) for value in told))
