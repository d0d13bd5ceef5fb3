"""The words of entries and questions: folded, split and stemmed, the same on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container

from pcpfs.search.analysis import code_terms
from pcpfs.search.query import STOP_WORDS
from pcpfs.search.stemmer import stem
from pcpfs.search.words import CHUNKS

_REMEMBERED = 200_000


class Words:
    """Finds the terms of texts; remembers those of the chunks that it has seen."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[str, ...]] = {}

    def count(self, text: str) -> Counter[str]:
        """How often each term is in a text; stop words are none."""
        found: list[str] = []
        known = self._known
        for chunk in text.encode("utf-8", "replace").translate(CHUNKS).split():
            terms = known.get(chunk)
            found += self._learn(chunk) if terms is None else terms
        return Counter(found)

    def of_query(self, text: str) -> tuple[str, ...]:
        """The terms of a question, each once; where it has stop words only, those."""
        found = tuple(self.count(text))
        if found:
            return found
        chunks = text.encode("utf-8", "replace").translate(CHUNKS).split()
        return tuple(dict.fromkeys(term for chunk in chunks for term in _terms(chunk)))

    def _learn(self, chunk: bytes) -> tuple[str, ...]:
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        terms = _terms(chunk, STOP_WORDS)
        self._known[chunk] = terms
        return terms


def _terms(chunk: bytes, without: Container[str] = ()) -> tuple[str, ...]:
    found = code_terms(chunk.decode("utf-8", "replace"))
    return tuple(dict.fromkeys(stem(term) for term in found if term not in without))
