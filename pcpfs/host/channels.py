"""What all ways to a provider have in common: an envelope goes out, an envelope comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pcpfs.errors import BadMessage
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope

LONGEST_ANSWER = 64 << 20
_REPLIES = ("handshake_ack", "frames", "verified", "error")


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to wait, and how much a provider may write."""

    handshake: float = 10.0
    query: float = 30.0
    exit: float = 1.0
    stray_lines: int = 100
    stderr_bytes: int = 8 << 20

    @classmethod
    def within(cls, seconds: float) -> Limits:
        """So long at most for an answer, and no longer than usual for a handshake."""
        return cls(min(seconds, cls().handshake), seconds)

    @property
    def overall(self) -> float:
        """No errand takes longer, whatever happens in it."""
        return self.handshake + self.query + 1.0


class Channel(Protocol):
    """One way to one provider, used by one thread. Everything raises ProviderTrouble."""

    def ask(self, envelope: cgp.Envelope, seconds: float, most_bytes: int) -> cgp.Envelope:
        """Send an envelope; the reply, which is no longer than `most_bytes`."""
        ...

    def end(self, seconds: float) -> None:
        """Say goodbye and let go of everything; nothing is left running after this."""
        ...

    def abandon(self) -> None:
        """Called from another thread: let go of everything now, so that `ask` returns."""
        ...


def most_bytes(query: cgp.ContextQuery) -> int:
    """How long an answer to a query can be, if it is honest: each byte of content at most six on
    the wire, and for each frame its other members and an embedding. Never more than 64 MiB."""
    honest = (1 << 18) + 24 * query.max_tokens + (1 << 16) * query.max_frames
    return min(honest, LONGEST_ANSWER)


def reply_of(line: bytes) -> cgp.Envelope | None:
    """A line as an envelope; None for one that is none and can be passed over (U1, R1)."""
    try:
        return read_envelope(line)
    except BadMessage as error:
        if error.fields.get("type") in _REPLIES:
            message = f"a reply that cannot be read: {error.message}"
            raise ProviderTrouble(Kind.GARBLED, message) from error
        return None


def late(seconds: float) -> ProviderTrouble:
    return ProviderTrouble(Kind.HUNG, f"no answer within {seconds:g} s")


def too_long(count: int) -> ProviderTrouble:
    return ProviderTrouble(Kind.FLOODER, f"it wrote {count:,} bytes, more than any honest answer")
