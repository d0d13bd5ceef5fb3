"""Turns documents into posting lists in memory: what an engine on disk writes in one go."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

from pcpfs.ports import FIELDS, AnalysedDocument

ROW = 8
"""Numbers a document: its length in each of FIELDS, its factor in percent, one to spare."""

PostingList = list[int]
"""Of one term: by turns a document number and its posting, packed as in AnalysedDocument."""


class Numbering:
    """Documents numbered in order of arrival, and what is known of each but its terms."""

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.rows = array("I")
        self.replaced: set[int] = set()
        self._numbers: dict[str, int] = {}

    def number(self, document: AnalysedDocument) -> int:
        """Number a document; an earlier one of the same key is `replaced`."""
        return self.add_row(document.key, (*document.lengths, document.factor_percent, 0))

    def add_row(self, key: str, row: Iterable[int]) -> int:
        """Number a document of which a segment has the row already."""
        number = len(self.keys)
        if key in self._numbers:
            self.replaced.add(self._numbers[key])
        self._numbers[key] = number
        self.keys.append(key)
        self.rows.extend(row)
        return number

    def holders(self) -> tuple[int, ...]:
        """How many documents have words in each field; replaced ones too."""
        return tuple(len(column) - column.count(0) for column in self._lengths())

    def totals(self) -> tuple[int, ...]:
        """How many words these are."""
        return tuple(map(sum, self._lengths()))

    def _lengths(self) -> list[array[int]]:
        return [self.rows[field::ROW] for field in range(len(FIELDS))]


class Inversion(Numbering):
    """Numbered documents, and the posting list of each term."""

    def __init__(self) -> None:
        super().__init__()
        self._lists: dict[str, PostingList] = {}

    def add(self, document: AnalysedDocument) -> None:
        number = self.number(document)
        lists = self._lists
        known = lists.get
        for term, packed in document.terms.items():
            postings = known(term)
            if postings is None:
                lists[term] = [number, packed]
            else:
                postings += (number, packed)

    def extend(self, term: str, numbers: Iterable[int], postings: Iterable[int]) -> None:
        """Append to the posting list of a term; the numbers are increasing, above those before."""
        known = self._lists.setdefault(term, [])
        known.extend(chain.from_iterable(zip(numbers, postings, strict=True)))

    def lists(self) -> Iterator[tuple[str, PostingList]]:
        """The posting lists in order of code points of their terms."""
        return ((term, self._lists[term]) for term in sorted(self._lists))
