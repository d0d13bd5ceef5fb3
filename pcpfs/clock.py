"""The clock and the chance of this machine: the only place that asks the system for either."""

from __future__ import annotations

import os
import time

from pcpfs.model.instants import Instant


class SystemClock:
    """The time of this machine, in microseconds; it may jump back when somebody sets it."""

    __slots__ = ()

    def now(self) -> Instant:
        return Instant.of_nanoseconds(time.time_ns())


class SystemEntropy:
    """The random numbers of this machine's kernel."""

    __slots__ = ()

    def random(self, count: int) -> bytes:
        return os.urandom(count)

    def time_ordered(self) -> bytes:
        import uuid_utils  # noqa: PLC0415 (reading needs no new ids)

        return uuid_utils.uuid7().bytes
