"""Signatures and documentation as one line of text each."""

from __future__ import annotations

import re
from collections.abc import Iterable

_TAIL = re.compile(r"(?:\s*(?:=>|[:;{=]))+\s*$")
_OPENING = re.compile(r"\s*(?:=?\s*[(\[{]|\\|;)$")
_QUOTE = re.compile(r"[A-Za-z]{0,2}(\"\"\"|'''|\"|')")
_COMMENT_LEAD = re.compile(r"^\s*(?:/\*+!?|///?!?|\*+(?!/)|#+!?|--+)?\s?")
_COMMENT_TAIL = re.compile(r"\s*\*+/\s*$")
_LONGEST = {"value": 200, "signature": 2000, "doc": 500}


def signature(text: str, is_value: bool = False) -> str:
    """The text up to the body, white space folded, without what only opens the body."""
    folded = " ".join(text.split())
    if is_value:
        return _cut(_OPENING.sub("", folded), _LONGEST["value"])
    return _cut(_TAIL.sub("", folded), _LONGEST["signature"])


def first_line(documentation: str, noise: str = "") -> str:
    """The first line of a comment or doc string that says something."""
    for line in _stripped(documentation):
        said = " ".join(re.sub(noise, "", line).split() if noise else line.split())
        if any(character.isalnum() for character in said):
            return _cut(said, _LONGEST["doc"])
    return ""


def _stripped(documentation: str) -> Iterable[str]:
    quote = _QUOTE.match(documentation)
    if quote:
        return documentation[quote.end() :].removesuffix(quote[1]).splitlines()
    return (
        _COMMENT_LEAD.sub("", _COMMENT_TAIL.sub("", line)) for line in documentation.splitlines()
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
