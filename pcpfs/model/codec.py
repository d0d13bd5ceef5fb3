"""Canonical bytes: UTF-8 JSON, keys sorted, one top-level member a line, values compact.

A line feed ends the document. No floats and no `null`: two writers that mean
the same write the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from functools import lru_cache

from pcpfs.errors import Corrupt

_NOT_CANONICAL = "a canonical document holds strings, whole numbers, booleans, lists and objects"


def canonical(members: Mapping[str, object], sound: Container[str] = ()) -> bytes:
    """The canonical bytes of a document; members that are None are absent, floats are refused.

    The members in `sound` are known to hold neither, and are not looked through.
    """
    lines = [
        f"{_name(key)}:{_compact(members[key] if key in sound else _checked(members[key]))}"
        for key in sorted(members)
        if members[key] is not None
    ]
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode("utf-8")


def decode(raw: bytes, what: str) -> dict[str, object]:
    """Read one document; raise Corrupt, naming `what`, if it is no JSON object."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{what} is no JSON: {error}", path=what) from error
    if not isinstance(value, dict):
        raise Corrupt(f"{what} is no JSON object", path=what)
    return value


_compact = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode
_name = lru_cache(256)(_compact)


def _checked(value: object) -> object:
    kind = value.__class__
    if kind is str or kind is int or kind is bool or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _checked(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        return [_checked(item) for item in value]
    raise TypeError(f"{_NOT_CANONICAL}, not {kind.__name__}")
