"""`pcpfs mcp`: serve the store to a model, over the Model Context Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call, show_warnings_of_ours
from pcpfs.cli.command import Command
from pcpfs.cli.serving import serves_a_model, until_told
from pcpfs.errors import UsageError

if TYPE_CHECKING:
    from pcpfs.store.session import Session


@click.command(
    cls=Command,
    section="Serve",
    writes=True,
    examples=["pcpfs -C notes mcp", "pcpfs -C notes mcp --as agent:reviewer"],
)
def command(call: Call) -> None:
    """Serve the store to a model, with the Model Context Protocol.

    Tools and resources on standard input and output, for Claude Code, Cursor, VS Code and others
    (docs/mcp.md). Without --as the model is model:local, which may read, write and link, and not
    delete. Ends with the input, or with Ctrl-C. Needs pip install 'pcpfs[mcp]'.
    """
    serves_a_model(call)
    try:
        from pcpfs.mcp.server import serve  # noqa: PLC0415 (an extra; help needs no server)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "pcpfs":
            raise
        raise UsageError("serving MCP needs an extra: pip install 'pcpfs[mcp]'") from error
    show_warnings_of_ours(quiet=True)
    with until_told():
        serve(lambda: _session(call), sys.stdin.buffer)


def _session(call: Call) -> Session:
    """A session of its own, for the thread that will use it."""
    from pcpfs.store.session import Session  # noqa: PLC0415 (help needs no store)
    from pcpfs.store.store import Store  # noqa: PLC0415

    store = Store.open(call.store_path, wait=call.settings.wait)
    return Session(store, call.settings.principal or store.owner)
