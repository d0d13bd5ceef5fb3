"""Harmonic prediction: the tide is a sum of cosines (docs/adr/0001)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import cos, radians

EPOCH = datetime(2025, 1, 1, tzinfo=UTC)

SPEEDS = {  # degrees an hour
    "M2": 28.9841042,
    "S2": 30.0,
    "N2": 28.4397295,
    "K1": 15.0410686,
    "O1": 13.9430356,
}


@dataclass(frozen=True)
class Constituent:
    """One cosine of the tide at one station."""

    name: str
    amplitude: float
    phase: float

    @property
    def speed(self) -> float:
        """Degrees an hour."""
        return SPEEDS[self.name]

    @property
    def period(self) -> timedelta:
        return timedelta(hours=360 / self.speed)


def height_at(constituents: Iterable[Constituent], when: datetime, datum: float) -> float:
    """Water height in metres above chart datum."""
    hours = (when - EPOCH) / timedelta(hours=1)
    return datum + sum(
        part.amplitude * cos(radians(part.speed * hours - part.phase)) for part in constituents
    )
