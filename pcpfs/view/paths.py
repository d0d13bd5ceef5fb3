"""Folders made of sorted paths: only what is looked at is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pcpfs.model.names import escaped, unescaped
from pcpfs.view.names import beginning, plain_name, safe_name
from pcpfs.view.nodes import Directory, Entry, Node


class Place(NamedTuple):
    """What stands at a path: its last part as it is shown, and where a list goes on after it."""

    path: str
    next: str
    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class Paths:
    """Places by path. Paths have `/` between their parts and are as the catalog has them.

    `places(start, end)` gives those from `start` on and before `end`, sorted as the catalog sorts;
    a `next` is greater than its path, and smaller than any longer path. So folders stand where
    git has them: as if their names ended with `/`. `at(folder, name)` gives what is shown there
    under that name, if it is no folder. `shown` spells a part, `plain` reads it back.
    """

    places: Callable[[str, str | None], Iterator[Place]]
    at: Callable[[str, str], Node | None]
    shown: Callable[[str], str]
    plain: Callable[[str], str | None]

    def folder(self, prefix: str = "") -> Directory:
        """The folder of all paths that begin so; `prefix` is empty or ends with `/`."""
        return Directory(
            lambda start: self._entries(prefix, start), lambda name: self._find(prefix, name)
        )

    def _entries(self, prefix: str, start: str) -> Iterator[Entry]:
        position: str | None = prefix + start
        while position is not None:
            goes_on = None
            for place in self.places(position, _end(prefix)):
                first, slash, _ = place.path[len(prefix) :].partition("/")
                if slash:
                    goes_on = _end(f"{prefix}{first}/")
                    inner = self.folder(f"{prefix}{first}/")
                    yield Entry(f"{first}{_BEHIND}", self.shown(first), inner)
                    break
                yield Entry(place.next[len(prefix) :], place.name, place.node)
            position = goes_on

    def _find(self, prefix: str, name: str) -> Node | None:
        start = beginning(name)
        if start is not None:
            return self._cut(prefix, name, start)
        found = self.at(prefix, name)
        part = self.plain(name)
        if found is not None or not part:
            return found
        folder = f"{prefix}{part}/"
        is_there = next(self.places(folder, _end(folder)), None) is not None
        return self.folder(folder) if is_there else None

    def _cut(self, prefix: str, name: str, start: str) -> Node | None:
        """What has a name that was too long: among those that begin so."""
        begins = escaped(start)
        for entry in self._entries(prefix, begins):
            if entry.name == name:
                return entry.node
            if not entry.next.startswith(begins):
                return None
        return None


_BEHIND = chr(ord("/") + 1)


def _end(prefix: str) -> str | None:
    """What is greater than all paths that begin with a folder, and not greater than any other."""
    return prefix[:-1] + _BEHIND if prefix else None


def shown_part(part: str) -> str:
    """A part of a source's path, as the catalog has it, as a name."""
    return safe_name(unescaped(part))


def plain_part(name: str) -> str | None:
    """The part that `shown_part` made this name of."""
    text = plain_name(name)
    return None if text is None or "/" in text or "\0" in text else escaped(text)
