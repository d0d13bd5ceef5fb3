"""Answers in parts (PCP-S4): cursors that hold while others write.

A cursor tells what was given, never how much: writes in between neither repeat an item nor leave
one out. It belongs to one question, and says nothing that the answer did not say.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pcpfs.errors import Conflict, UsageError
from pcpfs.model.requests import MOST_RESULTS

Item = TypeVar("Item")
_MARK, _QUESTION = 6, 8
DEFAULT_PART = 50


@dataclass(frozen=True, slots=True)
class Part(Generic[Item]):
    """Some items of a list, in its order; with a cursor there are more."""

    items: tuple[Item, ...]
    cursor: str | None = None


def checked_limit(limit: int) -> int:
    """UsageError for a limit that no answer has."""
    if not 1 <= limit <= MOST_RESULTS:
        raise UsageError(f"a limit is between 1 and {MOST_RESULTS}, not {limit}")
    return limit


def part_of(
    items: Sequence[Item],
    key: Callable[[Item], str],
    question: Sequence[object],
    limit: int = DEFAULT_PART,
    cursor: str | None = None,
) -> Part[Item]:
    """The next items of a list whose order does not change, each told by its own key: those after
    the last one given. Conflict if that one is gone."""
    checked_limit(limit)
    start = 0
    if cursor is not None:
        last = _opened(cursor, question)
        places = [n for n, item in enumerate(items) if _digest(key(item), _MARK) == last]
        if not places:
            raise Conflict("what this cursor follows is no longer listed; begin again without it")
        start = places[-1] + 1
    given = tuple(items[start : start + limit])
    more = start + limit < len(items)
    after = _closed(question, _digest(key(given[-1]), _MARK)) if more else None
    return Part(given, after)


def ordered_part(
    items: Iterable[Item],
    key: Callable[[Item], tuple[str, ...]],
    question: Sequence[object],
    limit: int = DEFAULT_PART,
    cursor: str | None = None,
) -> Part[Item]:
    """The next items in the order of their keys, which the answer shows: those behind the last one
    given, also if that one is gone meanwhile."""
    checked_limit(limit)
    there = sorted(items, key=key)
    if cursor is not None:
        last = _last_key(_opened(cursor, question))
        there = [item for item in there if key(item) > last]
    given = tuple(there[:limit])
    if len(there) <= limit:
        return Part(given)
    return Part(given, _closed(question, json.dumps(key(given[-1])).encode("ascii")))


def _last_key(raw: bytes) -> tuple[str, ...]:
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise _no_cursor() from error
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise _no_cursor()
    return tuple(value)


class Given:
    """What an order that may change has given so far: the items are named in the cursor."""

    def __init__(self, question: Sequence[object], cursor: str | None) -> None:
        self._question = question
        raw = b"" if cursor is None else _opened(cursor, question)
        if len(raw) % _MARK:
            raise _no_cursor()
        self._marks = [raw[n : n + _MARK] for n in range(0, len(raw), _MARK)]
        self._known = set(self._marks)

    def __len__(self) -> int:
        return len(self._marks)

    def __contains__(self, identity: str) -> bool:
        return _digest(identity, _MARK) in self._known

    def and_then(self, identities: Iterable[str]) -> str:
        """The cursor after these, too."""
        marks = (*self._marks, *(_digest(identity, _MARK) for identity in identities))
        return _closed(self._question, b"".join(marks))


def _opened(cursor: str, question: Sequence[object]) -> bytes:
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise _no_cursor() from error
    if len(raw) <= _QUESTION:
        raise _no_cursor()
    if raw[:_QUESTION] != _about(question):
        raise UsageError("this cursor belongs to another question; ask the same one again")
    return raw[_QUESTION:]


def _closed(question: Sequence[object], rest: bytes) -> str:
    return base64.urlsafe_b64encode(_about(question) + rest).decode("ascii")


def _about(question: Sequence[object]) -> bytes:
    return _digest(json.dumps([str(part) for part in question]), _QUESTION)


def _digest(text: str, size: int) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[:size]


def _no_cursor() -> UsageError:
    return UsageError("this is no cursor; take it from the answer before")
