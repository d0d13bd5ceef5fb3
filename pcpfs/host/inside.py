"""A provider in this process. What it says goes over the wire format all the same, so that it can
be judged like any other and no object of its own comes to others."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from pcpfs.host.channels import reply_of, too_long
from pcpfs.host.declarations import Answering, Inside
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import write_envelope

_log = logging.getLogger(__name__)


class InsideChannel:
    """Calls a function. Nothing can interrupt it: one that hangs keeps its thread, and no more."""

    def __init__(self, inside: Inside) -> None:
        self._answer, self._close = self._started(inside)

    def _started(self, inside: Inside) -> tuple[Answering, Callable[[], None]]:
        try:
            return inside.start()
        except (Exception, SystemExit) as error:
            message = f"it cannot be started: {type(error).__name__}: {error}"
            raise ProviderTrouble(Kind.UNREACHABLE, message) from error

    def ask(self, envelope: cgp.Envelope, seconds: float, most_bytes: int) -> cgp.Envelope:
        line = self._reply(envelope)
        if len(line) > most_bytes:
            raise too_long(len(line))
        reply = reply_of(line)
        if reply is None:
            raise ProviderTrouble(Kind.GARBLED, "a reply that is no envelope")
        return reply

    def _reply(self, envelope: cgp.Envelope) -> bytes:
        try:
            reply = self._answer(envelope)
            return b"null" if reply is None else write_envelope(reply)
        except (Exception, SystemExit) as error:
            message = f"it fell over: {type(error).__name__}: {error}"
            raise ProviderTrouble(Kind.CRASHED, message) from error

    def end(self, seconds: float) -> None:
        with suppress(SystemExit):
            try:
                self._close()
            except Exception:  # whatever it is, the answer is here already
                _log.exception("a provider in this process did not close")

    def abandon(self) -> None:
        """Nothing can be done from outside."""
