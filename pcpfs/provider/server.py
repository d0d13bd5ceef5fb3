"""One envelope a line on standard input, one a line on standard output, and nothing else there."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import BinaryIO

from pcpfs.errors import BadMessage, PcpfsError, Unavailable, UsageError
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from pcpfs.provider.lines import lines_of
from pcpfs.provider.provider import ACK, Provider

_log = logging.getLogger(__name__)
LONGEST_LINE = 16 << 20
_REPLIES = (cgp.HandshakeAck.type, cgp.Frames.type, cgp.Verified.type, cgp.Error.type)
_NOTIFICATION = ("notification", "notify")


def serve(
    provider: Provider,
    lines: BinaryIO,
    answers: BinaryIO,
    idle: Callable[[], None] = lambda: None,
) -> None:
    """Answer until `shutdown` or the end of the input. No line ends it before (R1). `idle` is
    called now and then while nobody asks."""
    for line in lines_of(lines, LONGEST_LINE, idle):
        try:
            envelope = read_envelope(line)
        except BadMessage as error:
            reply = _refusal(error)
        else:
            if isinstance(envelope, cgp.Shutdown):
                return
            reply = answer(provider, envelope)
        if reply is not None:
            answers.write(write_envelope(reply))
            answers.flush()


def answer(provider: Provider, envelope: cgp.Envelope) -> cgp.Envelope | None:
    """The reply to an envelope, with its `id` (H4); None for what wants no reply."""
    try:
        return _reply(provider, envelope)
    except PcpfsError as error:
        return _error(envelope, _code(error), error.message)
    except Exception as error:  # whatever it is, the next question is answered (R1)
        _log.exception("a question was not answered")
        return _error(envelope, cgp.Code.INTERNAL, f"{type(error).__name__}: {error}")


def _reply(provider: Provider, envelope: cgp.Envelope) -> cgp.Envelope | None:
    if isinstance(envelope, cgp.Handshake):
        return _greet(envelope)
    if isinstance(envelope, cgp.Query):
        return cgp.Frames(id=envelope.id, result=provider.query(envelope.query))
    if isinstance(envelope, cgp.Verify):
        return cgp.Verified(id=envelope.id, response=provider.verify(envelope.request))
    return None  # a reply to nobody's question: an error about it could be answered for ever


def _greet(envelope: cgp.Handshake) -> cgp.Envelope:
    """One family of versions (H1); another one is told so by name (H3)."""
    if cgp.family(envelope.protocol_version) == cgp.family(cgp.VERSION):
        return ACK
    message = f"this provider speaks {cgp.VERSION}, not {envelope.protocol_version[:60]!r}"
    return cgp.Error(code=str(cgp.Code.INCOMPATIBLE_VERSION), message=message)


def _refusal(error: BadMessage) -> cgp.Envelope | None:
    """`bad_request` for what cannot be read; nothing for notifications and replies."""
    kind = str(error.fields.get("type", ""))
    if kind in _REPLIES or kind.startswith(_NOTIFICATION):
        return None
    given = error.fields.get("id")
    return cgp.Error(
        id=given if isinstance(given, str) else None, code=error.code, message=error.message
    )


def _code(error: PcpfsError) -> str:
    if isinstance(error, UsageError):
        return error.code if isinstance(error, BadMessage) else str(cgp.Code.BAD_REQUEST)
    return str(cgp.Code.UNAVAILABLE if isinstance(error, Unavailable) else cgp.Code.INTERNAL)


def _error(envelope: cgp.Envelope, code: str, message: str) -> cgp.Error:
    return cgp.Error(id=getattr(envelope, "id", None), code=str(code), message=message)
