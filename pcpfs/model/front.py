"""What a text says about itself at its start: front matter, a heading, or its first line.

Only `title` and `tags` are read, in the plain forms in which notes have them; anything richer is
left to the text. We never add front matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_START = 8192
_KEY = re.compile(r"(title|tags):[ \t]*(.*)", re.IGNORECASE)
_ITEM = re.compile(r"[ \t]*-[ \t]+(.+)")
_LONGEST_TITLE = 120


@dataclass(frozen=True, slots=True)
class About:
    """Title and tags; None and empty where the text has none."""

    title: str | None = None
    tags: tuple[str, ...] = ()


def read_front(payload: bytes) -> About:
    """Title and tags of a text: from its front matter, else the first line that says something."""
    text = payload[:_START].decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.splitlines()
    front, rest = _split(lines)
    title: str | None = None
    tags: tuple[str, ...] = ()
    for number, line in enumerate(front):
        match = _KEY.fullmatch(line.rstrip())
        if match and match[1].lower() == "title":
            title = _plain(match[2]) or None
        elif match:
            tags = _tags(match[2], front[number + 1 :])
    return About(title or _first_line(rest), tags)


def _split(lines: list[str]) -> tuple[list[str], list[str]]:
    """Front matter between two `---` lines, and what follows it."""
    if lines and lines[0].rstrip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                return lines[1:number], lines[number + 1 :]
    return [], lines


def _tags(inline: str, following: list[str]) -> tuple[str, ...]:
    if inline.strip():
        items = inline.strip().removeprefix("[").removesuffix("]").split(",")
    else:
        items = []
        for line in following:
            match = _ITEM.fullmatch(line.rstrip())
            if match is None:
                break
            items.append(match[1])
    return tuple(dict.fromkeys(tag for item in items if (tag := _plain(item).lstrip("#"))))


def _plain(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    if not value.isprintable():
        value = "".join(char for char in value if char.isprintable())
    return value[:_LONGEST_TITLE].strip()


def _first_line(lines: list[str]) -> str | None:
    """The first line with a letter or digit, without heading marks."""
    for line in lines:
        plain = _plain(line.strip().lstrip("#>*-").strip())
        if any(char.isalnum() for char in plain):
            return plain
    return None
