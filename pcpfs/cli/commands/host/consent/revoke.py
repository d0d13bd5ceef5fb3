"""`pcpfs host consent revoke`: take a consent back."""

from __future__ import annotations

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.errors import NotFound
from pcpfs.model.shown import safe


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs host consent revoke docs",
        "pcpfs host consent revoke docs --scope third-party-model",
    ],
)
@click.option("--scope", "scopes", multiple=True, help="Only this scope; repeatable.")
@click.argument("name")
def command(call: Call, name: str, scopes: tuple[str, ...]) -> None:
    """Take back what you agreed to; it holds from the next question on.

    The grant stays on record, and a receipt says that it was revoked.
    """
    from pcpfs.host.consent import revocations  # noqa: PLC0415 (help needs no store)
    from pcpfs.host.receipts import Receipts  # noqa: PLC0415

    kept = Receipts(call.store)
    held = [
        receipt
        for (provider, scope), receipt in sorted(kept.in_force().granted.items())
        if provider == name and (not scopes or scope in scopes)
    ]
    if not held:
        what = f"the scope {scopes[0]!r} of {name!r}" if scopes else repr(name)
        raise NotFound(f"no consent for {what} is in force; see: pcpfs host consent list")
    by = call.settings.principal or call.store.owner
    receipts = revocations(held, by, call.store.clock.now())
    kept.append(receipts)
    lines = [f"revoked: {safe(each.provider)} {safe(each.scope)}" for each in receipts]
    call.answer({"provider": name, "receipts": receipts}, lines)
