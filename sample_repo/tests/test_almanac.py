"""Published times do not move unless somebody means it."""

from datetime import UTC, datetime

from tidebook import Almanac, find_station

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_day_has_four_turns() -> None:
    turns = list(Almanac(find_station("saint-malo")).extremes(MARCH))
    assert [turn.kind for turn in turns] in (["high", "low"] * 2, ["low", "high"] * 2)


def test_high_water_is_above_the_datum() -> None:
    station = find_station("treguier")
    assert Almanac(station).next_high_water(MARCH).height > station.datum


def test_slack_is_shorter_at_springs_than_at_neaps() -> None:
    almanac = Almanac(find_station("saint-malo"))
    highs = [turn for turn in almanac.extremes(MARCH, hours=15 * 24) if turn.kind == "high"]
    neaps, *_, springs = sorted(highs, key=lambda turn: turn.height)
    assert almanac.slack(springs) < almanac.slack(neaps)
