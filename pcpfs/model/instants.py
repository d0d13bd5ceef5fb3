"""Instants: UTC, microseconds, one spelling (CGP F4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pcpfs.errors import InvalidInstant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_STRICT = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})(?:\.(\d+))?Z", re.ASCII)
_LOOSE = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)(?:[.,](\d+))?([Zz]|[+-]\d{2}:?\d{2})",
    re.ASCII,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time: whole microseconds since 1970-01-01T00:00:00Z; finer digits are cut off."""

    microseconds: int

    def __str__(self) -> str:
        moment = _EPOCH + timedelta(microseconds=self.microseconds)
        text = moment.strftime("%Y-%m-%dT%H:%M:%S").rjust(19, "0")
        fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
        return f"{text}{fraction}Z"

    @classmethod
    def parse(cls, text: str) -> Instant:
        """Read the strict form `YYYY-MM-DDTHH:MM:SS(.f+)?Z`; raise InvalidInstant otherwise."""
        match = _STRICT.fullmatch(text)
        if match is None:
            raise InvalidInstant(f"{text!r} is no instant; write it like 2026-03-01T12:00:00Z")
        return cls._of(text, match[1], match[2], match[3], "+0000")

    @classmethod
    def read(cls, text: str) -> Instant:
        """Read what a person may give: RFC 3339 with any offset, or a date (its start, UTC)."""
        text = text.strip()
        if _DATE.fullmatch(text):
            return cls._of(text, text, "00:00:00", None, "+0000")
        match = _LOOSE.fullmatch(text)
        if match is None:
            raise InvalidInstant(
                f"{text!r} is no instant with a time zone; write it like 2026-03-01T12:00:00Z, "
                "2026-03-01T13:00:00+01:00 or 2026-03-01"
            )
        offset = "+0000" if match[4] in "Zz" else match[4].replace(":", "")
        return cls._of(text, match[1], match[2], match[3], offset)

    @classmethod
    def _of(cls, text: str, day: str, clock: str, fraction: str | None, offset: str) -> Instant:
        clock = clock if clock.count(":") == 2 else f"{clock}:00"
        try:
            moment = datetime.fromisoformat(f"{day}T{clock}{offset}")
        except ValueError as error:
            raise InvalidInstant(
                f"{text!r} is no instant of the calendar, or has no such zone"
            ) from error
        if not _FIRST <= moment <= _LAST:
            raise InvalidInstant(f"{text!r} lies outside of the years 1 to 9999 in UTC")
        seconds = (moment - _EPOCH) // timedelta(seconds=1)
        return cls(seconds * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0")))

    @classmethod
    def of_nanoseconds(cls, nanoseconds: int) -> Instant:
        """The instant of a file system time (nanoseconds since 1970), rounded down."""
        return cls(nanoseconds // 1000)

    @classmethod
    def of_date(cls, day: date) -> Instant:
        """The first moment of a day, UTC."""
        return cls.read(day.isoformat())
