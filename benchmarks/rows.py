"""Rows of the report: what was measured, what it is held against, and the printed table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Aim:
    """A limit: `factor` times the row named `against`, plus `offset`; the offset alone without one.

    With `at_least` the value must reach the limit instead of staying under it.
    """

    offset: float = 0.0
    against: str = ""
    factor: float = 1.0
    at_least: bool = False

    def limit(self, values: Mapping[str, float]) -> float | None:
        """The limit in the unit of the row; None if the other row was not measured."""
        if not self.against:
            return self.offset
        other = values.get(self.against)
        return None if other is None else other * self.factor + self.offset

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        times = "" if self.factor == 1 else f"{self.factor:g} × "
        plus = f" + {self.offset:g}" if self.against and self.offset else ""
        return f"{sign} {times}{self.against}{plus}" if self.against else f"{sign} {self.offset:g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement. `value` is a median of `runs`; None means that it could not be made.
    `processor` are the seconds of processor time that it took."""

    name: str
    value: float | None
    unit: str = "s"
    runs: int = 1
    aim: Aim | None = None
    ratio_to: str = ""
    note: str = ""
    processor: float | None = None


COLUMNS = ("what", "median", "cpu", "n", "ratio", "aim", "reached", "note")


def table(rows: Sequence[Row]) -> str:
    """All rows as aligned text, ratios side by side."""
    values = {row.name: row.value for row in rows if row.value is not None}
    cells = [COLUMNS, *(cells_of(row, values) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(COLUMNS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def cells_of(row: Row, values: Mapping[str, float]) -> tuple[str, ...]:
    return (
        row.name,
        "absent" if row.value is None else pretty(row.value, row.unit),
        "" if row.processor is None else pretty(row.processor, "s"),
        str(row.runs) if row.value is not None else "",
        ratio(row, values),
        f"{row.aim} {row.unit}".strip() if row.aim and not row.aim.against else str(row.aim or ""),
        verdict(row, values),
        row.note,
    )


def ratio(row: Row, values: Mapping[str, float]) -> str:
    other = values.get(row.ratio_to)
    if row.value is None or not other:
        return ""
    return f"{row.value / other:.2f} × {row.ratio_to}"


def verdict(row: Row, values: Mapping[str, float]) -> str:
    limit = row.aim.limit(values) if row.aim else None
    if row.aim is None or limit is None or row.value is None:
        return ""
    reached = row.value >= limit if row.aim.at_least else row.value <= limit
    return "yes" if reached else "NO"


def pretty(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"
    return f"{value:.3g} {unit}".strip()


def document(rows: Sequence[Row], machine: Mapping[str, str]) -> dict[str, object]:
    """The same as a JSON document."""
    values = {row.name: row.value for row in rows if row.value is not None}
    return {
        "machine": dict(machine),
        "rows": [
            asdict(row) | {"reached": verdict(row, values), "ratio": ratio(row, values)}
            for row in rows
        ],
    }
