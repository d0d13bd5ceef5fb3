"""Envelopes as lines of JSON: liberal in what is read, strict in what is written.

Reading ignores unknown members (U1), takes `null` for absent and `5.0` for 5, and passes over a
byte order mark. Writing omits what is absent; it knows neither `null` nor a float for an integer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from math import isfinite
from typing import Any, TypeVar, get_args, get_type_hints

from pcpfs.errors import BadMessage
from pcpfs.model.cgp import ENVELOPES, Envelope

LARGEST_COUNT = 2**32 - 1

_BY_TYPE: Mapping[str, type[Any]] = {kind.type: kind for kind in ENVELOPES}
Reader = Callable[[object, str], Any]
T = TypeVar("T")


def read_envelope(line: bytes | str) -> Envelope:
    """One line as an envelope; BadMessage otherwise, with the `id` and `type` that it had."""
    value = _parsed(line)
    if not isinstance(value, Mapping):
        raise BadMessage("an envelope is a JSON object with a type")
    named = {name: value[name] for name in ("id", "type") if isinstance(value.get(name), str)}
    kind = _BY_TYPE.get(named.get("type", ""))
    if kind is None:
        raise BadMessage(f"there is no envelope of type {_shown(value.get('type'))}", **named)
    try:
        envelope: Envelope = read(kind, value, kind.type)
    except BadMessage as error:
        raise BadMessage(error.message, **named) from error
    return envelope


def read(kind: type[T], value: object, where: str) -> T:
    """A value of one of the classes of `cgp`; BadMessage says which member is wrong."""
    if not isinstance(value, Mapping):
        raise BadMessage(f"{where} is an object, not {_shown(value)}")
    members: dict[str, Any] = {}
    hashable: Any = kind
    for name, reader, required in _members_of(hashable):
        given = value.get(name)
        if given is not None:
            members[name] = reader(given, f"{where}.{name}")
        elif required:
            raise BadMessage(f"{where}.{name} is missing")
    return kind(**members)


def write_envelope(envelope: Envelope) -> bytes:
    """One line with its line feed."""
    return write({"type": envelope.type, **members(envelope)}) + b"\n"


def write(value: object) -> bytes:
    """Compact JSON, in UTF-8. A lone surrogate that was sent to us can only be echoed escaped."""
    try:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), allow_nan=False
        ).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def members(value: Any) -> dict[str, object]:
    """A value as JSON; what is absent or empty by default is left away."""
    found = {}
    for field in fields(value):
        content = getattr(value, field.name)
        optional = field.default is not MISSING
        if content is None or (optional and content == ()):
            continue
        found[field.name] = _plain(content)
    return found


def _plain(content: object) -> object:
    if isinstance(content, tuple):
        return [_plain(item) for item in content]
    if isinstance(content, str | int | float):
        return content
    return members(content)


def _parsed(line: bytes | str) -> object:
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)
    except RecursionError as error:
        raise BadMessage("the line is nested too deeply") from error
    except ValueError as error:
        raise BadMessage(f"the line is no JSON: {error}") from error


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON number")


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else type(value).__name__
    return repr(text if len(text) <= 40 else text[:40] + "…")


def text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise BadMessage(f"{where} is a string, not {_shown(value)}")
    return value


def flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise BadMessage(f"{where} is true or false, not {_shown(value)}")
    return value


def number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
        raise BadMessage(f"{where} is a number, not {_shown(value)}")
    return value


def count(value: object, where: str) -> int:
    """A whole number of 32 bits; a float that is one is taken."""
    given = number(value, where)
    if given != int(given) or not 0 <= given <= LARGEST_COUNT:
        raise BadMessage(f"{where} is a whole number from 0 to {LARGEST_COUNT}")
    return int(given)


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _list_of(reader: Reader) -> Reader:
    def many(value: object, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise BadMessage(f"{where} is an array, not {_shown(value)}")
        return tuple(reader(item, f"{where}[{index}]") for index, item in enumerate(value))

    return many


_SCALARS: Mapping[Any, Reader] = {str: text, bool: flag, int: count, float: number}


def _reader_of(hint: Any) -> Reader:
    """How a member of this type is read: scalars, tuples of one type, or a class of `cgp`."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    arguments = [argument for argument in get_args(hint) if argument is not type(None)]
    if not arguments:
        return lambda value, where: read(hint, value, where)
    if arguments[-1] is Ellipsis:
        return _list_of(_reader_of(arguments[0]))
    return _reader_of(arguments[0])


@cache
def _members_of(kind: Any) -> tuple[tuple[str, Reader, bool], ...]:
    hints = get_type_hints(kind)
    return tuple(
        (field.name, _reader_of(hints[field.name]), field.default is MISSING)
        for field in fields(kind)
    )
