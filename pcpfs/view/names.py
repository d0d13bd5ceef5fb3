"""Names of files for any text: readable on Linux, macOS and Windows, none of two texts."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import unquote

from pcpfs.model.names import is_device

MOST_BYTES = 255
"""The longest name that common file systems take, in UTF-8."""

_UNSAFE = re.compile(
    '[\x00-\x1f/%<>:"|?*\\\\\x7f-\x9f'  # what a name cannot hold somewhere, or a terminal obeys
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"  # reorders a line, or cannot be seen
    "\u2028\u2029\ud800-\udfff]"  # ends a line; bytes that were no UTF-8
)
_CUT = "%~"
"""Stands in no other name: elsewhere two digits follow a `%`, or nothing."""
_DIGITS = 16
_LONGEST_ENDING = 20
_HALF_A_BYTE = re.compile("%[0-9a-f]?$")
_HALF_A_CHARACTER = re.compile("[\udc80-\udcff]{1,3}$")


def safe_name(text: str) -> str:
    """A file name for any text (odd bytes as surrogate escapes): what is not safe everywhere is
    percent-encoded, and `plain_name` reads it back. What is too long is cut, and a digest tells it
    from others that begin so."""
    name = _UNSAFE.sub(_encoded, text)
    if name in ("", ".", ".."):
        return {"": "%", ".": "%2e", "..": "%2e%2e"}[name]
    if name[-1] in ". ":
        name = f"{name[:-1]}%{ord(name[-1]):02x}"
    if name[0] == " " or is_device(name):
        name = f"%{ord(name[0]):02x}{name[1:]}"
    return name if len(name.encode()) <= MOST_BYTES else _cut(name)


def plain_name(name: str) -> str | None:
    """The text that `safe_name` made this name of; None if it made it of none, or cut it."""
    text = "" if name == "%" else unquote(name, "utf-8", "surrogateescape")
    return text if _CUT not in name and safe_name(text) == name else None


def beginning(name: str) -> str | None:
    """How the text of a name that was cut begins; None for any other name."""
    start, cut, _ = name.partition(_CUT)
    return _HALF_A_CHARACTER.sub("", unquote(start, "utf-8", "surrogateescape")) if cut else None


def _encoded(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogateescape"))


def _cut(name: str) -> str:
    _, dot, ending = name.rpartition(".")
    tail = f"{dot}{ending}" if len(ending.encode()) < _LONGEST_ENDING else ""
    tail = _CUT + hashlib.sha256(name.encode()).hexdigest()[:_DIGITS] + tail
    head = name.encode()[: MOST_BYTES - len(tail.encode())].decode("utf-8", "ignore")
    return _HALF_A_BYTE.sub("", head) + tail
