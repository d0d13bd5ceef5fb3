"""`python -m tidebook STATION DATE`: the turns of one day."""

import sys
from datetime import UTC, datetime

from tidebook.almanac import Almanac
from tidebook.gazette import pretty_name
from tidebook.stations import find_station


def main(slug: str, day: str) -> None:
    station = find_station(slug)
    print(pretty_name(station))
    for turn in Almanac(station).extremes(datetime.fromisoformat(day).replace(tzinfo=UTC)):
        print(f"  {turn.when:%H:%M}  {turn.kind:4}  {turn.height:5.2f} m")


if __name__ == "__main__":
    main(*sys.argv[1:3])
