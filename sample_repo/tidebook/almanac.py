"""The times that a sailor asks for."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from tidebook.harmonics import height_at
from tidebook.stations import Station

STEP = timedelta(minutes=6)


@dataclass(frozen=True)
class Extreme:
    """A turn of the tide."""

    kind: Literal["high", "low"]
    when: datetime
    height: float


class Almanac:
    """Predictions for one station."""

    def __init__(self, station: Station) -> None:
        self.station = station

    def height(self, when: datetime) -> float:
        """Metres above chart datum; storm surge is not included."""
        return height_at(self.station.constituents, when, self.station.datum)

    def extremes(self, start: datetime, hours: int = 24) -> Iterator[Extreme]:
        """Each turn of the tide after `start`, in order."""
        before, here = self.height(start - STEP), self.height(start)
        for step in range(1, hours * 10 + 1):
            after = self.height(start + step * STEP)
            if (here - before) * (after - here) < 0:
                kind: Literal["high", "low"] = "high" if here > before else "low"
                yield Extreme(kind, start + (step - 1) * STEP, round(here, 2))
            before, here = here, after

    def next_high_water(self, after: datetime) -> Extreme:
        """The first high water after this moment."""
        return next(turn for turn in self.extremes(after) if turn.kind == "high")

    def slack(self, turn: Extreme, tolerance: float = 0.1) -> timedelta:
        """How long the water stays within `tolerance` metres of a turn."""
        return 2 * sum(
            (STEP for step in range(1, 20) if self._moved(turn, step) <= tolerance), timedelta()
        )

    def _moved(self, turn: Extreme, steps: int) -> float:
        return abs(self.height(turn.when + steps * STEP) - turn.height)


@lru_cache(maxsize=32)
def almanac_for(station: Station) -> Almanac:
    """One almanac a station, kept for the life of the process."""
    return Almanac(station)
