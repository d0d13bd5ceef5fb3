"""What git answers, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pcpfs.model.ids import Id
from pcpfs.model.instants import Instant


class ObjectId(Id):
    """The name of a git object: 40 hex digits, or 64 in a sha256 repository."""

    __slots__ = ()
    pattern = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
    example = "1b2c3d… (40 hex digits)"


class CommitId(ObjectId):
    """The name of a commit."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Person:
    """Who made a commit; characters that git's header cannot hold are dropped."""

    name: str
    email: str = ""

    def __str__(self) -> str:
        return f"{_plain(self.name) or 'unknown'} <{_plain(self.email)}>"


def _plain(text: str) -> str:
    return "".join(c for c in text if c not in "<>" and c.isprintable()).strip(" .,:;\"'\\")


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """A file in a commit."""

    path: str
    mode: str
    blob: ObjectId


@dataclass(frozen=True, slots=True)
class Stored:
    """A blob that the repository has already, as the content of a path."""

    blob: ObjectId
    mode: str = "100644"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """A file that differs between two commits: `status` is A, D, M or T (another type); U where
    the index holds no agreed content. `mode` is that of what is there after."""

    path: str
    status: str
    before: ObjectId | None
    after: ObjectId | None
    mode: str = "100644"

    @property
    def stored(self) -> Stored | None:
        """What is there after; None for nothing."""
        return Stored(self.after, self.mode) if self.after else None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A commit. `at` is the committer's time; `trailers` has the last value of each key."""

    commit: CommitId
    parents: tuple[CommitId, ...]
    at: Instant
    author: str
    subject: str
    trailers: Mapping[str, str]
