"""`pcpfs host consent grant`: agree to what a provider does, on this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import Command
from pcpfs.cli.hosting import Given, known_providers, provider_options, surroundings
from pcpfs.cli.options import instant_option
from pcpfs.errors import NotFound, Unavailable, UsageError
from pcpfs.model.shown import safe

if TYPE_CHECKING:
    from pcpfs.host.declarations import Declaration
    from pcpfs.model.cgp import HandshakeAck
    from pcpfs.model.instants import Instant


@click.command(
    cls=Command,
    writes=True,
    examples=[
        "pcpfs host consent grant docs",
        "pcpfs host consent grant docs --scope third-party-model --until 2027-01-01",
    ],
)
@click.option("--scope", "scopes", multiple=True, help="Only this scope; repeatable.")
@instant_option("--until", "When it ends by itself.")
@provider_options
@click.argument("name")
def command(
    call: Call, name: str, scopes: tuple[str, ...], until: Instant | None, **given: Any
) -> None:
    """Agree that a provider may run, and where it may send your questions.

    Starts or contacts it for a handshake, which tells who it is and where data goes; writes a
    receipt for each scope. It holds for exactly that command or address, name and version, on this
    machine only, until it is revoked.
    """
    from pcpfs.host.consent import grants, require_allowed, scopes_of  # noqa: PLC0415
    from pcpfs.host.receipts import Receipts  # noqa: PLC0415 (help needs no host)

    by = call.settings.principal or call.store.owner
    require_allowed(by)
    now = call.store.clock.now()
    if until is not None and until <= now:
        raise UsageError(
            f"--until {until} is past; to take a consent back: pcpfs host consent revoke"
        )
    declared = known_providers(call, Given(given["providers"], given["credentials"], (name,)))[0]
    _confirm(call, declared)
    ack = _greeted(declared)
    wanted = scopes_of(declared, ack.provider.data_flow)
    unknown = [scope for scope in scopes if scope not in wanted]
    if unknown:
        raise NotFound(f"{name} has no scope {unknown[0]!r}; it has: {', '.join(wanted) or 'none'}")
    receipts = grants(declared, ack.provider, scopes or wanted, by=by, now=now, until=until)
    Receipts(call.store).append(receipts)
    lines = [f"agreed: {safe(each.sentence)}" for each in receipts]
    none = f"{name} keeps everything on this machine and needs no consent"
    call.answer({"provider": name, "receipts": receipts}, lines or [none])


def _confirm(call: Call, declared: Declaration) -> None:
    """On a terminal a person sees what will run before it does."""
    from pcpfs.host.consent import shown_launch  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.declarations import Origin  # noqa: PLC0415

    if declared.origin is Origin.CONFIG and sys.stdin.isatty() and not call.settings.json:
        what = "contact" if declared.is_remote else "run"
        shown = f"pcpfs.toml says that {declared.name} is: {safe(shown_launch(declared))}"
        click.confirm(f"{shown}\nMay it {what} now?", abort=True, err=True)


def _greeted(declared: Declaration) -> HandshakeAck:
    from pcpfs.host.consent import OpenGate  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.transport import Transport  # noqa: PLC0415
    from pcpfs.host.troubles import ProviderTrouble  # noqa: PLC0415

    try:
        with Transport(declared, OpenGate(), surroundings()) as transport:
            return transport.greet()
    except ProviderTrouble as trouble:
        # Without its cause, which may quote what a server sent back (C8).
        raise Unavailable(f"no consent: {trouble.report(declared.name)}") from None
