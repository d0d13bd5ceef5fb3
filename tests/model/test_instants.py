"""Instants: one spelling out, several in, never without a time zone."""

from __future__ import annotations

import pytest
from hypothesis import given

from pcpfs.errors import InvalidInstant
from pcpfs.model.instants import Instant
from tests.model.strategies import instants


@given(instants)
def test_every_instant_comes_back_from_its_text(moment: Instant) -> None:
    assert Instant.parse(str(moment)) == moment
    assert Instant.read(str(moment)) == moment


@given(instants, instants)
def test_texts_of_one_length_sort_as_instants_do(one: Instant, other: Instant) -> None:
    if len(str(one)) == len(str(other)):
        assert (str(one) < str(other)) == (one < other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z"),
        ("2026-03-01T12:00:00.500Z", "2026-03-01T12:00:00.5Z"),
        ("2026-03-01T12:00:00.000000Z", "2026-03-01T12:00:00Z"),
        ("2026-03-01T12:00:00.1234569Z", "2026-03-01T12:00:00.123456Z"),
        ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_the_strict_form_is_read_and_trailing_zeros_are_dropped(text: str, shown: str) -> None:
    assert str(Instant.parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03-01T13:00:00+01:00", "2026-03-01T12:00:00Z"),
        ("2026-03-01T13:00:00+0100", "2026-03-01T12:00:00Z"),
        ("2026-03-01 13:00+01:00", "2026-03-01T12:00:00Z"),
        ("2026-03-01t06:30:00,25-05:30", "2026-03-01T12:00:00.25Z"),
        ("2026-03-01T12:00z", "2026-03-01T12:00:00Z"),
        ("2026-02-28T23:30:00-01:00", "2026-03-01T00:30:00Z"),
        ("  2026-03-01T12:00:00Z \n", "2026-03-01T12:00:00Z"),
    ],
)
def test_people_may_write_offsets_dates_and_spaces(text: str, shown: str) -> None:
    assert str(Instant.read(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00",
        "2026-3-1",
        "2026-02-30",
        "2026-13-01T00:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T12:00:60Z",
        "0000-01-01",
        "2026-03-01T12:00:00+25:00",
        "2026-03-01T12:00:00 Europe/Berlin",
        "١٢٣٤-03-01",
        "2026-03-01\0",
        "20260301",
        "1772366400",
    ],
)
def test_anything_without_a_zone_or_out_of_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(InvalidInstant):
        Instant.read(text)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00"])
def test_what_no_calendar_can_show_is_refused(text: str) -> None:
    with pytest.raises(InvalidInstant):
        Instant.read(text)


@pytest.mark.parametrize(
    "text", ["2026-03-01", "2026-03-01T12:00:00+00:00", "2026-03-01t12:00:00z", "2026-03-01T12:00Z"]
)
def test_files_hold_the_strict_form_only(text: str) -> None:
    with pytest.raises(InvalidInstant):
        Instant.parse(text)


def test_file_system_times_are_rounded_down_also_before_1970() -> None:
    assert Instant.of_nanoseconds(1_999) == Instant(1)
    assert Instant.of_nanoseconds(-1) == Instant(-1)
