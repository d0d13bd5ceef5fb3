"""How entries are ranked: each algorithm gives every entry of a corpus its terms, and their sum.

An algorithm is named by its version; another one is another class with the same two members.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf, log, sqrt
from operator import add
from typing import NamedTuple, Protocol

from pcpfs.errors import UsageError
from pcpfs.ledger.corpus import Corpus
from pcpfs.ports import Embedder

COMMON = 0.9  # a word in more than this share of the entries tells nothing, if others are asked for
TEXT, TAGS, GOAL, IMPORTANCE, RECENCY, MEANING = 3.0, 0.5, 1.0, 0.5, 0.5, 3.0
_FEW = 512
_DAY = 86_400_000_000


class Ranked(NamedTuple):
    """An entry by its position in the corpus. `is_found`: the question found it."""

    score: float
    position: int
    is_found: bool


class Ranking:
    """All entries of a corpus under one question, best first; of equals the newest first.

    `always` has a value for every entry whatever the question, `dense` one for every entry under
    this question, `sparse` one for the entries that it finds.
    """

    def __init__(
        self,
        always: Mapping[str, Sequence[float]],
        dense: Mapping[str, Sequence[float]],
        sparse: Mapping[str, Mapping[int, float]],
    ) -> None:
        self._always = always
        self._dense = dense
        self._sparse = sparse

    def __iter__(self) -> Iterator[Ranked]:
        for score, position in _descending(self._totals()):
            yield Ranked(round(score, 6), position, self._is_found(position))

    def terms(self, position: int) -> dict[str, float]:
        """The parts of an entry's score, by name."""
        values = {name: column[position] for name, column in self._dense.items()}
        values |= {name: column.get(position, 0.0) for name, column in self._sparse.items()}
        values |= {name: column[position] for name, column in self._always.items()}
        return {name: round(value, 6) for name, value in values.items()}

    def _totals(self) -> list[float]:
        first, *others = (*self._always.values(), *self._dense.values())
        totals = list(first)
        for column in others:
            totals = list(map(add, totals, column))
        for values in self._sparse.values():
            for position, value in values.items():
                totals[position] += value
        return totals

    def _is_found(self, position: int) -> bool:
        return any(column[position] for column in self._dense.values()) or any(
            position in column for column in self._sparse.values()
        )


def _descending(totals: Sequence[float]) -> Iterator[tuple[float, int]]:
    """Values with their positions from the largest on, of equals the last first. Few are looked for
    at a time: hardly anybody wants them all."""
    wanted, ceiling = _FEW, inf
    while rest := totals if ceiling == inf else [value for value in totals if value < ceiling]:
        least = heapq.nlargest(wanted, rest)[-1]
        yield from sorted(
            ((v, position) for position, v in enumerate(totals) if least < v < ceiling),
            reverse=True,
        )
        for position in range(len(totals) - 1, -1, -1):
            if totals[position] == least:
                yield least, position
        wanted, ceiling = 8 * wanted, least


class Algorithm(Protocol):
    """Ranks the entries of one corpus, which may grow between two questions; a pure function of
    what is in it and of the question."""

    @property
    def version(self) -> str: ...

    def rank(self, corpus: Corpus, question: Sequence[str], text: str) -> Ranking:
        """`question` are the terms of `text`."""
        ...


class _Always:
    """What every entry has whatever the question: importance, and recency where that counts. Kept
    until the corpus grows."""

    def __init__(self, half_life_days: float | None) -> None:
        self._half_life = half_life_days
        self._columns: dict[str, array[float]] = {}

    def columns(self, corpus: Corpus) -> Mapping[str, array[float]]:
        if len(self._columns.get("importance", ())) != len(corpus) or not self._columns:
            importance = corpus.columns.importance
            self._columns = {"importance": array("d", [IMPORTANCE * i for i in importance])}
            if self._half_life is not None:
                self._columns["recency"] = _recency(corpus, self._half_life)
        return self._columns


def _recency(corpus: Corpus, half_life: float) -> array[float]:
    """Against the newest entry, not against a clock: the same entries rank the same."""
    newest, unit = corpus.columns.newest(), half_life * _DAY
    ages = ((newest - moment) / unit for moment in corpus.columns.moments)
    return array("d", (RECENCY * 0.5**age for age in ages))


class Keyword:
    """Goal, tags and importance; the text of entries is not looked at."""

    version = "v1_keyword"

    def __init__(self, half_life_days: float | None = None) -> None:
        self._always = _Always(half_life_days)

    def rank(self, corpus: Corpus, question: Sequence[str], text: str) -> Ranking:
        tags = _share(question, corpus.tags, TAGS)
        goals = _share(question, corpus.goals, GOAL)
        return Ranking(self._always.columns(corpus), {}, {"tags": tags, "goal": goals})


class Bm25:
    """BM25 of the text, as a share of the most that the question can get; tags and importance."""

    version = "v2_bm25"

    def __init__(self, half_life_days: float | None = None) -> None:
        self._always = _Always(half_life_days)

    def rank(self, corpus: Corpus, question: Sequence[str], text: str) -> Ranking:
        tags = _share(question, corpus.tags, TAGS)
        dense = {"text": bm25(corpus, question)}
        return Ranking(self._always.columns(corpus), dense, {"tags": tags})


class Hybrid:
    """BM25, and nearness in meaning as an embedder sees it."""

    def __init__(self, embedder: Embedder, half_life_days: float | None = None) -> None:
        self.version = f"hybrid_{embedder.name}"
        self._always = _Always(half_life_days)
        self._embedder = embedder
        self._vectors: list[Sequence[float]] = []

    def rank(self, corpus: Corpus, question: Sequence[str], text: str) -> Ranking:
        tags = _share(question, corpus.tags, TAGS)
        dense = {"text": bm25(corpus, question), "meaning": self._near(corpus, text)}
        return Ranking(self._always.columns(corpus), dense, {"tags": tags})

    def _near(self, corpus: Corpus, text: str) -> list[float]:
        new = corpus.entries[len(self._vectors) :]
        self._vectors += self._unit([found.entry.content for found in new])
        (wanted,) = self._unit([text])
        cosines = (sum(a * b for a, b in zip(wanted, v, strict=True)) for v in self._vectors)
        return [MEANING * max(0.0, cosine) for cosine in cosines]

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


def bm25(corpus: Corpus, question: Sequence[str]) -> list[float]:
    """For each entry its BM25 as a share of the most that the question could get, times TEXT."""
    gains = [(corpus.text(term), _rarity(corpus, term)) for term in _telling(corpus, question)]
    most = sum(rarity for _, rarity in gains)
    scores = [0.0] * len(corpus)
    average = corpus.average_length() if gains else 1.0
    for postings, rarity in gains:
        gain = TEXT * rarity / most
        weights = corpus.weights(postings, average)
        for position, weight in zip(postings.positions, weights, strict=True):
            scores[position] += gain * weight
    return scores


def _telling(corpus: Corpus, question: Sequence[str]) -> Sequence[str]:
    """The terms without those that nearly all entries have, if there are others."""
    limit = COMMON * len(corpus)
    rare = [term for term in question if len(corpus.text(term).positions) <= limit]
    return rare if any(corpus.text(term).positions for term in rare) else question


def _rarity(corpus: Corpus, term: str) -> float:
    holders = len(corpus.text(term).positions)
    return log(1 + (len(corpus) - holders + 0.5) / (holders + 0.5))


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
