"""The one scorer, for every engine: true BM25F over several indexes read as one collection.

For each word of the query the counts of a document are weighted by field, normalised by the
field's length, summed over fields and only then saturated. Documents with all the words come
first, then those with fewer; but what a long text has somewhere only once, it does not count as
having: else change logs, which have every word, would answer every question. Sums are taken in a
fixed order, so the same documents score the same to the last bit, whatever the engine and however
the index came about.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from math import log

from pcpfs.ports import FIELDS, POSTING_BYTES, DocumentTable, SearchIndex
from pcpfs.search.query import ALL_FIELDS, Alternative, Clause, Matching, Query, Term
from pcpfs.search.spelling import nearness

FIELD_WEIGHTS = (8.0, 3.0, 2.5, 3.0, 2.0, 1.0)
LENGTH_INFLUENCE = (0.5, 0.5, 0.5, 0.5, 0.6, 0.7)  # b of BM25: 0 none, 1 all
SATURATION = 1.2  # k1 of BM25
COMMON = 0.9  # a word in more than this share of the documents tells nothing by its absence
LOST = 1.0  # a word that weighs less than this in a long text is not counted as one it has
LONG = 200  # words

_PROSE, _BODY = FIELDS.index("prose"), FIELDS.index("body")
_TIER = 4096.0  # more than any score: one word more comes first

Allowed = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the query and the fields in which the document has it."""

    word: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A document and why it was found. `exact`: its name is the query.

    `score` never rises down the list: its whole part counts the words (and the exactness) by which
    the document comes first, the rest is BM25F within these.
    """

    key: str
    score: float
    exact: bool
    matches: tuple[Match, ...]


def rank(
    indexes: Sequence[SearchIndex],
    query: Query,
    *,
    allowed: Allowed | None = None,
    limit: int = 20,
) -> list[Hit]:
    """The best documents, best first; equals in order of key. See `ranked`."""
    if limit < 1:
        return []
    return list(islice(ranked(indexes, query, allowed=allowed, expected=limit), limit))


def ranked(
    indexes: Sequence[SearchIndex],
    query: Query,
    *,
    allowed: Allowed | None = None,
    expected: int = 20,
) -> Iterator[Hit]:
    """All documents with a word of the query, best first; so many are `expected` to be asked for.

    `allowed` is asked in that order as long as somebody asks, so it may be slow. A key must be in
    one of the indexes only.
    """
    if not query.clauses:
        return
    readers = [_Reader(index) for index in indexes]
    _set_norms(readers)
    _score(readers, query.clauses)
    for value, key, reader, number in _ordered(readers, expected):
        if allowed is None or allowed(key):
            yield _hit(query, value, key, reader, number)


class _Reader:
    """One index within the collection, and what this query has read of it."""

    def __init__(self, index: SearchIndex) -> None:
        self.index = index
        self.table: DocumentTable = index.documents()
        self.norms: tuple[tuple[float, float], ...] = ()
        self.values: dict[int, float] = {}
        self.exact: frozenset[int] = frozenset()
        self._by_field: dict[Term, dict[int, dict[int, float]]] = {}
        self._merged: dict[Term, dict[int, float]] = {}

    def frequencies(self, term: Term) -> dict[int, float]:
        """For each document that has it: the count, weighted, normalised, summed over fields."""
        if term not in self._merged:
            self._merged[term] = _sum(self.by_field(term).values())
        return self._merged[term]

    def by_field(self, term: Term) -> dict[int, dict[int, float]]:
        if term not in self._by_field:
            found: dict[int, dict[int, float]] = {}
            for share, text in self._expanded(term):
                self._add(found, share, text, term.fields)
            self._by_field[term] = {field: found[field] for field in sorted(found, reverse=True)}
        return self._by_field[term]

    def _expanded(self, term: Term) -> Iterator[tuple[float, str]]:
        if term.matching is Matching.EXACT:
            return iter([(1.0, term.text)])
        if term.matching is Matching.PREFIX:
            return ((1.0, text) for text in self.index.terms_from(term.text))
        return nearness(term.text, self.index.terms_from(term.text[:1]))

    def _add(
        self, found: dict[int, dict[int, float]], share: float, text: str, fields: tuple[int, ...]
    ) -> None:
        postings = self.index.postings(text)
        for field in fields if postings.documents else ():
            column = postings.counts[field::POSTING_BYTES]
            if any(column):
                base, slope = self.norms[field]
                lengths = self.table.lengths[field]
                held = compress(zip(postings.documents, column, strict=True), column)
                into = {n: share * count / (base + slope * lengths[n]) for n, count in held}
                if field in found:
                    _add_to(found[field], into)
                else:
                    found[field] = into

    def clause(self, clause: Clause, with_exact: bool) -> dict[int, float]:
        """The frequency of a word of the query in each document: all its alternatives together."""
        alternatives = clause.alternatives
        if with_exact and clause.exact is not None:
            alternatives += (Alternative((clause.exact,)),)
        return _sum([found for a in alternatives if (found := self.alternative(a))])

    def alternative(self, alternative: Alternative) -> dict[int, float]:
        columns = sorted((self.frequencies(term) for term in alternative.terms), key=len)
        share = alternative.percent / 100
        if len(columns) == 1:
            return columns[0] if share == 1 else {n: share * f for n, f in columns[0].items()}
        numbers = set(columns[0]).intersection(*columns[1:])
        return {n: share * min([column[n] for column in columns]) for n in numbers}

    def fields_of(self, clause: Clause, number: int) -> tuple[str, ...]:
        fields: set[int] = set()
        for alternative in clause.alternatives:
            if all(number in self.frequencies(term) for term in alternative.terms):
                for term in alternative.terms:
                    fields.update(
                        f for f, column in self.by_field(term).items() if number in column
                    )
        return tuple(FIELDS[field] for field in sorted(fields))


def _sum(columns: Iterable[dict[int, float]]) -> dict[int, float]:
    """The sum for each document, in the order of the columns."""
    first, *others = list(columns) or [{}]
    if not others:
        return first
    total = dict(first)
    for column in others:
        _add_to(total, column)
    return total


def _add_to(total: dict[int, float], column: dict[int, float]) -> None:
    get = total.get
    for number, value in column.items():
        total[number] = get(number, 0.0) + value


def _set_norms(readers: Sequence[_Reader]) -> None:
    """Make `count / (base + slope * length)` the weighted, length-normalised count."""
    norms = []
    for field in ALL_FIELDS:
        holders = sum(reader.table.holders[field] for reader in readers)
        total = sum(reader.table.totals[field] for reader in readers)
        weight, influence = FIELD_WEIGHTS[field], LENGTH_INFLUENCE[field]
        slope = influence * holders / total if total else 0.0
        norms.append(((1 - influence) / weight, slope / weight))
    for reader in readers:
        reader.norms = tuple(norms)


def _score(readers: Sequence[_Reader], clauses: Sequence[Clause]) -> None:
    """Give each document that has any of the words its value: tier of words, then score."""
    count = sum(reader.table.count for reader in readers)
    alone = len(clauses) == 1
    for clause in clauses:
        found = [reader.clause(clause, not alone) for reader in readers]
        holders = sum(map(len, found))
        rarity = log(1 + (count - holders + 0.5) / (holders + 0.5))
        tier = 0.0 if holders > COMMON * count and count > 10 else _TIER
        for reader, frequencies in zip(readers, found, strict=True):
            _accumulate(reader, frequencies, tier, rarity)
    for reader in readers:
        _restrict(reader, clauses)
        if alone:
            _promote(reader, clauses[0])


def _accumulate(reader: _Reader, frequencies: dict[int, float], tier: float, rarity: float) -> None:
    values, prose, body = reader.values, reader.table.lengths[_PROSE], reader.table.lengths[_BODY]
    get = values.get
    for number, frequency in frequencies.items():
        value = get(number, 0.0) + rarity * frequency / (frequency + SATURATION)
        if frequency >= LOST or prose[number] + body[number] <= LONG:
            value += tier
        values[number] = value


def _restrict(reader: _Reader, clauses: Sequence[Clause]) -> None:
    required = [reader.clause(clause, False) for clause in clauses if clause.required]
    if required:
        kept = set(required[0]).intersection(*required[1:])
        reader.values = {n: value for n, value in reader.values.items() if n in kept}


def _promote(reader: _Reader, clause: Clause) -> None:
    """For the only word of a query: an exact name first, then the whole word, then its parts."""
    numbers = set(reader.values)
    if any(alternative.loose for alternative in clause.alternatives):
        strict = [a for a in clause.alternatives if not a.loose]
        numbers = set().union(*map(reader.alternative, strict))
    if clause.exact is not None:
        reader.exact = frozenset(reader.frequencies(clause.exact))
    for number in numbers | reader.exact:
        reader.values[number] = reader.values.get(number, 0.0) + _TIER
    for number in reader.exact:
        reader.values[number] += _TIER


def _ordered(readers: Sequence[_Reader], limit: int) -> Iterator[tuple[float, str, _Reader, int]]:
    """All scored documents, best first; only as many as are asked for are put in full order."""
    scaled = [(_scaled(reader), reader) for reader in readers]
    everything = [value for values, _ in scaled for value in values.values()]
    wanted, below = 4 * limit, float("inf")
    while everything:
        least = heapq.nlargest(wanted, everything)[-1]
        yield from _between(scaled, least, below)
        everything = [value for value in everything if value < least]
        wanted, below = 8 * wanted, least


def _scaled(reader: _Reader) -> dict[int, float]:
    """The values with the document's factor on the score within its tier."""
    factors = reader.table.factors
    scaled = {}
    for number, value in reader.values.items():
        score = value % _TIER
        scaled[number] = value - score + score * factors[number] / 100
    return scaled


def _between(
    scaled: Sequence[tuple[dict[int, float], _Reader]], least: float, below: float
) -> list[tuple[float, str, _Reader, int]]:
    found = [
        (value, reader.table.keys[number], reader, number)
        for values, reader in scaled
        for number, value in values.items()
        if least <= value < below
    ]
    return sorted(found, key=lambda entry: (-entry[0], entry[1]))


def _hit(query: Query, value: float, key: str, reader: _Reader, number: int) -> Hit:
    matches = [Match(clause.text, reader.fields_of(clause, number)) for clause in query.clauses]
    found = tuple(match for match in matches if match.fields)
    return Hit(key, round(value / _TIER, 6), number in reader.exact, found)
