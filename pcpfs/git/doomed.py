"""What must not be in any commit any more: a value that says so to git's layer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

Judge = Callable[[bytes], bool]


class Instead(NamedTuple):
    """A file that takes the place of another one."""

    path: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Doomed:
    """Paths from the work tree on. `folders` go with all below them, `files` whatever they hold,
    and `readable` unless `is_others` says of path and bytes that they are somebody else's. `blobs`
    go from everywhere below `shelves`. `instead` are files that go and what comes for them.

    `scrub` takes out of a message what names it, `names_it` tells whether bytes do.
    """

    folders: frozenset[str]
    files: frozenset[str]
    readable: frozenset[str]
    blobs: frozenset[str]
    shelves: frozenset[str]
    is_others: Callable[[str, bytes], bool]
    scrub: Callable[[bytes], bytes]
    names_it: Judge
    instead: Mapping[str, Instead] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[str, ...]:
        """Everything that commits are searched for."""
        return tuple(sorted({*self.folders, *self.files, *self.readable, *self.instead}))
