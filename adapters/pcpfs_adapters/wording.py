"""Signatures and documentation as one line of text each."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pcpfs_adapters.kinds import VALUES

_TAIL = re.compile(r"(?:\s*(?:=>|[:;{=]))+\s*$")
_OPENING = re.compile(r"\s*(?:=?\s*[(\[{]|\\)\s*$")
_STRING = re.compile(r"^[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*?)(?:\1)?$", re.DOTALL)
_COMMENT_LEAD = re.compile(r"^\s*(?:/\*+!?|///?!?|\*+(?!/)|#+!?|--+)?\s?")
_COMMENT_TAIL = re.compile(r"\s*\*+/\s*$")
_LONGEST = {"value": 200, "signature": 2000, "doc": 500}


def signature(kind: str, pieces: Iterable[str]) -> str:
    """The pieces up to the body, white space folded, without what only opens the body."""
    text = " ".join(pieces)
    if kind in VALUES:
        first, _, more = text.strip().partition("\n")
        first = _OPENING.sub("", first) if more else first.removesuffix(";")
        return _cut(" ".join(first.split()), _LONGEST["value"])
    return _cut(_TAIL.sub("", " ".join(text.split())), _LONGEST["signature"])


def first_line(documentation: str, noise: str = "") -> str:
    """The first line of a comment or doc string that says something."""
    for line in _stripped(documentation):
        said = " ".join(re.sub(noise, "", line).split() if noise else line.split())
        if any(character.isalnum() for character in said):
            return _cut(said, _LONGEST["doc"])
    return ""


def _stripped(documentation: str) -> Iterable[str]:
    string = _STRING.match(documentation)
    if string:
        return string[2].splitlines()
    return (
        _COMMENT_LEAD.sub("", _COMMENT_TAIL.sub("", line)) for line in documentation.splitlines()
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
