"""`pcpfs watch`: keep the store up to date while people work."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.options import with_removals
from pcpfs.cli.text import styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.sources.watch_line import WatchLine

COLOURS = {"error": "red", "note": "yellow", "skipped": "yellow"}


@click.command(
    cls=Command,
    section="Sources",
    writes=True,
    examples=["pcpfs watch", "pcpfs watch book --json"],
)
@click.argument("roots", metavar="[ROOT]...", nargs=-1)
@with_removals
def command(call: Call, roots: tuple[str, ...], accept_removals: bool) -> None:
    """Follow the sources and tree/ until you stop it.

    Prints a line for each change; with --json one document a line. Ctrl-C ends it.
    """
    from pcpfs.sources.watch import Watch  # noqa: PLC0415 (help needs no store)

    def tell(line: WatchLine) -> None:
        call.answer(line, [watch_line(line)])

    watch = Watch(call.sources, tell, threading.Event(), accept_removals=accept_removals)
    with signals_call(watch.stop):
        watch.run(list(roots))


@contextmanager
def signals_call(stop: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a closed terminal call `stop` instead of ending the process."""
    hangs_up = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN  # as under `nohup`
    numbers = (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hangs_up else []))
    before = [signal.signal(number, lambda *_: stop()) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def watch_line(line: WatchLine) -> str:
    """One change, as a person reads it."""
    place = "/".join(filter(None, (line.root, line.path)))
    if line.event == "watching":
        place = f"{line.root}  {line.path}"
    counts = f"{line.opened or 0} opened, {line.closed or 0} closed"
    symbols = counts if line.opened or line.closed else ""
    told = [styled(line.event, COLOURS.get(line.event, "green")), safe(place), symbols]
    return "  ".join(filter(None, [*told, safe(line.message or "")]))
