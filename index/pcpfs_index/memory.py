"""The reference engine: plain dictionaries, in memory only, stricter than the others."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.ports import (
    FIELDS,
    NO_POSTINGS,
    POSTING_BYTES,
    AnalysedDocument,
    DocumentTable,
    Postings,
    SearchEngine,
    SearchIndex,
)


class MemoryIndex:
    """Documents by key, numbered in order of their keys; each update makes a new snapshot."""

    def __init__(self) -> None:
        self._documents: dict[str, AnalysedDocument] = {}
        self._stamp = ""
        self._snapshot = _Snapshot.of({})

    def stamp(self) -> str:
        return self._stamp

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        kept = dict(self._documents)
        for key in removed:
            kept.pop(key, None)
        for document in documents:
            kept[document.key] = _checked(document)
        self._snapshot = _Snapshot.of(kept)
        self._documents, self._stamp = kept, stamp

    def documents(self) -> DocumentTable:
        return self._snapshot.table

    def postings(self, term: str) -> Postings:
        return self._snapshot.postings.get(term, NO_POSTINGS)

    def terms_from(self, prefix: str) -> Iterator[str]:
        return (term for term in self._snapshot.terms if term.startswith(prefix))

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass(frozen=True, slots=True)
class _Snapshot:
    table: DocumentTable
    postings: dict[str, Postings] = field(repr=False)
    terms: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, documents: dict[str, AnalysedDocument]) -> _Snapshot:
        ordered = [documents[key] for key in sorted(documents)]
        numbers: dict[str, list[int]] = {}
        counts: dict[str, list[int]] = {}
        for number, document in enumerate(ordered):
            for term, packed in document.terms.items():
                numbers.setdefault(term, []).append(number)
                counts.setdefault(term, []).append(packed)
        postings = {term: Postings(numbers[term], _columns(counts[term])) for term in numbers}
        return cls(_table(ordered), postings, tuple(sorted(postings)))


def _columns(packed: list[int]) -> bytes:
    return b"".join(number.to_bytes(POSTING_BYTES, "little") for number in packed)


def _table(documents: list[AnalysedDocument]) -> DocumentTable:
    lengths = [array("I", (d.lengths[f] for d in documents)) for f in range(len(FIELDS))]
    return DocumentTable(
        keys=tuple(d.key for d in documents),
        factors=array("I", (d.factor_percent for d in documents)),
        lengths=lengths,
        dead=frozenset(),
        count=len(documents),
        holders=tuple(len(column) - column.count(0) for column in lengths),
        totals=tuple(map(sum, lengths)),
    )


def _checked(document: AnalysedDocument) -> AnalysedDocument:
    """The document, if it keeps the contract of AnalysedDocument."""
    if len(document.lengths) != len(FIELDS) or min(document.lengths) < 0:
        raise ValueError(f"{document.key}: a length for each of {FIELDS}, not {document.lengths}")
    if not (document.key and 0 < document.factor_percent < 2**16):
        raise ValueError(f"{document.key!r}: needs a key and a factor from 1 to 65535")
    for term, packed in document.terms.items():
        if not term or not 0 < packed < 256 ** len(FIELDS):
            raise ValueError(f"{document.key}: no posting of {term!r} is {packed:#x}")
    return document


class MemoryEngine:
    """Opens an empty index each time: nothing is kept in the folder, none is made."""

    name = "memory"
    version = "1"

    def open(self, folder: Path) -> SearchIndex:
        return MemoryIndex()


engine: SearchEngine = MemoryEngine()
