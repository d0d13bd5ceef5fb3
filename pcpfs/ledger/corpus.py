"""What one view may see, made ready for ranking: entries in their order, and where their words are.

A view has a corpus of its own: what is not in it cannot be found, counted or weighed, whatever
the question.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from pcpfs.errors import Corrupt
from pcpfs.ledger.columns import Columns
from pcpfs.ledger.words import Words
from pcpfs.model.context import ContextEntry

AVERAGE_STEP = 1.1
"""The average length of texts is known in steps of a tenth: so weights need not be made anew with
every entry, and depend on the entries alone, not on when each was added."""
SATURATION, LENGTH_INFLUENCE = 1.2, 0.5
"""k1 and b of BM25."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """An entry with its identity."""

    page_id: str
    entry: ContextEntry
    revision_id: str | None = None


@dataclass(slots=True)
class Postings:
    """The positions of entries that have a term, and how often. `weights` are what that is worth
    where texts are as long as `average`, as far as somebody asked."""

    positions: array[int] = field(default_factory=lambda: array("I"))
    counts: array[int] = field(default_factory=lambda: array("I"))
    weights: array[float] = field(default_factory=lambda: array("d"))
    average: float = 0.0

    def add(self, position: int, count: int) -> None:
        self.positions.append(position)
        self.counts.append(count)


TEXT, TAG, GOAL = "=", "#", "@"
"""How a key begins: a term in the text (with source and tags), in a tag, in the goal's name."""


def keys_of(words: Words, entry: ContextEntry) -> tuple[Mapping[str, int], Sequence[str]]:
    """Under which keys an entry is found: those of its text with how often, and the others."""
    counts = words.count(words_in(entry))
    tags = dict.fromkeys(term for tag in entry.tags for term in words.of_query(tag))
    goal = words.of_query(entry.goal_id) if entry.goal_id else ()
    others = [*(TAG + term for term in tags), *(GOAL + term for term in goal)]
    return {TEXT + term: count for term, count in counts.items()}, others


def words_in(entry: ContextEntry) -> str:
    """The text that is looked at."""
    return " ".join((entry.source, entry.content, *entry.tags))


class Corpus(ABC):
    """Entries of one view. What ranking asks of it is the same wherever it comes from."""

    words: Words
    columns: Columns
    entries: Sequence[LedgerEntry]

    @abstractmethod
    def lengths(self) -> Sequence[int]:
        """How many terms the text of each entry has."""

    @abstractmethod
    def postings(self, key: str) -> Postings | None:
        """The entries that are found under a key; None if none is."""

    @abstractmethod
    def position_of(self, revision_id: str) -> int | None:
        """Where the entry of this revision stands; None if it is not in this view. (A page may have
        several: one key that two clones used.)"""

    def __len__(self) -> int:
        return len(self.columns)

    def text(self, term: str) -> Postings:
        """The entries whose text, source or tags have a term."""
        return self.postings(TEXT + term) or Postings()

    def has(self, term: str, position: int) -> bool:
        """Whether the text of an entry has a term."""
        positions = self.text(term).positions
        place = bisect_left(positions, position)
        return place < len(positions) and positions[place] == position

    def tags(self, term: str) -> Sequence[int]:
        """The entries that have a tag with this term."""
        found = self.postings(TAG + term)
        return found.positions if found else ()

    def goals(self, term: str) -> Sequence[int]:
        """The entries about a goal whose name has this term."""
        found = self.postings(GOAL + term)
        return found.positions if found else ()

    def weights(self, postings: Postings, average: float) -> Sequence[float]:
        """What a term is worth in each of its entries where texts are that long; made once."""
        if postings.average != average:
            postings.average, postings.weights = average, array("d")
        start = len(postings.weights)
        lengths = self.lengths()
        base = SATURATION * (1 - LENGTH_INFLUENCE)
        slope = SATURATION * LENGTH_INFLUENCE / average
        pairs = zip(postings.counts[start:], postings.positions[start:], strict=True)
        postings.weights.extend([n / (n + base + slope * lengths[p]) for n, p in pairs])
        return postings.weights

    def average_length(self) -> float:
        """Rounded up to a power of AVERAGE_STEP."""
        lengths = self.lengths()
        average = sum(lengths) / max(1, len(lengths))
        step = 1.0
        while step < average:
            step *= AVERAGE_STEP
        return step


class Gathered(Corpus):
    """Entries in memory; grows, never shrinks. Words are looked for when first asked for."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.columns = Columns()
        self.entries: list[LedgerEntry] = []
        self._lengths = array("I")
        self._postings: dict[str, Postings] = {}

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        self.entries.extend(entries)
        for found in entries:
            self.columns.add(found.entry)

    def lengths(self) -> Sequence[int]:
        self._read()
        return self._lengths

    def postings(self, key: str) -> Postings | None:
        self._read()
        return self._postings.get(key)

    def position_of(self, revision_id: str) -> int | None:
        places = (n for n, found in enumerate(self.entries) if found.revision_id == revision_id)
        return next(places, None)

    def _read(self) -> None:
        """Take in the words of entries that were added since the last question."""
        for position in range(len(self._lengths), len(self.entries)):
            counts, others = keys_of(self.words, self.entries[position].entry)
            for key, count in counts.items():
                self._found(key).add(position, count)
            for key in others:
                self._found(key).add(position, 1)
            self._lengths.append(sum(counts.values()))

    def _found(self, key: str) -> Postings:
        postings = self._postings.get(key)
        if postings is None:
            postings = self._postings[key] = Postings()
        return postings


class Part(Corpus):
    """Those entries of a corpus that are about one goal: numbered, counted and weighed as if there
    were no others."""

    def __init__(self, whole: Corpus, goal: str) -> None:
        self.words = whole.words
        self._whole = whole
        self._goal = goal
        self._kept: dict[str, Postings | None] = {}
        self.refresh()

    def refresh(self) -> None:
        """Look at the whole anew: it has grown."""
        self._kept.clear()
        self._members = self._whole.columns.about(self._goal)
        self._numbers = {position: number for number, position in enumerate(self._members)}
        self.columns = self._whole.columns.picked(self._members)
        self._lengths: array[int] | None = None
        self.entries = Fetched(self._members, self._entry)

    def lengths(self) -> Sequence[int]:
        if self._lengths is None:
            lengths = self._whole.lengths()
            self._lengths = array("I", (lengths[position] for position in self._members))
        return self._lengths

    def postings(self, key: str) -> Postings | None:
        if key not in self._kept:
            self._kept[key] = self._own(self._whole.postings(key))
        return self._kept[key]

    def position_of(self, revision_id: str) -> int | None:
        position = self._whole.position_of(revision_id)
        return None if position is None else self._numbers.get(position)

    def _entry(self, position: int) -> LedgerEntry:
        found = self._whole.entries[position]
        if found.entry.goal_id != self._goal:
            raise Corrupt(f"{found.page_id} is not about the goal under which it was kept")
        return found

    def _own(self, found: Postings | None) -> Postings | None:
        if found is None:
            return None
        own = Postings()
        for position, count in zip(found.positions, found.counts, strict=True):
            number = self._numbers.get(position)
            if number is not None:
                own.add(number, count)
        return own if own.positions else None


class Fetched(Sequence[LedgerEntry]):
    """Entries that are fetched when they are asked for."""

    def __init__(self, positions: Sequence[int], fetch: Callable[[int], LedgerEntry]) -> None:
        self._positions = positions
        self._fetch = fetch

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> LedgerEntry: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[LedgerEntry]: ...

    def __getitem__(self, index: int | slice) -> LedgerEntry | Sequence[LedgerEntry]:
        if isinstance(index, slice):
            return [self._fetch(position) for position in self._positions[index]]
        return self._fetch(self._positions[index])
