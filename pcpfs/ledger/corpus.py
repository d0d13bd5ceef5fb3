"""What one view may see, made ready for ranking: entries in their order, and where their words are.

A view has a corpus of its own: what is not in it cannot be found, counted or weighed, whatever
the question.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pcpfs.ledger.words import Words
from pcpfs.model.context import ContextEntry

AVERAGE_STEP = 1.1
"""The average length of texts is known in steps of a tenth: so weights need not be made anew with
every entry, and depend on the entries alone, not on when each was added."""


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

    positions: array[int] = field(default_factory=lambda: array("L"))
    counts: array[int] = field(default_factory=lambda: array("L"))
    weights: array[float] = field(default_factory=lambda: array("d"))
    average: float = 0.0


SATURATION, LENGTH_INFLUENCE = 1.2, 0.5
"""k1 and b of BM25."""


def saturated(count: int, length: int, average: float) -> float:
    """What a term is worth that an entry of this length has so often: below 1."""
    norm = SATURATION * (1 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * length / average)
    return count / (count + norm)


class Corpus:
    """Entries of one view; grows, never shrinks. Words are looked for when first asked for."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.entries: list[LedgerEntry] = []
        self.importance: list[float] = []
        self.shortest = sys.maxsize
        """The least number of characters that any entry has."""
        self._lengths = array("L")
        self._total_length = 0
        self._texts: dict[str, Postings] = {}
        self._tags: dict[str, array[int]] = {}
        self._goals: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        self.entries.extend(entries)
        self.importance.extend(found.entry.importance for found in entries)
        self.shortest = min([self.shortest, *(len(found.entry.content) for found in entries)])

    def text(self, term: str) -> Postings:
        """The entries whose text, source or tags have a term."""
        self._read()
        return self._texts.get(term) or Postings()

    def tags(self, term: str) -> Sequence[int]:
        """The entries that have a tag with this term."""
        self._read()
        return self._tags.get(term, ())

    def goals(self, term: str) -> Sequence[int]:
        """The entries about a goal whose name has this term."""
        self._read()
        return self._goals.get(term, ())

    def weights(self, postings: Postings) -> Sequence[float]:
        """What a term is worth in each of its entries (`saturated`); made once, as far as the
        average length allows."""
        average = self._average_length()
        if postings.average != average:
            postings.average, postings.weights = average, array("d")
        start = len(postings.weights)
        lengths = self._lengths
        postings.weights.extend(
            saturated(count, lengths[position], average)
            for position, count in zip(
                postings.positions[start:], postings.counts[start:], strict=True
            )
        )
        return postings.weights

    def _average_length(self) -> float:
        """Rounded up to a power of AVERAGE_STEP."""
        self._read()
        average = self._total_length / max(1, len(self._lengths))
        step = 1.0
        while step < average:
            step *= AVERAGE_STEP
        return step

    def newest(self) -> int:
        """The latest time of any entry, in microseconds."""
        return max((f.entry.timestamp.microseconds for f in self.entries), default=0)

    def _read(self) -> None:
        """Take in the words of entries that were added since the last question."""
        for position in range(len(self._lengths), len(self.entries)):
            entry = self.entries[position].entry
            counts = self.words.count(f"{entry.source} {entry.content} {' '.join(entry.tags)}")
            for term, count in counts.items():
                postings = self._texts.get(term)
                if postings is None:
                    postings = self._texts[term] = Postings()
                postings.positions.append(position)
                postings.counts.append(count)
            for term in _terms(self.words, entry.tags):
                self._tags.setdefault(term, array("L")).append(position)
            for term in _terms(self.words, (entry.goal_id,) if entry.goal_id else ()):
                self._goals.setdefault(term, array("L")).append(position)
            length = sum(counts.values())
            self._lengths.append(length)
            self._total_length += length


def _terms(words: Words, texts: Sequence[str]) -> Iterator[str]:
    return iter(dict.fromkeys(term for text in texts for term in words.of_query(text)))
