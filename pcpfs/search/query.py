"""The literal query of a person or a model, made into clauses that an index can answer.

`"phrases"`, `prefix*` and `fuzzy~` are the only syntax; everything else is text that is looked
for. Nothing raises: what holds no word and no operator becomes a query without clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from pcpfs.ports import FIELDS
from pcpfs.search.analysis import EXACT, dotted_term
from pcpfs.search.stemmer import stem
from pcpfs.search.words import LONGEST_START, bigrams, fold, is_cjk, marked, parts_of, words_of

MOST_CLAUSES = 64
"""Further words of a longer query are not looked for."""

ALL_FIELDS = tuple(range(len(FIELDS)))
NAME_ONLY = (FIELDS.index("name"),)
PROSE_ONLY = (FIELDS.index("prose"),)

STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be been but by can could did do does for from had
    has have how i if in into is it its may me my no not of on or our should so such than that the
    their them then there these they this those to up was we were what when where which while who
    why will with would you your
    """.split()  # noqa: SIM905 - a list of ninety literals is no easier to read
)

_PHRASE = re.compile(r'"([^"]*)"')
_SEPARATORS = "./:-,;_@#'()[]{}<>\\"
_SYNTAX = re.compile(r"(.*\w)([*~])", re.DOTALL)


class Matching(Enum):
    """How a term is looked up in the dictionary of an index."""

    EXACT = "exact"
    PREFIX = "prefix"
    FUZZY = "fuzzy"


@dataclass(frozen=True, slots=True)
class Term:
    """A term, or the terms like it, in these fields."""

    text: str
    matching: Matching = Matching.EXACT
    fields: tuple[int, ...] = ALL_FIELDS


@dataclass(frozen=True, slots=True)
class Alternative:
    """A document matches if it has all of these terms; `percent` is what that is worth.

    `loose`: they are parts of the word that was asked for.
    """

    terms: tuple[Term, ...]
    percent: int = 100
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Clause:
    """One word of the query. A document matches by any alternative; each adds to its score.

    `exact` is the name that would be this word exactly. `required`: a document without it is no
    hit (the words of a phrase); otherwise it only comes after those that have it.
    """

    text: str
    alternatives: tuple[Alternative, ...]
    exact: Term | None = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for. `phrases` are to be checked against the text (`excerpt.phrase_filter`)."""

    text: str
    clauses: tuple[Clause, ...] = ()
    phrases: tuple[str, ...] = ()


def parse(text: str) -> Query:
    """Read a query; never raises."""
    phrases = tuple(dict.fromkeys(p.strip() for p in _PHRASE.findall(text) if p.strip()))
    clauses: dict[str, Clause] = {}
    for clause in _all_clauses(text, phrases):
        clauses.setdefault(clause.text.casefold(), clause)
        if len(clauses) == MOST_CLAUSES:
            break
    return Query(text, _without_stop_words(tuple(clauses.values())), phrases)


def _all_clauses(text: str, phrases: Iterable[str]) -> Iterator[Clause]:
    for phrase in phrases:
        yield from _phrase_clauses(phrase)
    for word in _PHRASE.sub(" ", text).replace('"', " ").split():
        found = _clause(word)
        if found is not None:
            yield found


def _without_stop_words(clauses: tuple[Clause, ...]) -> tuple[Clause, ...]:
    """Stop words count only where there is nothing else to look for."""
    others = tuple(c for c in clauses if c.required or c.text.casefold() not in STOP_WORDS)
    return others or clauses


def _phrase_clauses(phrase: str) -> Iterator[Clause]:
    """Every whole word of a phrase is required; its operators only if it has no word."""
    words = words_of(phrase)
    for word in words:
        yield Clause(word, (_all_of(_whole(word)),), required=True)
    if not words:
        for character in dict.fromkeys("".join(phrase.split())):
            yield Clause(character, (_all_of([character]),), required=True)


def _clause(word: str) -> Clause | None:
    syntax = _SYNTAX.fullmatch(word)
    if syntax is not None:
        matching = Matching.PREFIX if syntax[2] == "*" else Matching.FUZZY
        return _expanding(syntax[1], word, matching)
    words = words_of(word)
    if not words:
        return _operator(word)
    alternatives = tuple(_alternatives(word, words))
    text = word if marked(word) else word.strip(_SEPARATORS)
    return Clause(text or words[0], alternatives, _exact(words))


def _operator(run: str) -> Clause | None:
    """A word of punctuation only: that very run."""
    return Clause(run, (_all_of([run]),)) if run.isprintable() else None


def _exact(words: list[str]) -> Term:
    return Term(EXACT + fold(".".join(words)), fields=NAME_ONLY)


def _alternatives(word: str, words: list[str]) -> Iterator[Alternative]:
    """From the strictest to the loosest: dotted whole, its words, the parts of those, the stem."""
    operators = _inner_operators(word)
    several = len(words) > 1
    seen: set[tuple[str, ...]] = set()
    for percent, loose, terms in (
        (100, False, marked(word)),
        (100, False, [dotted_term(".".join(words))] if several else []),
        (60 if several else 100, False, [t for w in words for t in _whole(w)] + operators),
        (30 if several else 50, True, [p for w in words for p in _parts(w)] + operators),
    ):
        key = tuple(dict.fromkeys(terms))
        if key and key not in seen:
            seen.add(key)
            yield Alternative(tuple(map(Term, key)), percent, loose)
    yield from _stemmed(words)


def _whole(word: str) -> list[str]:
    return bigrams(fold(word)) if is_cjk(word) else [fold(word)]


def _parts(word: str) -> list[str]:
    return parts_of(word) or _whole(word)


def _stemmed(words: list[str]) -> Iterator[Alternative]:
    whole = fold(words[0])
    if len(words) == 1 and stem(whole) != whole:
        yield Alternative((Term(stem(whole), fields=PROSE_ONLY),), 70)


def _inner_operators(word: str) -> list[str]:
    """The operators between the words that are more than separators: `^` in `a^b`."""
    if marked(word):
        return []
    runs = re.split(r"\w+", word)[1:-1]
    return [run for run in runs if run.strip(_SEPARATORS)]


def _expanding(word: str, text: str, matching: Matching) -> Clause | None:
    """The last word is the start of a term, or nearly one; those before it are wanted whole."""
    *before, last = words_of(word) or [""]
    if not last:
        return None
    whole = [Term(term) for earlier in before for term in _whole(earlier)]
    if is_cjk(last):
        return Clause(text, (Alternative((*whole, *map(Term, _whole(last)))),))
    return Clause(text, (Alternative((*whole, Term(last.casefold()[:LONGEST_START], matching))),))


def _all_of(terms: Iterable[str]) -> Alternative:
    return Alternative(tuple(Term(term) for term in dict.fromkeys(terms)))
