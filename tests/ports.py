"""A clock and a chance that tests can foresee."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass

from pcpfs.model.instants import Instant


@dataclass(slots=True)
class SteppingClock:
    """Each look is one second later than the one before, or where a test set it."""

    time: Instant

    def now(self) -> Instant:
        self.time = Instant(self.time.microseconds + 1_000_000)
        return self.time

    def go_to(self, text: str) -> None:
        """The next look is a second after this."""
        self.time = Instant.read(text)


_COUNTS = itertools.count(1)


class CountingEntropy:
    """Bytes that nobody would guess, and ids that rise, whoever asks; never twice the same."""

    def random(self, count: int) -> bytes:
        raw = b""
        while len(raw) < count:
            raw += hashlib.sha256(b"random %d" % next(_COUNTS)).digest()
        return raw[:count]

    def time_ordered(self) -> bytes:
        number = next(_COUNTS)
        rest = hashlib.sha256(b"ordered %d" % number).digest()
        return bytes([1]) + number.to_bytes(7, "big") + rest[:8]
