"""A small tide almanac: stations, harmonic prediction, and the times a sailor asks for."""

from tidebook.almanac import Almanac, Extreme
from tidebook.stations import Station, find_station

__all__ = ["Almanac", "Extreme", "Station", "find_station"]
