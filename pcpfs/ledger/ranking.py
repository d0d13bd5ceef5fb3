"""How entries are ranked: each algorithm gives every entry of a corpus its terms, and their sum.

An algorithm is named by its version. `ranked` yields entries best first, as many as are asked for:
those that the question found, then the others by what does not depend on it. Equals: newest first.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from math import log, sqrt
from typing import Protocol

from pcpfs.errors import UsageError
from pcpfs.ledger.corpus import Corpus
from pcpfs.ports import Embedder

SATURATION, LENGTH_INFLUENCE = 1.2, 0.5  # k1 and b of BM25
TEXT, TAGS, GOAL, IMPORTANCE, RECENCY, MEANING = 3.0, 0.5, 1.0, 0.5, 0.5, 3.0
_FEW = 512
_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Ranked:
    """An entry by its position in the corpus, with the terms of its score."""

    position: int
    score: float
    terms: Mapping[str, float]
    is_found: bool


class Algorithm(Protocol):
    """Ranks the entries of one corpus; a pure function of corpus and question."""

    @property
    def version(self) -> str: ...

    def ranked(self, corpus: Corpus, question: Sequence[str], text: str) -> Iterator[Ranked]:
        """All entries, best first. `question` are the terms of `text`."""
        ...


@dataclass(slots=True)
class _Parts:
    """The terms of all entries, by name: sparse for what a question finds, else one a position."""

    count: int
    found: dict[str, dict[int, float]] = field(default_factory=dict)
    always: dict[str, Sequence[float]] = field(default_factory=dict)

    def ranked(self, static: Sequence[float], order: Sequence[int]) -> Iterator[Ranked]:
        """`static` are the sums of what every entry has, `order` all positions best first by it."""
        totals: dict[int, float] = {}
        for values in self.found.values():
            for position, value in values.items():
                totals[position] = totals.get(position, 0.0) + value
        best = _descending([(value + static[p], p) for p, value in totals.items()])
        rest = ((static[p], p) for p in order if p not in totals)
        for score, position in heapq.merge(best, rest, reverse=True):
            yield Ranked(position, round(score, 6), self._terms(position), position in totals)

    def _terms(self, position: int) -> dict[str, float]:
        terms = {name: values.get(position, 0.0) for name, values in self.found.items()}
        terms |= {name: values[position] for name, values in self.always.items()}
        return {name: round(value, 6) for name, value in terms.items()}


def _descending(pairs: list[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The pairs from the largest on; the first few without sorting all."""
    if len(pairs) > 2 * _FEW:
        few = heapq.nlargest(_FEW, pairs)
        yield from few
        pairs = [pair for pair in pairs if pair < few[-1]]
    yield from sorted(pairs, reverse=True)


class _Static:
    """What every entry has whatever the question: importance, and recency where that counts.

    Kept for the last corpus, so that a question does not sort all entries again.
    """

    def __init__(self, half_life_days: float | None) -> None:
        self._half_life = half_life_days
        self._of: Corpus | None = None
        self._pairs: list[tuple[float, int]] = []
        self.always: dict[str, array[float]] = {}
        self.sums: Sequence[float] = ()
        self.order: Sequence[int] = ()

    def follow(self, corpus: Corpus) -> _Static:
        """Catch up with the corpus."""
        if self._of is not corpus or len(self.sums) != len(corpus):
            if self._of is not corpus or self._half_life is not None:
                self._pairs = []
            self._of = corpus
            self.always = {"importance": array("d", (IMPORTANCE * i for i in corpus.importance))}
            self.sums = self.always["importance"]
            if self._half_life is not None:
                self._decay(corpus, self._half_life)
            new = range(len(self._pairs), len(corpus))
            self._pairs = sorted([*self._pairs, *((self.sums[p], p) for p in new)], reverse=True)
            self.order = [position for _, position in self._pairs]
        return self

    def _decay(self, corpus: Corpus, half_life: float) -> None:
        """Against the newest entry, not against a clock: the same entries rank the same."""
        newest, unit = corpus.newest(), half_life * _DAY
        ages = ((newest - found.entry.timestamp.microseconds) / unit for found in corpus.entries)
        recency = array("d", (RECENCY * 0.5**age for age in ages))
        self.always["recency"] = recency
        self.sums = array("d", map(sum, zip(self.always["importance"], recency, strict=True)))


class Keyword:
    """Goal, tags and importance; the text of entries is not looked at."""

    version = "v1_keyword"

    def __init__(self, half_life_days: float | None = None) -> None:
        self._static = _Static(half_life_days)

    def ranked(self, corpus: Corpus, question: Sequence[str], text: str) -> Iterator[Ranked]:
        parts = _Parts(len(corpus))
        parts.found["tags"] = _share(question, corpus.tags, TAGS)
        parts.found["goal"] = _share(question, corpus.goals, GOAL)
        static = self._static.follow(corpus)
        parts.always.update(static.always)
        return parts.ranked(static.sums, static.order)


class Bm25:
    """BM25 of the text, as a share of the most that the question can get; tags and importance."""

    version = "v2_bm25"

    def __init__(self, half_life_days: float | None = None) -> None:
        self._static = _Static(half_life_days)

    def ranked(self, corpus: Corpus, question: Sequence[str], text: str) -> Iterator[Ranked]:
        parts = self._parts(corpus, question)
        static = self._static.follow(corpus)
        parts.always.update(static.always)
        return parts.ranked(static.sums, static.order)

    def _parts(self, corpus: Corpus, question: Sequence[str]) -> _Parts:
        parts = _Parts(len(corpus))
        parts.found["text"] = _bm25(corpus, question)
        parts.found["tags"] = _share(question, corpus.tags, TAGS)
        return parts


class Hybrid(Bm25):
    """BM25 and nearness in meaning, as an embedder sees it."""

    def __init__(self, embedder: Embedder, half_life_days: float | None = None) -> None:
        super().__init__(half_life_days)
        self._embedder = embedder
        self._of: Corpus | None = None
        self._vectors: list[Sequence[float]] = []

    @property
    def version(self) -> str:  # type: ignore[override]  # a name of its own for each embedder
        return f"hybrid_{self._embedder.name}"

    def ranked(self, corpus: Corpus, question: Sequence[str], text: str) -> Iterator[Ranked]:
        parts = self._parts(corpus, question)
        (wanted,) = self._unit([text])
        near = (sum(map(_times, wanted, vector)) for vector in self._all(corpus))
        parts.found["meaning"] = {p: MEANING * n for p, n in enumerate(near) if n > 0}
        static = self._static.follow(corpus)
        parts.always.update(static.always)
        return parts.ranked(static.sums, static.order)

    def _all(self, corpus: Corpus) -> Sequence[Sequence[float]]:
        if self._of is not corpus:
            self._of, self._vectors = corpus, []
        new = corpus.entries[len(self._vectors) :]
        self._vectors += self._unit([found.entry.content for found in new])
        return self._vectors

    def _unit(self, texts: Sequence[str]) -> list[Sequence[float]]:
        vectors = self._embedder.embed(texts) if texts else []
        lengths = [sqrt(sum(x * x for x in vector)) or 1.0 for vector in vectors]
        return [[x / n for x in vector] for vector, n in zip(vectors, lengths, strict=True)]


def algorithm_named(version: str, half_life_days: float | None = None) -> Algorithm:
    """The algorithm of that version; UsageError for one that there is not."""
    known: dict[str, Callable[[float | None], Algorithm]] = {
        Keyword.version: Keyword,
        Bm25.version: Bm25,
    }
    if version not in known:
        raise UsageError(f"there is no algorithm {version!r}: {', '.join(known)}")
    return known[version](half_life_days)


def _times(a: float, b: float) -> float:
    return a * b


def _share(
    question: Sequence[str], holders: Callable[[str], Sequence[int]], weight: float
) -> dict[int, float]:
    """For each position the share of the question's terms by which it is held."""
    shares: dict[int, float] = {}
    step = weight / max(1, len(question))
    for term in question:
        for position in holders(term):
            shares[position] = shares.get(position, 0.0) + step
    return shares


def _bm25(corpus: Corpus, question: Sequence[str]) -> dict[int, float]:
    scores = [0.0] * len(corpus)
    lengths, average = corpus.lengths, corpus.average_length
    base, slope = SATURATION * (1 - LENGTH_INFLUENCE), SATURATION * LENGTH_INFLUENCE / average
    most = 0.0
    for term in question:
        postings = corpus.text(term)
        holders = len(postings.positions)
        rarity = log(1 + (len(corpus) - holders + 0.5) / (holders + 0.5))
        most += rarity * (SATURATION + 1)
        gain = rarity * (SATURATION + 1)
        for position, count in zip(postings.positions, postings.counts, strict=True):
            scores[position] += gain * count / (count + base + slope * lengths[position])
    if not most:
        return {}
    unit = TEXT / most
    return {p: s * unit for p, s in compress(enumerate(scores), scores)}
