"""`pcpfs serve`: answer hosts of the Context Graph Protocol on standard input and output."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import NoReturn

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command, principal
from pcpfs.cli.commands.watch import signals_call
from pcpfs.cli.settings import no_store

DEFAULT_PRINCIPAL = "model:local"


@click.command(
    cls=Command,
    section="Serve",
    examples=["pcpfs -C notes serve", "pcpfs -C notes serve --as model:reviewer"],
)
def command(call: Call) -> None:
    """Serve the store to a host, as a provider of contexts.

    Speaks the Context Graph Protocol, contextgraph/1.0-draft: one JSON envelope a line on standard
    input and output, messages for people on standard error. Without --as it answers what
    model:local may read. Ends with the input, with a shutdown, or with Ctrl-C.
    """
    from pcpfs.provider.provider import Provider  # noqa: PLC0415 (help needs no provider)
    from pcpfs.provider.server import serve  # noqa: PLC0415

    _require_store(call)
    acting = call.settings.principal or principal(DEFAULT_PRINCIPAL)
    call.settings = replace(call.settings, principal=acting)

    def let_go() -> None:
        """An erasure may have replaced what is open; nobody has to ask for it to be let go."""
        if "session" in vars(call):
            call.session.let_go()

    with suppress(KeyboardInterrupt), signals_call(_stop):
        serve(Provider(lambda: call.session), sys.stdin.buffer, sys.stdout.buffer, let_go)


def _require_store(call: Call) -> None:
    """Say now that there is no store, not at the first question; do not open it yet."""
    from pcpfs.store.layout import CONFIG  # noqa: PLC0415 (help needs no store)

    place = call.settings.named_store or call.store_path
    if not (place / CONFIG).is_file():
        raise no_store()


def _stop() -> NoReturn:
    raise KeyboardInterrupt
