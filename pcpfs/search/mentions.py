"""Which names a source mentions: its identifiers, without comments and literals.

No grammar is asked: one pass over the text, so that a whole source tree costs less than a second.
What is wrong about a line (a quote in a regular expression, say) loses or adds a few names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

VERSION = "1"
"""Rises whenever `mentions` answers something else for some text."""

_STRING = r'"(?:\\.|[^"\\\n])*"'
_CHARACTERS = r"'(?:\\.|[^'\\\n])*'"
_THRICE = r'"""[\s\S]*?"""|' + r"'''[\s\S]*?'''"
_BLOCK = r"/\*[\s\S]*?\*/|//[^\n]*"
_NAME = r"|\d\w*|((?:\.|->|::)?[^\W\d]\w{2,})"
"""A name of three characters or more, with the mark that says that it is somebody's member."""


def _names_beside(*unread: str) -> re.Pattern[str]:
    return re.compile("|".join(unread) + _NAME)


_SLASHES = _names_beside(_STRING, _CHARACTERS, _BLOCK)
_HASHES = _names_beside(_THRICE, _STRING, _CHARACTERS, "#[^\n]*")
_NO_CHARACTERS = _names_beside(_STRING, _BLOCK)  # 'a is a lifetime, and no end is to follow
_DASHES = _names_beside(_STRING, _CHARACTERS, r"--\[\[[\s\S]*?\]\]", "--[^\n]*")
_BOTH = _names_beside(_STRING, _CHARACTERS, _BLOCK, "#[^\n]*")

_PATTERNS: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(("python", "ruby", "bash", "elixir", "make", "r", "perl"), _HASHES),
    **dict.fromkeys(("lua", "sql", "haskell"), _DASHES),
    "rust": _NO_CHARACTERS,
    "php": _BOTH,
}
_SILENT = frozenset(
    ("text", "markdown", "json", "yaml", "toml", "html", "css", "xml", "ini", "dockerfile")
)
"""Prose and data: they have words and keys, and call nobody."""


_FAMILIES = (
    ("javascript", ("typescript", "tsx", "jsx")),
    ("c", ("cpp", "objc")),
    ("java", ("kotlin", "scala", "groovy")),
)
_FAMILY = {member: first for first, others in _FAMILIES for member in others}


def family(language: str) -> str:
    """Languages of one family call each other by name."""
    return _FAMILY.get(language, language)


def is_code(language: str | None) -> bool:
    """Whether sources of this language refer to each other by names."""
    return language is not None and language not in _SILENT


def mentions(text: str, language: str | None) -> Counter[str]:
    """How often each name stands in a text; a member (`x.name`, `x->name`, `x::name`) is a name
    with a `.` before it. Empty for what is no code."""
    if not is_code(language):
        return Counter()
    found = Counter(_PATTERNS.get(language or "", _SLASHES).findall(text))
    del found[""]
    for name in [name for name in found if name[0] in "-:"]:
        found["." + name[2:]] += found.pop(name)
    return found
