"""What the virtual view is made of: directories, files and links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from pcpfs.model.instants import Instant


@dataclass(frozen=True, slots=True)
class File:
    """Bytes that are made or read when asked for. `modified`: since when they are so; `mark`, if
    there is one, names these bytes and no others."""

    known_size: int | None
    modified: Instant
    read: Callable[[], bytes]
    mark: str = ""

    kind = "file"

    @property
    def size(self) -> int:
        """Exactly how many bytes `read` gives; where the catalog does not say, they are made."""
        return len(self.read()) if self.known_size is None else self.known_size


@dataclass(frozen=True, slots=True)
class Link:
    """The same thing at another place of the view; `target` is absolute within it."""

    target: str

    kind = "link"


class Entry(NamedTuple):
    """What a directory lists. `next` is where its list goes on, whatever comes and goes."""

    next: str
    name: str
    node: Node


@dataclass(frozen=True, slots=True)
class Directory:
    """Names and what they stand for. `list` gives them from a place on, in an order that does not
    change, and reads them bit by bit; `find` answers a name without listing all, also names that
    no list shows (`/as-of/<instant>`)."""

    list: Callable[[str], Iterator[Entry]]
    find: Callable[[str], Node | None]

    kind = "directory"

    def entries(self, start: str = "") -> Iterator[Entry]:
        return self.list(start)


Node = File | Directory | Link


def unlisted(find: Callable[[str], Node | None]) -> Directory:
    """A directory of more names than anybody could list."""
    return Directory(lambda start: iter(()), find)


def listed(make: Callable[[], Mapping[str, Node]]) -> Directory:
    """A directory of few names, all made when it is looked at; sorted."""

    def entries(start: str) -> Iterator[Entry]:
        for name, node in sorted(make().items()):
            if name >= start:
                yield Entry(name + "\0", name, node)

    return Directory(entries, lambda name: make().get(name))


_FIRST, _MOST = 8, 256
Row = TypeVar("Row")


def in_batches(
    ask: Callable[[str, int], Sequence[Row]], after: Callable[[Row], str], start: str
) -> Iterator[Row]:
    """All rows from a place on, asked for in batches that grow: `ask(place, count)` gives fewer
    than `count` only at the end, and `after` tells where a row is behind."""
    count = _FIRST
    while True:
        batch = ask(start, count)
        yield from batch
        if len(batch) < count:
            return
        start, count = after(batch[-1]), min(2 * count, _MOST)
