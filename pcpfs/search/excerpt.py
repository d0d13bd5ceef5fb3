"""Where the words of a query stand in a text: lines, an excerpt, the span that holds them best.

Engines keep no positions, so this looks at the text itself, with the same idea of what a word
matches: whole first, else by its parts, else by its stem.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from pcpfs.search.query import Clause, Matching, Query
from pcpfs.search.spelling import nearness
from pcpfs.search.stemmer import stem
from pcpfs.search.words import is_cjk, parts_of, words_of

LONGEST_EXCERPT = 240
WINDOW = 3  # lines

_JOINT = r"[\W_]{0,3}"


@dataclass(frozen=True, slots=True)
class Place:
    """A word of the query at characters [start, end) of the text, on this line (from 1)."""

    word: str
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few lines (from 1, inclusive) and their text, at most LONGEST_EXCERPT characters."""

    lines: tuple[int, int]
    text: str


def readable(payload: bytes | str) -> str:
    """The payload as text; bytes that are no UTF-8 become replacement characters."""
    return payload if isinstance(payload, str) else payload.decode("utf-8", "replace")


def locate(payload: bytes | str, query: Query) -> tuple[Place, ...]:
    """All places of the query's words, in order of the text."""
    text = readable(payload)
    breaks = [match.start() for match in re.finditer("\n", text)]
    places, looked = [], _Text.of(text)
    for clause in query.clauses:
        for start, end in _spans(looked, _readings(clause)):
            places.append(Place(clause.text, bisect_right(breaks, start - 1) + 1, start, end))
    return tuple(sorted(places, key=lambda place: (place.start, place.end)))


def excerpt(
    payload: bytes | str, query: Query, *, within: tuple[int, int] | None = None
) -> Excerpt | None:
    """The lines that show most of the query's words, the first such; None for an empty text.

    `within` keeps to these lines. Without any place it is the first line that is not blank.
    """
    text = readable(payload)
    lines = text.split("\n")
    first, last = within or (1, len(lines))
    places = [place for place in locate(text, query) if first <= place.line <= last]
    if not places:
        return _opening(lines, first, min(last, len(lines)))
    start, end = _window(places)
    return Excerpt((start, end), _cut(lines, start, end, places))


def span_of(places: Sequence[Place], spans: Sequence[tuple[int, int]]) -> int | None:
    """Which of these line ranges has most of the different words: the index of the shortest such.
    The places are in order of the text.

    None if no range has any: the way from a hit in a file to the symbol around it.
    """
    best: tuple[int, int, int] | None = None
    lines = [place.line for place in places]
    for index, (first, last) in enumerate(spans):
        inside = places[bisect_left(lines, first) : bisect_right(lines, last)]
        words = {place.word for place in inside}
        rank = (len(words), first - last, -index)
        if words and (best is None or rank > best):
            best = rank
    return None if best is None else -best[2]


def contains_phrase(payload: bytes | str, phrase: str) -> bool:
    """Whether the phrase stands there: whole words, case and the amount of space aside."""
    words = phrase.split()
    if not words:
        return False
    inner = r"\s+".join(map(re.escape, words))
    pattern = _boundary(phrase.strip()[0], r"(?<!\w)") + inner + _boundary(words[-1][-1], r"(?!\w)")
    return re.search(pattern, readable(payload), re.IGNORECASE) is not None


def phrase_filter(
    query: Query, texts: Callable[[str], Iterable[bytes | str]]
) -> Callable[[str], bool] | None:
    """An `allowed` for `rank`: every phrase stands in one of the texts of the key.

    None if the query has no phrases.
    """
    if not query.phrases:
        return None

    def allowed(key: str) -> bool:
        known = [readable(text) for text in texts(key)]
        return all(any(contains_phrase(text, phrase) for text in known) for phrase in query.phrases)

    return allowed


def _boundary(character: str, assertion: str) -> str:
    return assertion if (character.isalnum() or character == "_") and not is_cjk(character) else ""


_Check = Callable[[str, "re.Match[str]"], bool]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to find a word: a pattern, what must hold of a match, and the literal pieces without
    which there is none."""

    pattern: str
    fits: _Check
    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Text:
    """A text to look through; of ASCII also in lower case, where plain search is fast."""

    text: str
    lower: str | None

    @classmethod
    def of(cls, text: str) -> Self:
        return cls(text, text.lower() if text.isascii() else None)

    def spans(self, reading: _Reading) -> list[tuple[int, int]]:
        if self.lower is None or not reading.pattern.isascii():
            found = re.finditer(reading.pattern, self.text, re.IGNORECASE)
        elif all(piece in self.lower for piece in reading.pieces):
            found = re.finditer(reading.pattern, self.lower)
        else:
            return []
        return [match.span() for match in found if reading.fits(self.text, match)]


def _spans(text: _Text, readings: Iterable[_Reading]) -> list[tuple[int, int]]:
    """Where a word stands, by the strictest reading that is there at all."""
    return next(filter(None, map(text.spans, readings)), [])


@lru_cache(maxsize=256)
def _readings(clause: Clause) -> tuple[_Reading, ...]:
    """The strictest first, each once."""
    return tuple({reading.pattern: reading for reading in _all_readings(clause)}.values())


def _all_readings(clause: Clause) -> Iterator[_Reading]:
    last = clause.alternatives[0].terms[-1]
    if last.matching is Matching.PREFIX:
        yield _joined([last.text], _starts_well, rest=True)
        return
    if last.matching is Matching.FUZZY:
        yield _joined([last.text[0]], _near(last.text), rest=True)
        return
    words = words_of(clause.text)
    yield _joined([clause.text], _stands_well)
    if words:
        yield _joined(words, _stands_well)
        yield _joined([p for word in words for p in parts_of(word) or [word]], _stands_well)
    if len(words) == 1:
        root = stem(words[0])
        yield _joined([root.rstrip("ei") or root], _stems_to(root), rest=True)
    elif words:
        yield _Reading("|".join(map(re.escape, map(_lower, words))), _stands_well)


def _joined(pieces: Iterable[str], fits: _Check, *, rest: bool = False) -> _Reading:
    """These pieces with little between them, and (`rest`) to the end of the word."""
    pieces = tuple(map(_lower, pieces))
    return _Reading(_JOINT.join(map(re.escape, pieces)) + r"\w*" * rest, fits, pieces)


def _lower(piece: str) -> str:
    return piece.lower() if piece.isascii() else piece


def _near(word: str) -> _Check:
    def fits(text: str, match: re.Match[str]) -> bool:
        return _starts_well(text, match) and any(nearness(word, [match[0].casefold()]))

    return fits


def _stems_to(root: str) -> _Check:
    def fits(text: str, match: re.Match[str]) -> bool:
        return _starts_well(text, match) and stem(match[0].lower()) == root

    return fits


def _stands_well(text: str, match: re.Match[str]) -> bool:
    start, end = match.span()
    return _between_parts(text, start) and _between_parts(text, end)


def _starts_well(text: str, match: re.Match[str]) -> bool:
    return _between_parts(text, match.start())


def _between_parts(text: str, position: int) -> bool:
    """Whether one part of a word ends and another begins here."""
    if not 0 < position < len(text):
        return True
    before, after = text[position - 1], text[position]
    if before.islower() and after.islower() and before.isascii():
        return False
    if not (before.isalnum() and after.isalnum()) or is_cjk(before) or is_cjk(after):
        return True
    if before.isdigit() != after.isdigit():
        return True
    following = text[position + 1 : position + 2]
    return after.isupper() and (before.islower() or following.islower())


def _window(places: Sequence[Place]) -> tuple[int, int]:
    """First and last line of the window with the most different words; rarer words count more."""
    number: dict[str, int] = {}
    for place in places:
        number[place.word] = number.get(place.word, 0) + 1
    best, chosen = -1.0, (places[0].line, places[0].line)
    start = 0
    for end, place in enumerate(places):
        while place.line - places[start].line >= WINDOW:
            start += 1
        words = {p.word for p in places[start : end + 1][-64:]}
        worth = sum(1 + 1 / number[word] for word in sorted(words))
        if worth > best:
            best, chosen = worth, (places[start].line, place.line)
    return chosen


def _cut(lines: Sequence[str], start: int, end: int, places: Sequence[Place]) -> str:
    shown = "\n".join(line.rstrip("\r") for line in lines[start - 1 : end]).strip()
    if len(shown) <= LONGEST_EXCERPT:
        return shown
    before = sum(len(line) + 1 for line in lines[: start - 1])
    at = next(place.start for place in places if place.line == start) - before
    begin = max(0, at - LONGEST_EXCERPT // 3)
    piece = "\n".join(lines[start - 1 : end])[begin : begin + LONGEST_EXCERPT - 2].strip()
    return ("…" if begin else "") + piece + "…"


def _opening(lines: Sequence[str], first: int, last: int) -> Excerpt | None:
    for number in range(first, last + 1):
        if lines[number - 1].strip():
            return Excerpt((number, number), lines[number - 1].strip()[:LONGEST_EXCERPT])
    return None
