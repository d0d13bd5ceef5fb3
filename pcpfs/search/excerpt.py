"""Where the words of a query stand in a text: lines, an excerpt, the span that holds them best.

Engines keep no positions, so this looks at the text itself, with the same idea of what a word
matches: whole first, else by its parts, else by its stem.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

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
    places = []
    for clause in query.clauses:
        for start, end in _spans(text, clause):
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

    None if no range has any: the way from a hit in a file to the symbol around it.
    """
    best: tuple[int, int, int] | None = None
    for index, (first, last) in enumerate(spans):
        words = {place.word for place in places if first <= place.line <= last}
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


def _spans(text: str, clause: Clause) -> list[tuple[int, int]]:
    """Where the word stands, by the strictest reading that is there at all."""
    for pattern, fits in _readings(clause):
        found = [m.span() for m in re.finditer(pattern, text, re.IGNORECASE) if fits(text, m)]
        if found:
            return found
    return []


_Check = Callable[[str, "re.Match[str]"], bool]


def _readings(clause: Clause) -> Iterator[tuple[str, _Check]]:
    last = clause.alternatives[0].terms[-1]
    if last.matching is Matching.PREFIX:
        yield re.escape(last.text) + r"\w*", _starts_well
        return
    if last.matching is Matching.FUZZY:
        yield re.escape(last.text[0]) + r"\w*", _near(last.text)
        return
    words = words_of(clause.text)
    yield re.escape(clause.text), _stands_well
    if words:
        yield _JOINT.join(map(re.escape, words)), _stands_well
        parts = [part for word in words for part in parts_of(word) or [word]]
        yield _JOINT.join(map(re.escape, parts)), _stands_well
    if len(words) == 1:
        root = stem(words[0])
        yield re.escape(root.rstrip("ei") or root) + r"\w*", _stems_to(root)
    else:
        yield "|".join(map(re.escape, words)), _stands_well


def _near(word: str) -> _Check:
    def fits(text: str, match: re.Match[str]) -> bool:
        return _starts_well(text, match) and any(nearness(word, [match[0].casefold()]))

    return fits


def _stems_to(root: str) -> _Check:
    def fits(text: str, match: re.Match[str]) -> bool:
        return _starts_well(text, match) and stem(match[0].lower()) == root

    return fits


def _stands_well(text: str, match: re.Match[str]) -> bool:
    return _starts_well(text, match) and _ends_well(text, match)


def _starts_well(text: str, match: re.Match[str]) -> bool:
    return _between_parts(text, match.start())


def _ends_well(text: str, match: re.Match[str]) -> bool:
    return _between_parts(text, match.end())


def _between_parts(text: str, position: int) -> bool:
    """Whether one part of a word ends and another begins here."""
    if not 0 < position < len(text):
        return True
    before, after = text[position - 1], text[position]
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
