"""How text falls into words, and words into the terms that are indexed. Both sides use this.

- chunk: what stands between white space, brackets, quotes, commas and operators: `self`, `C++`
- word: a run of letters, digits and `_`: `getUserById`, `user_id`; CJK runs are words of their own
- part: `get`, `user`, `by`, `id`; `http`, `server`, `error`; `utf`, `8`
- operator: a run of ASCII punctuation that programs use: `->`, `::`, `==`

Everything is case folded (and, beyond ASCII, NFKC). Nothing is cut off: of a word longer than
LONGEST the term is its start and a digest, so that the dictionary stays small and it is found.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata

LONGEST = 120
LONGEST_START = LONGEST - 17  # of a longer word, what its term has as it is
_NOISE = 6  # a digest or base64 text: its letter and digit runs say nothing

_RUNS = re.compile(
    r"[A-Z]{2,}s(?![A-Za-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", re.ASCII
)
_NUMBERED = re.compile("[A-Za-z][0-9]|[0-9][A-Za-z]")
_MARKED = re.compile(r"[A-Za-z]{1,3}(?:\+\+|#)(?![A-Za-z0-9_])")  # C++, C#, g++
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
_WORD = re.compile(
    "[\\w\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0711\u0730-\u074a\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f87"
    "\u102b-\u103e\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)  # letters, digits, `_` and the marks that belong to letters, which `\\w` leaves out
_CJK = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+)"
)  # scripts without spaces between words

_OPERATOR_CHARACTERS = b"!#$%&*+-./:<=>?@\\^`|~"
_INSIDE = b"+#"  # may belong to a chunk: C++


def _table(kept: bytes) -> bytes:
    """A table for `bytes.translate` that turns all but these bytes into spaces."""
    return bytes(byte if byte in kept else 0x20 for byte in range(256))


_WORD_BYTES = bytes(b for b in range(256) if b >= 0x80 or chr(b).isalnum() or b == 0x5F)
CHUNKS = _table(_WORD_BYTES + _INSIDE)
OPERATORS = _table(_OPERATOR_CHARACTERS)


def words_of(chunk: str) -> list[str]:
    """The words of a chunk as written, CJK runs apart."""
    if chunk.isascii():
        return _ASCII_WORD.findall(chunk)
    words = _WORD.findall(unicodedata.normalize("NFKC", chunk))
    return [piece for word in words for piece in _CJK.split(word) if piece]


def marked(chunk: str) -> list[str]:
    """Names that end in an operator: `c++`, `c#`."""
    return [name.lower() for name in _MARKED.findall(chunk)] if _has_mark(chunk) else []


def _has_mark(chunk: str) -> bool:
    return "+" in chunk or "#" in chunk


def is_cjk(word: str) -> bool:
    return _CJK.match(word) is not None


def bigrams(word: str) -> list[str]:
    """The adjacent pairs of a CJK run; a single character is itself."""
    return [word[i : i + 2] for i in range(len(word) - 1)] or [word]


def fold(word: str) -> str:
    """The term of a whole word."""
    folded = word.casefold()
    return folded if len(folded) <= LONGEST else _shortened(folded)


def _shortened(word: str) -> str:
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{word[:LONGEST_START]}~{digest}"


def parts_of(word: str) -> list[str]:
    """The parts of a word, folded; empty if the word has no parts but itself."""
    runs = [part for piece in word.split("_") if piece for part in _runs(piece)]
    return [fold(part) for part in runs] if runs != [word] else []


def _runs(piece: str) -> list[str]:
    if len(_NUMBERED.findall(piece)) > _NOISE:
        return [piece]
    if piece.isascii():
        return _RUNS.findall(piece)
    shape = "".join(_class(character) for character in piece)
    return [piece[m.start() : m.end()] for m in _RUNS.finditer(shape)]


def _class(character: str) -> str:
    if character.isdigit():
        return "0"
    return "A" if character.isupper() else "a"
