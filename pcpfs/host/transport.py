"""A conversation with one provider, whatever the way to it. Nothing goes around this.

Every envelope that carries something of ours passes `_tell`, which asks the gate first (C1 to C6):
there is no other way from a query to a channel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self, TypeVar

from pcpfs.host.channels import Channel, Limits, most_bytes
from pcpfs.host.declarations import Address, Declaration, Inside, Origin, Program
from pcpfs.host.inside import InsideChannel
from pcpfs.host.stdio import StdioChannel
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.host.web import Credential, Network, WebChannel
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import consent_breaches

_QUERY_ID = "1"
_LONGEST_ACK = 1 << 18

T = TypeVar("T", bound=cgp.Envelope)


class Gate(Protocol):
    """What may be contacted, and what may be told anything. Raises ProviderTrouble where not."""

    def before_contact(self, declaration: Declaration) -> None:
        """Called before a program is started or an address contacted."""
        ...

    def before_payload(self, declaration: Declaration, ack: cgp.HandshakeAck) -> None:
        """Called before anything that a person asked leaves this process (C3, C6)."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What providers get from this machine: variables, a folder to work in, tokens, a network."""

    environment: Mapping[str, str]
    home: str | None = None
    credential: Callable[[str], str | None] = field(default=lambda _name: None, repr=False)
    network: Network = field(default_factory=Network)
    limits: Limits = field(default_factory=Limits)


class Transport:
    """One provider, contacted but not yet greeted. Leaving the context ends it."""

    def __init__(self, declaration: Declaration, gate: Gate, around: Surroundings) -> None:
        gate.before_contact(declaration)
        self.declaration = declaration
        self._gate = gate
        self._limits = around.limits
        self._channel = _channel(declaration, around)
        self._ack: cgp.HandshakeAck | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        polite = self._limits.exit if error is None else 0.0
        with suppress(ProviderTrouble):
            self._channel.end(polite)

    def abandon(self) -> None:
        """From another thread: end it now."""
        self._channel.abandon()

    def greet(self) -> cgp.HandshakeAck:
        """Shake hands: one family of versions, and a data flow that does not contradict itself."""
        reply = self._tell(
            cgp.Handshake(protocol_version=cgp.VERSION), self._limits.handshake, _LONGEST_ACK
        )
        if isinstance(reply, cgp.Error) and reply.code == cgp.Code.INCOMPATIBLE_VERSION:
            raise ProviderTrouble(Kind.FOREIGN_VERSION, f"it says: {reply.message}", "H3")
        ack = _expected(reply, cgp.HandshakeAck)
        if cgp.family(ack.protocol_version) != cgp.family(cgp.VERSION):
            message = f"it speaks {ack.protocol_version!r}, we speak {cgp.VERSION}"
            raise ProviderTrouble(Kind.FOREIGN_VERSION, message, "H1")
        if not (ack.provider.name.strip() and ack.provider.version.strip()):
            raise ProviderTrouble(Kind.GARBLED, "its name or version is empty", "H2")
        for breach in consent_breaches(ack.provider.data_flow):
            raise ProviderTrouble(Kind.CONTRADICTORY, breach.message, breach.rule)
        self._ack = ack
        return ack

    def query(self, query: cgp.ContextQuery) -> cgp.QueryResult:
        """The answer to a query, not judged yet."""
        assert self._ack is not None, "greet comes first"
        given = _QUERY_ID if self._ack.capabilities.correlation else None
        reply = self._tell(cgp.Query(id=given, query=query), self._limits.query, most_bytes(query))
        is_general = isinstance(reply, cgp.Error) and reply.id is None
        if getattr(reply, "id", None) != given and not is_general:
            raise ProviderTrouble(Kind.GARBLED, "its answer is to another question", "H4")
        return _expected(reply, cgp.Frames).result

    def _tell(self, envelope: cgp.Envelope, seconds: float, most: int) -> cgp.Envelope:
        if not isinstance(envelope, cgp.Handshake):
            assert self._ack is not None, "greet comes first"
            self._gate.before_payload(self.declaration, self._ack)
        return self._channel.ask(envelope, seconds, most)


def _expected(reply: cgp.Envelope, kind: type[T]) -> T:
    """The reply, if it is of that kind; a refusal by its code otherwise (X1, X2)."""
    if isinstance(reply, kind):
        return reply
    if isinstance(reply, cgp.Error):
        known = reply.code if reply.code in tuple(cgp.Code) else cgp.Code.INTERNAL
        raise ProviderTrouble(Kind.REFUSED, f"{known}: {reply.message}")
    raise ProviderTrouble(Kind.GARBLED, f"an envelope of type {reply.type} in place of an answer")


def _channel(declaration: Declaration, around: Surroundings) -> Channel:
    launch = declaration.launch
    if isinstance(launch, Program):
        # What a shared file declares works in the person's home, never in a folder that came with
        # it: `python -m` would run what lies there.
        folder = (around.home or os.sep) if declaration.origin is Origin.CONFIG else None
        return StdioChannel(launch.words, around.environment, folder, around.limits)
    if isinstance(launch, Address):
        return WebChannel(launch, _credential(launch, around), around.network)
    assert isinstance(launch, Inside)
    return InsideChannel(launch)


def _credential(address: Address, around: Surroundings) -> Credential | None:
    name = address.credential_env
    if name is None:
        return None
    token = around.credential(name)
    if not token:
        raise ProviderTrouble(Kind.UNREACHABLE, f"the variable {name} holds no credential")
    return Credential(token)
