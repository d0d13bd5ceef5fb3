"""What is known of each entry besides its words: one column a property, one row an entry."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pcpfs.model.context import IMPORTANCE, ContextEntry

MARKS = tuple(IMPORTANCE)
"""The tags that a row remembers, one bit each."""


@dataclass(slots=True)
class Columns:
    """Rows in the order of the thread. `moments` are microseconds, `letters` counts characters,
    `marks` has a bit for each tag of MARKS, `goals` the number of the goal in `names`."""

    importance: array[float] = field(default_factory=lambda: array("d"))
    moments: array[int] = field(default_factory=lambda: array("q"))
    letters: array[int] = field(default_factory=lambda: array("I"))
    marks: array[int] = field(default_factory=lambda: array("B"))
    goals: array[int] = field(default_factory=lambda: array("I"))
    names: dict[str | None, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.importance)

    def add(self, entry: ContextEntry) -> None:
        self.importance.append(entry.importance)
        self.moments.append(entry.timestamp.microseconds)
        self.letters.append(len(entry.content))
        self.marks.append(sum(1 << bit for bit, tag in enumerate(MARKS) if tag in entry.tags))
        self.goals.append(self.number(entry.goal_id))

    def number(self, goal: str | None) -> int:
        """The number of a goal, a new one if it is new."""
        return self.names.setdefault(goal, len(self.names))

    def about(self, goal: str | None) -> list[int]:
        """The positions of the entries about exactly this goal."""
        number = self.names.get(goal)
        return [position for position, goal in enumerate(self.goals) if goal == number]

    def picked(self, positions: Sequence[int]) -> Columns:
        """These rows alone."""
        found = Columns(names=self.names)
        for name in ("importance", "moments", "letters", "marks", "goals"):
            column = getattr(self, name)
            getattr(found, name).extend(column[position] for position in positions)
        return found

    def tagged(self, positions: Iterable[int] | None = None) -> dict[str, int]:
        """How many entries have each of the tags that tell; those that none has are left out."""
        marks = self.marks.tobytes()
        if positions is not None:
            marks = bytes(marks[position] for position in positions)
        counts = {bits: marks.count(bits) for bits in range(1, 1 << len(MARKS))}
        found = {
            tag: sum(count for bits, count in counts.items() if bits >> bit & 1)
            for bit, tag in enumerate(MARKS)
        }
        return {tag: count for tag, count in found.items() if count}

    def telling(self) -> list[int]:
        """The positions of entries with any of the tags that tell."""
        return [position for position, bits in enumerate(self.marks) if bits]

    def by_goal(self) -> dict[str | None, int]:
        """How many entries are about each goal."""
        counts = Counter(self.goals)
        return {goal: counts[number] for goal, number in self.names.items() if counts[number]}

    def last_of_goals(self) -> dict[str | None, int]:
        """The position of the last entry about each goal."""
        last = dict(zip(self.goals, range(len(self.goals)), strict=True))
        return {goal: last[number] for goal, number in self.names.items() if number in last}

    def newest(self) -> int:
        """The latest moment of any entry; 0 without entries."""
        return max(self.moments, default=0)

    def shortest(self) -> int:
        """The least number of characters that any entry has; 0 without entries."""
        return min(self.letters, default=0)
