"""Text for people: nothing that content says can drive their terminal."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pcpfs.model.shown import safe, safe_lines

if TYPE_CHECKING:
    from pcpfs.model.instants import Instant

_SHORT = {"pg": 14, "rev": 12, "chg": 12, "fr": 10, "sha256": 12}


def readable(raw: bytes) -> str | None:
    """What a person can read of a payload; None for what is no text."""
    if b"\0" in raw:
        return None
    return safe_lines(raw.decode("utf-8", "surrogateescape"))


def short(given: str) -> str:
    """An id cut to a prefix that is unique in practice and accepted on input."""
    kind, mark, rest = given.partition("_" if ":" not in given else ":")
    return kind + mark + rest[: _SHORT.get(kind, len(rest))]


def interval(start: Instant | None, end: Instant | None) -> str:
    """`2026-03-01T12:00:00Z … now`: from when to when something holds; what was retracted, or gave
    way at once, held at no time."""
    if start is not None and start == end:
        return f"at no time ({start})"
    return f"{start or 'ever'} … {end or 'now'}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """`1 file`, `2 files`, `no files`."""
    word = one if count == 1 else many or one + "s"
    return f"{count or 'no'} {word}" if count < 10_000 else f"{count:,} {word}"


def size(count: int) -> str:
    """A number of bytes as people write it."""
    if count < 1024:
        return plural(count, "byte")
    return f"{count / 1024:.1f} KiB" if count < 1024**2 else f"{count / 1024**2:.1f} MiB"


def width(text: str) -> int:
    """How many columns a terminal gives to this text."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    return len(text) + wide - sum(unicodedata.combining(char) > 0 for char in text)


def columns(rows: Sequence[Sequence[str]], styles: Sequence[str | None] = ()) -> Iterator[str]:
    """Rows with aligned columns; `styles` names a colour for each column. The cells must be safe.
    The last column is not padded."""
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            styled(cell, styles[at] if at < len(styles) else None)
            + " " * (widths[at] - width(cell) if at < len(row) - 1 else 0)
            for at, cell in enumerate(row)
        ]
        yield "  ".join(cells).rstrip()


def fields(members: Sequence[tuple[str, str | None]]) -> Iterator[str]:
    """`name  value` lines, aligned; a member without value is left out."""
    rows = [(name, safe(value)) for name, value in members if value]
    yield from columns(rows, ("dim",)) if rows else ()


def styled(text: str, style: str | None) -> str:
    """Text in a colour, or `bold` or `dim`; `click.echo` drops it where no terminal shows it."""
    if style is None or not text:
        return text
    if style in ("bold", "dim"):
        return click.style(text, **{style: True})
    return click.style(text, fg=style)


def member_lines(answer: object) -> Iterator[str]:
    """Any answer as `name  value` lines, for those that are seldom read by people."""
    from pcpfs.model.answers import plain  # noqa: PLC0415 (help and version answer nothing)

    members = plain(answer)
    rows = members.items() if isinstance(members, dict) else [("", members)]
    yield from fields([(str(name), _flat(value)) for name, value in rows])


def _flat(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def more_lines(cursor: str | None) -> Iterator[str]:
    """How to see the rest of a list."""
    if cursor:
        yield styled(f"more: --cursor {safe(cursor)}", "dim")
