"""Lines on a terminal: cut to its width, and in a pager where they are longer than it is high.

Into a pipe or a file they go as they are: scripts read what nobody's window has shaped.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice

import click

from pcpfs.cli.text import width

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_PLAIN = "\x1b[0m"
_LOW = 5
"""A window with fewer lines shows too little for a pager."""

_NO_PAGER = ("", "cat")


def tell(lines: Iterable[str], *, cut: bool) -> None:
    """Print lines; on a terminal the long ones end in `…` if `cut`, and many go to the pager."""
    if not sys.stdout.isatty():
        for line in lines:
            click.echo(line)
        return
    window = shutil.get_terminal_size()
    told = (fitted(line, window.columns) for line in lines) if cut else iter(lines)
    first = list(islice(told, window.lines - 1))
    following = next(told, None)
    if following is None or window.lines < _LOW or not _pager():
        for line in chain(first, () if following is None else (following,), told):
            click.echo(line)
        return
    os.environ["PAGER"] = _pager()
    os.environ.setdefault("LESS", "FRX")
    click.echo_via_pager(_separated(chain(first, (following,), told)))


def _separated(lines: Iterator[str]) -> Iterator[str]:
    """With line ends between them; the last one comes from click."""
    yield next(lines)
    for line in lines:
        yield "\n" + line


def _pager() -> str:
    """$PCPFS_PAGER, else $PAGER, else less; nothing where the user wants none, or it is missing."""
    named = os.environ.get("PCPFS_PAGER", os.environ.get("PAGER", "less")).strip()
    if named in _NO_PAGER or shutil.which(named.split()[0]) is None:
        return ""
    return named


def fitted(line: str, columns: int) -> str:
    """A line in so many cells at most: wide characters have two, colours none."""
    if width(_COLOUR.sub("", line)) <= columns:
        return line
    return "".join(_cut(_COLOUR.split(line), columns - 1))


def _cut(parts: list[str], room: int) -> Iterator[str]:
    """Text and colours by turns; what finds no room is `…`, and colours end with it."""
    for place, part in enumerate(parts):
        if place % 2:
            yield part
            continue
        for char in part:
            room -= width(char)
            if room < 0:
                yield "…" + (_PLAIN if place > 0 else "")
                return
            yield char
