"""An outline of files and what they define, cut to a budget: exact, and as full as it gets."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

BYTES_PER_TOKEN = 4
NONE = -1


class Layout(NamedTuple):
    """What may be shown of files, in arrays that can be kept: how long each line is, in bytes of
    UTF-8 with its end.

    `heads` are the first lines of files. Entries, the definitions, stand in the order of files
    and of lines: `files` says in which one each is, `sizes` how long it is (0 for one that is on
    the line before), and `around` which entry before it is shown with it (`NONE` for none).
    """

    heads: array[int]
    files: array[int]
    sizes: array[int]
    around: array[int]

    def first(self, file: int) -> int:
        """The number of the first entry of a file."""
        return bisect_left(self.files, file)


def by_worth(heads: Sequence[float], entries: Sequence[float]) -> array[int]:
    """Files and then entries, in one numbering, the worthiest first; equals in their order."""
    worths = [*heads, *entries]
    return array("i", sorted(range(len(worths)), key=worths.__getitem__, reverse=True))


def outline(
    layout: Layout, order: Sequence[int], token_budget: int
) -> Mapping[int, tuple[int, ...]]:
    """The entries to show, by file, in at most so many tokens (a quarter of the bytes, rounded up);
    taken in this order of all (`by_worth`). Nothing that was left out would fit."""
    room = token_budget * BYTES_PER_TOKEN
    shown: dict[int, set[int]] = {}
    for number in order:
        entry = number - len(layout.heads)
        if (layout.heads[number] if entry < 0 else layout.sizes[entry]) > room:
            continue
        file = number if entry < 0 else layout.files[entry]
        inside = shown.get(file)
        wanted = _with_around(layout, entry, inside or ())
        cost = sum(layout.sizes[n] for n in wanted) + (layout.heads[file] if inside is None else 0)
        if cost <= room:
            room -= cost
            shown.setdefault(file, set()).update(wanted)
    return {file: tuple(sorted(inside)) for file, inside in sorted(shown.items())}


def _with_around(layout: Layout, entry: int, shown: Container[int]) -> list[int]:
    """The entry and what is around it, without what is shown already."""
    wanted = []
    while entry >= 0 and entry not in shown:
        wanted.append(entry)
        entry = layout.around[entry]
    return wanted
