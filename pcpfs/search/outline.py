"""An outline of files and what they define, cut to a budget: exact, and as full as it gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

BYTES_PER_TOKEN = 4


class Entry(NamedTuple):
    """A definition that may be shown as `line`; what is around it is shown with it, so `around` is
    the number of an entry before it in the file. The higher `worth`, the sooner it is taken."""

    line: str
    worth: float
    around: int | None = None


class Sheet(NamedTuple):
    """A file: its first line, what it is worth by itself, and what may be shown of it, in order."""

    line: str
    worth: float
    entries: Sequence[Entry] = ()


@dataclass(frozen=True, slots=True)
class Outline:
    """What was taken: the numbers of entries by the numbers of sheets, those in order."""

    shown: Mapping[int, tuple[int, ...]]
    text: str
    token_count: int


def outline(sheets: Sequence[Sheet], token_budget: int) -> Outline:
    """The worthiest lines, of sheets in their given order, in at most so many tokens (a quarter of
    the UTF-8 bytes, rounded up, line ends included). Nothing that was left out would fit."""
    room = token_budget * BYTES_PER_TOKEN
    shown: dict[int, set[int]] = {}
    for number, entry in _by_worth(sheets):
        wanted = _with_around(sheets[number], entry, shown.get(number, set()))
        lines = [sheets[number].entries[n].line for n in wanted]
        cost = _cost(lines if number in shown else [sheets[number].line, *lines])
        if cost <= room:
            room -= cost
            shown.setdefault(number, set()).update(wanted)
        if not room:
            break
    chosen = {number: tuple(sorted(shown[number])) for number in sorted(shown)}
    text = "".join(f"{line}\n" for line in _lines(sheets, chosen))
    return Outline(chosen, text, -(-len(text.encode()) // BYTES_PER_TOKEN))


def _by_worth(sheets: Sequence[Sheet]) -> Iterator[tuple[int, int | None]]:
    """Sheets (without entry) and their entries, the worthiest first, equals in their order."""
    offers = [(-sheet.worth, number, -1) for number, sheet in enumerate(sheets)]
    for number, sheet in enumerate(sheets):
        offers += [(-entry.worth, number, n) for n, entry in enumerate(sheet.entries)]
    for _, number, entry in sorted(offers):
        yield number, None if entry < 0 else entry


def _with_around(sheet: Sheet, entry: int | None, shown: set[int]) -> list[int]:
    """The entry and what is around it, without what is shown already."""
    wanted = []
    while entry is not None and entry not in shown:
        wanted.append(entry)
        entry = sheet.entries[entry].around
    return wanted


def _cost(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _lines(sheets: Sequence[Sheet], shown: Mapping[int, Sequence[int]]) -> Iterable[str]:
    for number, entries in shown.items():
        yield sheets[number].line
        yield from (sheets[number].entries[n].line for n in entries)
