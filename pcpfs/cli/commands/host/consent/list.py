"""`pcpfs host consent list`: what this machine has agreed to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.hosting import Given, known_providers, provider_options
from pcpfs.cli.text import styled
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.host.declarations import Declaration
    from pcpfs.host.receipts import Shown

_COLOURS = {"in force": "green", "void": "red"}


@click.command(cls=Command, examples=["pcpfs host consent list", "pcpfs host consent list --json"])
@provider_options
def command(call: Call, providers: tuple[str, ...], credentials: tuple[str, ...]) -> None:
    """List the receipts of this machine, and the providers that are declared.

    Nothing is started or contacted.
    """
    from pcpfs.host.receipts import Receipts, shown  # noqa: PLC0415 (help needs no store)

    receipts = shown(Receipts(call.store).all(), call.store.clock.now())
    declared = known_providers(call, Given(providers, credentials))
    answer = {"receipts": receipts, "providers": [_provider(each, receipts) for each in declared]}
    call.answer(answer, _lines(receipts, declared))


def _provider(declared: Declaration, receipts: Sequence[Shown]) -> dict[str, object]:
    agreed = [
        each.scope
        for each in receipts
        if each.state == "in force" and (each.provider, each.pin) == (declared.name, declared.pin)
    ]
    return {
        "provider": declared.name,
        "origin": str(declared.origin),
        "launch": declared.launch.shown,
        "pin": declared.pin,
        "agreed": agreed,
    }


def _lines(receipts: Sequence[Shown], declared: Sequence[Declaration]) -> Iterator[str]:
    for each in receipts:
        state = styled(each.state, _COLOURS.get(each.state.split(":")[0], "dim"))
        until = f" until {each.expires_at}" if each.expires_at else ""
        yield f"{state}  {each.action} {safe(each.provider)} {safe(each.scope)}{until}"
        yield f"    {safe(each.sentence)}"
        yield styled(f"    {each.granted_at} by {safe(str(each.granted_by))}", "dim")
    if not receipts:
        yield styled("no consents yet", "dim")
    for one in declared:
        yield f"{styled(safe(one.name), 'bold')} ({one.origin}): {safe(one.launch.shown)}"
