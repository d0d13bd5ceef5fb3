"""`pcpfs serve`: answer hosts of the Context Graph Protocol on standard input and output."""

from __future__ import annotations

import sys

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.serving import serves_a_model, until_told


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

    serves_a_model(call)

    def let_go() -> None:
        """An erasure may have replaced what is open; nobody has to ask for it to be let go."""
        if "session" in vars(call):
            call.session.let_go()

    with until_told():
        serve(Provider(lambda: call.session), sys.stdin.buffer, sys.stdout.buffer, let_go)
