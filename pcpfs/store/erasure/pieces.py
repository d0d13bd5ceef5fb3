"""Pieces of a content by which it is known again, wherever a part of it has ended up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_LINE, _WORD, _SLICE = 16, 10, 32
_LONGEST = 400
_OF_EACH, _OF_ALL = (8, 4), 64
_WORDS = re.compile(rb"[\w-]{%d,80}" % _WORD)


def pieces(contents: Iterable[bytes]) -> tuple[bytes, ...]:
    """Some of the longest lines and words of each content (of binary ones, slices); of a short
    content all of it."""
    found: dict[bytes, None] = {}
    for content in contents:
        found.update(dict.fromkeys(_pieces(content)))
    return tuple(found)[:_OF_ALL]


def _pieces(content: bytes) -> Iterator[bytes]:
    if b"\0" in content:
        middle = len(content) // 2
        for start in (0, middle, max(0, len(content) - _SLICE)):
            yield content[start : start + _SLICE]
        return
    lines = {line.strip()[:_LONGEST] for line in content.splitlines()}
    long = sorted((line for line in lines if len(line) >= _LINE), key=lambda x: (-len(x), x))
    yield from long[: _OF_EACH[0]]
    words = sorted(set(_WORDS.findall(content)), key=lambda x: (-len(x), x))
    for word in words[: _OF_EACH[1]]:
        yield word
        yield word.lower()
    if not long and len(content.strip()) >= _LINE // 4:
        yield content.strip()
