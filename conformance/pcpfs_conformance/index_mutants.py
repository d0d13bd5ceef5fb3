"""Search engines that are wrong in one way each: the contract must find every one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from pcpfs.ports import (
    POSTING_BYTES,
    AnalysedDocument,
    DocumentTable,
    Postings,
    SearchEngine,
    SearchIndex,
)


class Faithful:
    """Passes everything on to a right index; the mutants override one method."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index

    def stamp(self) -> str:
        return self.index.stamp()

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        self.index.update(documents, removed, stamp)

    def documents(self) -> DocumentTable:
        return self.index.documents()

    def postings(self, term: str) -> Postings:
        return self.index.postings(term)

    def terms_from(self, prefix: str) -> Iterator[str]:
        return self.index.terms_from(prefix)

    def close(self) -> None:
        self.index.close()


class ForgetsToRemove(Faithful):
    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        self.index.update(documents, [], stamp)


class RemovesLast(Faithful):
    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        gone = set(removed)
        self.index.update([d for d in documents if d.key not in gone], gone, stamp)


class KeepsTheFirstOfTwo(Faithful):
    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        self.index.update(list(documents)[::-1], removed, stamp)


class CommitsHalf(Faithful):
    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        gone = list(removed)
        for document in documents:
            self.index.update([document], gone, self.index.stamp())
        self.index.update([], [], stamp)


class StampsTooEarly(Faithful):
    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        self.index.update([], [], stamp)
        self.index.update(documents, removed, stamp)


class NeverStamps(Faithful):
    def stamp(self) -> str:
        return ""


class CountsTheDead(Faithful):
    most = 0

    def documents(self) -> DocumentTable:
        table = self.index.documents()
        self.most = max(self.most, table.count)
        return replace(table, count=self.most)


class TotalsOfTheDead(Faithful):
    def documents(self) -> DocumentTable:
        table = self.index.documents()
        return replace(table, totals=tuple(total + 1 if total else 0 for total in table.totals))


class HoldersAreAll(Faithful):
    def documents(self) -> DocumentTable:
        table = self.index.documents()
        return replace(table, holders=tuple(table.count for _ in table.holders))


class SwapsLengths(Faithful):
    def documents(self) -> DocumentTable:
        table = self.index.documents()
        return replace(table, lengths=[*table.lengths[1:], table.lengths[0]])


class ForgetsFactors(Faithful):
    def documents(self) -> DocumentTable:
        table = self.index.documents()
        return replace(table, factors=[100 for _ in table.factors])


class FoldsTerms(Faithful):
    def postings(self, term: str) -> Postings:
        return self.index.postings(term.strip().lower())


class ReversesPostings(Faithful):
    def postings(self, term: str) -> Postings:
        postings = self.index.postings(term)
        return Postings(list(postings.documents)[::-1], postings.counts)


class CountsToOne(Faithful):
    def postings(self, term: str) -> Postings:
        postings = self.index.postings(term)
        return Postings(postings.documents, bytes(min(count, 1) for count in postings.counts))


class DropsTheLastPosting(Faithful):
    def postings(self, term: str) -> Postings:
        postings = self.index.postings(term)
        if len(postings.documents) < 2:
            return postings
        return Postings(postings.documents[:-1], postings.counts[:-POSTING_BYTES])


class FindsTermsAnywhere(Faithful):
    def terms_from(self, prefix: str) -> Iterator[str]:
        return (term for term in self.index.terms_from("") if prefix in term)


class CutsTermsOff(Faithful):
    def terms_from(self, prefix: str) -> Iterator[str]:
        return (term for number, term in enumerate(self.index.terms_from(prefix)) if number < 5)


class SortsTermsAsUtf16(Faithful):
    def terms_from(self, prefix: str) -> Iterator[str]:
        terms = list(self.index.terms_from(prefix))
        return iter(
            sorted(terms, key=lambda term: term.encode("utf-16-be"), reverse=len(terms) > 9)
        )


MUTANTS: tuple[type[Faithful], ...] = (
    ForgetsToRemove,
    RemovesLast,
    KeepsTheFirstOfTwo,
    CommitsHalf,
    StampsTooEarly,
    NeverStamps,
    CountsTheDead,
    TotalsOfTheDead,
    HoldersAreAll,
    SwapsLengths,
    ForgetsFactors,
    FoldsTerms,
    ReversesPostings,
    CountsToOne,
    DropsTheLastPosting,
    FindsTermsAnywhere,
    CutsTermsOff,
    SortsTermsAsUtf16,
)


class Mutated:
    """A right engine whose indexes are wrapped in a mutant."""

    def __init__(self, right: SearchEngine, mutant: type[Faithful]) -> None:
        self.right = right
        self.mutant = mutant
        self.name = mutant.__name__
        self.version = right.version

    def open(self, folder: Path) -> SearchIndex:
        return self.mutant(self.right.open(folder))
