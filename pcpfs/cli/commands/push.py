"""`pcpfs push`: give others what was written here."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.model.shown import safe


@click.command(
    cls=Command, section="Store", writes=True, examples=["pcpfs push", "pcpfs push upstream"]
)
@click.argument("remote", metavar="[REMOTE]", required=False)
def command(call: Call, remote: str | None) -> None:
    """Give others what was written here.

    Refused while the remote has changes that are not here: pull first.
    """
    from pcpfs.store.merges.remote import push  # noqa: PLC0415 (help needs no store)

    pushed = push(call.store, call.session.principal, remote)
    place = safe(f"{pushed.remote}/{pushed.branch}")
    did = "gave everything to" if pushed.moved else "everything is already in"
    did = "replaced history, without what was erased, in" if pushed.replaced else did
    call.answer(pushed, [f"{did} {place}"])
