"""What the checks of a provider are made with: fresh processes, plain questions, verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import Breach
from pcpfs.model.cgp_wire import write_envelope
from pcpfs_conformance.provider_peer import Limits, NoReply, Peer

PROBE = "conformance probe: return your most relevant frames"


class CheckFailed(Exception):
    """The rule does not hold; the text is the evidence."""


class CheckSkipped(Exception):
    """There was nothing to judge; the text says why."""


@dataclass(frozen=True, slots=True)
class Bench:
    """How to start the provider, and what to ask it. One that `has_answered` no plain query is not
    asked it again by checks that only build on it."""

    command: Sequence[str]
    environment: Mapping[str, str]
    query: str | None = None
    limits: Limits = field(default_factory=Limits)
    has_answered: bool = True

    def peer(self) -> Peer:
        """A fresh process that was not spoken to yet."""
        return Peer(self.command, self.environment, self.limits)

    @contextmanager
    def talk(self) -> Iterator[Talk]:
        """A fresh process after its handshake; skips the check that cannot have one."""
        try:
            peer = self.peer()
        except NoReply as error:
            raise CheckSkipped("it does not start; see handshake") from error
        with peer:
            try:
                ack = greet(peer)
            except (NoReply, CheckFailed) as error:
                raise CheckSkipped("there is no handshake; see handshake") from error
            yield Talk(peer, ack, self._plain_query(), self.has_answered)

    def _plain_query(self) -> cgp.ContextQuery:
        text = self.query or PROBE
        return cgp.ContextQuery(goal=text, query_text=text, max_frames=8, max_tokens=4096)


def greet(peer: Peer, version: str = cgp.VERSION) -> cgp.HandshakeAck:
    """Shake hands; CheckFailed for an answer that is no acknowledgement of our family (H1)."""
    peer.send(write_envelope(cgp.Handshake(protocol_version=version)))
    reply = peer.receive(peer.limits.handshake)
    if not isinstance(reply, cgp.HandshakeAck):
        raise CheckFailed(f"the handshake was answered by {described(reply)}")
    if cgp.family(reply.protocol_version) != cgp.family(cgp.VERSION):
        raise CheckFailed(f"H1: it acknowledges {reply.protocol_version!r}")
    return reply


class Talk:
    """A conversation with a provider that shook hands."""

    def __init__(
        self, peer: Peer, ack: cgp.HandshakeAck, plain: cgp.ContextQuery, has_answered: bool
    ) -> None:
        self.peer = peer
        self.ack = ack
        self.plain = plain
        self._has_answered = has_answered
        self._base: cgp.QueryResult | None = None

    @property
    def capabilities(self) -> cgp.Capabilities:
        return self.ack.capabilities

    def base(self) -> cgp.QueryResult:
        """The answer to the plain query; where there is none, that is another check's matter."""
        if not self._has_answered:
            raise CheckSkipped("a plain query is not answered; see query-answer")
        if self._base is None:
            try:
                self._base = self.ask(self.plain)
            except (NoReply, CheckFailed) as error:
                raise CheckSkipped("a plain query is not answered; see query-answer") from error
        return self._base

    def frames(self) -> tuple[cgp.ContextFrame, ...]:
        """The frames of the plain answer; skips a check that would see none."""
        frames = self.base().frames
        if not frames:
            raise CheckSkipped("no frame was served; give a query that matches with --query")
        return frames

    def asked(self, **changes: object) -> cgp.ContextQuery:
        """The plain query with some members changed."""
        return replace(self.plain, **changes)  # type: ignore[arg-type]

    def ask(self, query: cgp.ContextQuery) -> cgp.QueryResult:
        """Frames; CheckFailed for any other reply."""
        reply = self.request(cgp.Query(query=query))
        if not isinstance(reply, cgp.Frames):
            raise CheckFailed(f"a query was answered by {described(reply)}")
        return reply.result

    def verify(self, identities: Sequence[cgp.Identity]) -> tuple[cgp.Verdict, ...]:
        """Verdicts; CheckFailed for any other reply."""
        request = cgp.IdentityList(frames=tuple(identities))
        reply = self.request(cgp.Verify(request=request))
        if not isinstance(reply, cgp.Verified):
            raise CheckFailed(f"verify was answered by {described(reply)}")
        return reply.response.verdicts

    def request(self, envelope: cgp.Envelope) -> cgp.Envelope:
        self.peer.send(write_envelope(envelope))
        return self.peer.receive(self.peer.limits.query)

    def tell(self, line: bytes) -> cgp.Envelope:
        """Send a raw line; the reply to it."""
        self.peer.send(line)
        return self.peer.receive(self.peer.limits.other)


def described(envelope: cgp.Envelope) -> str:
    """A reply in a few words."""
    if isinstance(envelope, cgp.Error):
        return f"the error {envelope.code or 'without a code'}: {envelope.message[:100]}"
    return f"an envelope of type {envelope.type}"


def require_none(breaches: Sequence[Breach]) -> None:
    """CheckFailed with the first breach, and how many more there are."""
    if breaches:
        more = f" (and {len(breaches) - 1} more)" if len(breaches) > 1 else ""
        raise CheckFailed(f"{breaches[0]}{more}")
