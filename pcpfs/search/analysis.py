"""From raw text to the terms of an index document; the one analysis for documents and queries.

Each distinct chunk is analysed once and remembered (`Analyser`), the rest is counting at the speed
of C: translate the bytes, split, count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pcpfs.ports import FIELDS, AnalysedDocument, SearchEngine
from pcpfs.search.stemmer import stem
from pcpfs.search.words import (
    CHUNKS,
    LONGEST,
    OPERATORS,
    bigrams,
    fold,
    is_cjk,
    marked,
    parts_of,
    words_of,
)

VERSION = 2
"""Changes whenever any text would get other terms."""

EXACT = "="
"""Starts the term of a whole name: `=model.save` and `=save` for the symbol `Model.save`."""

_REMEMBERED = 500_000
_PART_BYTES = 1 << 20
_FEW_BYTES = 255  # hold no term more often than a posting tells
_SPACE = re.compile(rb"\s")
_TAILS = 8  # of a dotted name are exact names too
_DOTTED = re.compile(r"\w+(?:(?:\.|::)\w+)+")
_NAME, _SIGNATURE, _PATH, _TITLE, _PROSE, _BODY = range(len(FIELDS))
_SHIFTED = tuple(tuple(count << 8 * field for count in range(256)) for field in range(len(FIELDS)))


@dataclass(frozen=True, slots=True)
class Document:
    """A document as its texts: what the index is to find under `key`.

    A symbol has name (qualified), signature, path and prose (its documentation); a file has path,
    title and body; a written page has title and prose. Text that is not code belongs into `prose`,
    where it is stemmed. A body may be bytes: UTF-8, anything else in it separates words.
    """

    key: str
    name: str = ""
    signature: str = ""
    path: str = ""
    title: str = ""
    prose: str | bytes = ""
    body: str | bytes = ""
    factor_percent: int = 100


def index_version(engine: SearchEngine) -> str:
    """Names the engine and the analysis: an index of another version must be built anew."""
    return f"{engine.name}-{engine.version}-{VERSION}"


class Analyser:
    """Analyses documents; remembers the terms of the chunks that it has seen."""

    def __init__(self) -> None:
        self._plain = _Remembered(code_terms)
        self._stemmed = _Remembered(prose_terms)
        self._operators = _Remembered(operator_terms)
        self._path: str | bytes = ""
        self._of_path: tuple[dict[str, int], int] = ({}, 0)

    def analyse(self, document: Document) -> AnalysedDocument:
        """The document's terms; a pure function of its texts."""
        terms: dict[str, int] = {}
        lengths = [0] * len(FIELDS)
        for field, text in _texts(document):
            if text:
                lengths[field] = self._take(terms, field, text)
        return AnalysedDocument(document.key, terms, tuple(lengths), document.factor_percent)

    def _take(self, terms: dict[str, int], field: int, text: str | bytes) -> int:
        """Add the postings of one field; its length. The symbols of a file share the path."""
        if field == _PATH and text != self._path:
            found: dict[str, int] = {}
            self._of_path = found, self._add(found, field, text)
            self._path = text
        if field != _PATH:
            return self._add(terms, field, text)
        _merge(terms, self._of_path[0])
        return self._of_path[1]

    def _add(self, terms: dict[str, int], field: int, text: str | bytes) -> int:
        raw = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        wholes: Sequence[str] = ()
        if field in (_NAME, _PATH, _TITLE):
            wholes = whole_terms(field, raw.decode("utf-8", "replace"))
        known = self._stemmed if field == _PROSE else self._plain
        if len(raw) > _FEW_BYTES:
            return self._add_many(terms, field, raw, known, wholes)
        one, get = _SHIFTED[field][1], terms.get
        chunks = raw.translate(CHUNKS).split()
        for chunk in chunks:
            for term in known[chunk]:
                terms[term] = get(term, 0) + one
        for run in raw.translate(OPERATORS).split():
            for term in self._operators[run]:
                terms[term] = get(term, 0) + one
        for term in wholes:
            terms[term] = get(term, 0) + one
        return len(chunks)

    def _add_many(
        self,
        terms: dict[str, int],
        field: int,
        raw: bytes,
        known: Mapping[bytes, tuple[str, ...]],
        wholes: Sequence[str],
    ) -> int:
        """The same for texts so long that a term may be in them more often than a posting tells."""
        chunks = _chunks(raw.translate(CHUNKS))
        counts = _count(known, chunks)
        operators = _count(self._operators, _chunks(raw.translate(OPERATORS)))
        for more in (operators, Counter(wholes)):
            _merge(counts, more)
        _merge(terms, _shifted(counts, _SHIFTED[field]))
        return chunks.total()


class _Remembered(dict[bytes, tuple[str, ...]]):
    """The terms of each chunk, found out once; forgets all when it has grown too large."""

    def __init__(self, find: Callable[[str], tuple[str, ...]]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, chunk: bytes) -> tuple[str, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[chunk] = self._find(chunk.decode("utf-8", "replace"))
        return found


def _texts(document: Document) -> tuple[tuple[int, str | bytes], ...]:
    """The fields and their texts, those that are long first."""
    return (
        (_BODY, document.body),
        (_PROSE, document.prose),
        (_TITLE, document.title),
        (_PATH, document.path),
        (_SIGNATURE, document.signature),
        (_NAME, document.name),
    )


def _chunks(text: bytes) -> Counter[bytes]:
    """What white space parts, counted; a large text part by part, since as a list of its words it
    would take many times its size."""
    counts: Counter[bytes] = Counter()
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + _PART_BYTES)
        end = space.start() if space else len(text)
        counts.update(text[start:end].split())
        start = end
    return counts


def _count(known: Mapping[bytes, tuple[str, ...]], chunks: Mapping[bytes, int]) -> dict[str, int]:
    counts: dict[str, int] = {}
    get = counts.get
    for chunk, count in chunks.items():
        for term in known[chunk]:
            counts[term] = get(term, 0) + count
    return counts


def _shifted(counts: Mapping[str, int], shifted: Sequence[int]) -> dict[str, int]:
    """Counts as postings of one field; the numbers are shared, not made anew."""
    try:
        return {term: shifted[count] for term, count in counts.items()}
    except IndexError:
        return {term: shifted[min(count, 255)] for term, count in counts.items()}


def _merge(terms: dict[str, int], more: Mapping[str, int]) -> None:
    """Add the numbers of terms to those that are known."""
    if not terms:
        terms.update(more)
        return
    get = terms.get
    for term, number in more.items():
        terms[term] = get(term, 0) + number


def code_terms(chunk: str) -> tuple[str, ...]:
    """The terms of a chunk outside prose: words whole and in parts, each once."""
    if chunk.isascii() and chunk.isalpha() and chunk.islower() and len(chunk) <= LONGEST:
        return (chunk,)
    terms: dict[str, None] = dict.fromkeys(marked(chunk))
    for word in words_of(chunk):
        terms.update(dict.fromkeys(word_terms(word)))
    return tuple(terms)


def word_terms(word: str) -> list[str]:
    """The terms of one word: whole, without outer `_`, and its parts; CJK pairs and characters."""
    if is_cjk(word):
        return [*bigrams(word), *word]
    whole = fold(word)
    bare = whole.strip("_")
    return [whole, *([bare] if bare and bare != whole else []), *parts_of(word)]


def prose_terms(chunk: str) -> tuple[str, ...]:
    """The terms of a chunk of prose: those of code, and the stem of each."""
    terms = dict.fromkeys(code_terms(chunk))
    terms.update(dict.fromkeys([stem(term) for term in terms]))
    return tuple(terms)


def operator_terms(run: str) -> tuple[str, ...]:
    """The terms of a run of operators: whole, and each character."""
    return tuple(dict.fromkeys([fold(run), *run]))


def whole_terms(field: int, text: str) -> list[str]:
    """Dotted names as a whole; for a name also the marks of exactness, for each dotted tail."""
    dotted = [dotted_term(name) for name in _DOTTED.findall(text)]
    return dotted + _exact_terms(text) if field == _NAME else dotted


def dotted_term(name: str) -> str:
    return fold(name.replace("::", "."))


def _exact_terms(name: str) -> list[str]:
    pieces = name.replace("::", ".").split(".")
    starts = {0, *range(max(0, len(pieces) - _TAILS), len(pieces))}
    return [EXACT + fold(".".join(pieces[start:])) for start in sorted(starts)]
