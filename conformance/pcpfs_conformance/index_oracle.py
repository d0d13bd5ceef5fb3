"""What a search index must answer, worked out from the documents alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pcpfs.ports import FIELDS, POSTING_BYTES, AnalysedDocument, SearchIndex

TERMS = (
    "a",
    "alpha",
    "alphabet",
    "beta",
    "c++",
    "getuserbyid",
    "x" * 120,
    "=name",
    "数据",
    "é",
    "\U0001d518",
)


def document(key: str, factor: int = 100, **counts: Mapping[str, int]) -> AnalysedDocument:
    """A document from counts by field: `document("k", body={"alpha": 2})`."""
    terms: dict[str, int] = {}
    for name, held in counts.items():
        for term, number in held.items():
            terms[term] = terms.get(term, 0) + (number << 8 * FIELDS.index(name))
    lengths = tuple(sum(counts.get(name, {}).values()) for name in FIELDS)
    return AnalysedDocument(key, terms, lengths, factor)


@dataclass
class Oracle:
    """What an index must answer after these updates, worked out from the documents alone."""

    documents: dict[str, AnalysedDocument] = field(default_factory=dict)
    stamp: str = ""

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        for key in removed:
            self.documents.pop(key, None)
        self.documents.update((document.key, document) for document in documents)
        self.stamp = stamp

    def check(self, index: SearchIndex) -> None:
        """Compare everything that the port can be asked."""
        assert index.stamp() == self.stamp
        self._check_table(index)
        for term in {*TERMS, *(term for d in self.documents.values() for term in d.terms)}:
            self._check_postings(index, term)
        held = {term for document in self.documents.values() for term in document.terms}
        for prefix in ("", "a", "alpha", "=", "数", "zz"):
            self._check_terms(index, prefix, held)

    def _check_table(self, index: SearchIndex) -> None:
        table = index.documents()
        assert table.count == len(self.documents)
        columns = list(zip(*(d.lengths for d in self.documents.values()), strict=True))
        columns = columns or [() for _ in FIELDS]
        assert tuple(table.totals) == tuple(map(sum, columns))
        assert tuple(table.holders) == tuple(len(c) - c.count(0) for c in columns)
        assert list(table.keys) == [table.keys[n] for n in range(len(table.keys))]
        live = [n for n in range(len(table.keys)) if n not in table.dead]
        found = {
            table.keys[n]: (tuple(column[n] for column in table.lengths), table.factors[n])
            for n in live
        }
        assert len(live) == len(found)
        expected = {d.key: (tuple(d.lengths), d.factor_percent) for d in self.documents.values()}
        assert found == expected

    def _check_postings(self, index: SearchIndex, term: str) -> None:
        postings, keys = index.postings(term), index.documents().keys
        numbers = list(postings.documents)
        assert numbers == sorted(set(numbers))
        assert len(postings.counts) == len(numbers) * POSTING_BYTES
        found = {
            keys[number]: postings.counts[i * POSTING_BYTES : (i + 1) * POSTING_BYTES]
            for i, number in enumerate(numbers)
        }
        assert found == {
            d.key: d.terms[term].to_bytes(POSTING_BYTES, "little")
            for d in self.documents.values()
            if term in d.terms
        }

    def _check_terms(self, index: SearchIndex, prefix: str, held: set[str]) -> None:
        terms = list(index.terms_from(prefix))
        assert terms == sorted(set(terms))
        assert all(term.startswith(prefix) for term in terms)
        assert {term for term in held if term.startswith(prefix)} <= set(terms)
