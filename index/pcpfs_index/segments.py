"""What engines have in common whose index is a few segments, each written once and never changed.

A segment numbers its documents; one that is gone stays in it, marked, until the segment is poured
into another. A snapshot reads a list of segments as one index, and never changes either.
"""

from __future__ import annotations

import errno
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from heapq import merge
from itertools import accumulate, chain, groupby
from typing import Generic, Protocol, TypeVar, overload

from pcpfs.errors import ReadOnly, StorageFull, Unavailable
from pcpfs.ports import FIELDS, NO_POSTINGS, DocumentTable, Postings
from pcpfs_index.inversion import ROW

WORN = 0.5
"""A segment with a smaller share of its documents alive is written anew."""

_MOST_SEGMENTS = 6


class Reader(Protocol):
    """An open segment; `holders` and `totals` are those of DocumentTable, with the dead ones."""

    @property
    def count(self) -> int:
        """Of its documents, dead ones too."""
        ...

    @property
    def deleted(self) -> Set[int]: ...

    @property
    def live(self) -> int: ...

    @property
    def holders(self) -> Sequence[int]: ...

    @property
    def totals(self) -> Sequence[int]: ...

    def keys(self) -> list[str]:
        """The key of each document; dead ones too."""
        ...

    def rows(self) -> array[int]:
        """ROW numbers for each document."""
        ...

    def postings(self, term: str, base: int = 0) -> Postings:
        """The live documents, numbered from `base`."""
        ...

    def terms_from(self, prefix: str) -> Iterator[str]: ...

    def close(self) -> None: ...


AnyReader = TypeVar("AnyReader", bound=Reader)


def plan(
    readers: Sequence[AnyReader], added: int, worn: float
) -> tuple[list[AnyReader], list[AnyReader]]:
    """Which segments stay as they are, and which are written anew together with what is added.

    Segments grow like the digits of a number, so a document is rewritten a few times at most. Those
    of whose documents less than the share `worn` is alive are written anew in any case.
    """
    living = [reader for reader in readers if reader.live]
    crowded = len(living) + bool(added) > _MOST_SEGMENTS
    poured: list[AnyReader] = []
    size = added
    for reader in sorted(living, key=lambda reader: reader.live):
        small = crowded and (len(poured) < 2 or reader.live <= 2 * size)
        if small or reader.live < worn * reader.count:
            poured.append(reader)
            size += reader.live
    return [reader for reader in living if reader not in poured], poured


class Snapshot(Generic[AnyReader]):
    """The segments of one table of contents, their documents numbered through."""

    def __init__(self, stamp: str, generation: int, readers: Sequence[AnyReader]) -> None:
        self.stamp = stamp
        self.generation = generation
        self.readers = tuple(readers)
        self._bases = [0, *accumulate(reader.count for reader in readers)]
        self._table: DocumentTable | None = None

    def close(self) -> None:
        for reader in self.readers:
            reader.close()

    def table(self) -> DocumentTable:
        if self._table is None:
            self._table = self._read_table()
        return self._table

    def _read_table(self) -> DocumentTable:
        rows = array("I")
        for reader in self.readers:
            rows.extend(reader.rows())
        dead = frozenset(
            base + number
            for base, reader in zip(self._bases, self.readers, strict=False)
            for number in reader.deleted
        )
        gone = [[rows[number * ROW + field] for number in dead] for field in range(len(FIELDS))]
        return DocumentTable(
            keys=_Keys(self.readers, self._bases),
            factors=rows[len(FIELDS) :: ROW],
            lengths=[rows[field::ROW] for field in range(len(FIELDS))],
            dead=dead,
            count=self._bases[-1] - len(dead),
            holders=tuple(
                sum(reader.holders[field] for reader in self.readers)
                - (len(column) - column.count(0))
                for field, column in enumerate(gone)
            ),
            totals=tuple(
                sum(reader.totals[field] for reader in self.readers) - sum(column)
                for field, column in enumerate(gone)
            ),
        )

    def postings(self, term: str) -> Postings:
        read = (r.postings(term, base) for r, base in zip(self.readers, self._bases, strict=False))
        found = [postings for postings in read if postings.documents]
        if len(found) < 2:
            return found[0] if found else NO_POSTINGS
        numbers = [number for postings in found for number in postings.documents]
        return Postings(numbers, b"".join(postings.counts for postings in found))

    def terms_from(self, prefix: str) -> Iterator[str]:
        everything = merge(*(reader.terms_from(prefix) for reader in self.readers))
        return (term for term, _ in groupby(everything))


class _Keys(Sequence[str]):
    """The keys of all segments; a segment's are read when one of them is asked for."""

    def __init__(self, readers: Sequence[Reader], bases: Sequence[int]) -> None:
        self._readers = readers
        self._bases = bases

    def __len__(self) -> int:
        return self._bases[-1]

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(reader.keys() for reader in self._readers)

    @overload
    def __getitem__(self, number: int) -> str: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[str]: ...
    def __getitem__(self, number: int | slice) -> str | Sequence[str]:
        if isinstance(number, slice):
            return [self[n] for n in range(*number.indices(len(self)))]
        segment = bisect_right(self._bases, number) - 1
        return self._readers[segment].keys()[number - self._bases[segment]]


def of_system(error: OSError) -> Unavailable:
    """The same error in our terms."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return StorageFull(f"no space is left for the index: {error}")
    if error.errno in {errno.EROFS, errno.EACCES, errno.EPERM}:
        return ReadOnly(f"the index cannot be written: {error}")
    return Unavailable(f"the index cannot be used: {error}")
