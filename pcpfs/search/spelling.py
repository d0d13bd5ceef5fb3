"""Which terms of a dictionary are nearly a word: for `fuzzy~`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_SHARES = (1.0, 0.6, 0.3)  # what a term at distance 0, 1, 2 is worth


def nearness(word: str, terms: Iterable[str]) -> Iterator[tuple[float, str]]:
    """The terms within one edit of a short word, two of one of six letters or more, with their
    worth. An edit adds, drops or replaces a character or swaps two neighbours."""
    most = 1 if len(word) < 6 else 2
    for term in terms:
        if abs(len(term) - len(word)) <= most:
            distance = _distance(word, term, most)
            if distance <= most:
                yield _SHARES[distance], term


def _distance(word: str, term: str, most: int) -> int:
    """The edit distance (optimal string alignment); `most + 1` for anything above `most`."""
    word, term = _without_common_ends(word, term)
    if not word or not term:
        return max(len(word), len(term))
    before: list[int] = []
    row = list(range(len(term) + 1))
    for i, letter in enumerate(word, 1):
        before, last, row = row, before, [i]
        for j, other in enumerate(term, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == term[j - 2] and word[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _without_common_ends(word: str, term: str) -> tuple[str, str]:
    start = 0
    while start < min(len(word), len(term)) and word[start] == term[start]:
        start += 1
    word, term = word[start:], term[start:]
    end = 0
    while end < min(len(word), len(term)) and word[-1 - end] == term[-1 - end]:
        end += 1
    return word[: len(word) - end], term[: len(term) - end]
