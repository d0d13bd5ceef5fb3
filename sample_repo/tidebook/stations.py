"""The harbours we have a gauge in."""

from tidebook.harmonics import Constituent


class UnknownStation(LookupError):
    """No gauge of ours stands there."""


class Station:
    """A harbour with a fitted tide."""

    def __init__(self, name: str, datum: float, constituents: tuple[Constituent, ...]) -> None:
        self.name = name
        self.constituents = constituents
        self._datum = datum

    @property
    def slug(self) -> str:
        return self.name.lower().replace(" ", "-")

    @property
    def datum(self) -> float:
        """Metres from chart datum up to mean sea level."""
        return self._datum

    @datum.setter
    def datum(self, metres: float) -> None:
        if metres <= 0:
            raise ValueError(f"chart datum lies below mean sea level, not {-metres} m above it")
        self._datum = metres

    @classmethod
    def from_fit(cls, name: str, datum: float, fit: dict[str, tuple[float, float]]) -> "Station":
        """Read what `harmonics::fit` wrote: constituent to (amplitude, phase)."""
        parts = (Constituent(key, *value) for key, value in sorted(fit.items()))
        return cls(name, datum, tuple(parts))


STATIONS = (
    Station.from_fit(
        "Saint-Malo",
        6.77,
        {"M2": (3.68, 179.0), "S2": (1.42, 229.0), "N2": (0.71, 161.0), "K1": (0.09, 98.0)},
    ),
    Station.from_fit("Treguier", 5.61, {"M2": (2.94, 150.0), "S2": (1.13, 196.0)}),
    Station.from_fit("Ploumanach", 5.42, {"M2": (2.86, 143.0), "S2": (1.09, 188.0)}),
)


def find_station(slug: str) -> Station:
    """The station with this slug; `UnknownStation` names those there are."""
    for station in STATIONS:
        if station.slug == slug:
            return station
    known = ", ".join(station.slug for station in STATIONS)
    raise UnknownStation(f"no gauge at {slug!r}; there are {known}")
