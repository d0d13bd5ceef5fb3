"""What a scan of a source tree found: plain values, no I/O.

Paths are relative to the root, POSIX, and hold bytes that are not UTF-8 as surrogate escapes. The
root itself is the empty path.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from pcpfs.model.ids import Digest

DEFAULT_MAX_SIZE = 1_048_576
_FEW = 16


class Reason(StrEnum):
    """Why a file or a whole directory is not taken in; the values are stable, users see them."""

    IGNORED = "ignored"
    NOT_INCLUDED = "not_included"
    EXCLUDED = "excluded"
    BINARY = "binary"
    TOO_LARGE = "too_large"
    VCS = "vcs"
    STORE = "store"
    LINK = "link"
    LINK_LEAVES_ROOT = "link_leaves_root"
    SPECIAL = "special"
    UNREADABLE = "unreadable"
    LACKING = "lacking"
    CHANGING = "changing"
    NO_SYMBOLS = "no_symbols"
    FEWER_SYMBOLS = "fewer_symbols"
    LFS_POINTER = "lfs_pointer"
    WITHHELD = "withheld"

    @property
    def is_taken_in(self) -> bool:
        """Whether the file is a page all the same, of which symbols or the content are missing."""
        return self in (Reason.NO_SYMBOLS, Reason.FEWER_SYMBOLS, Reason.LFS_POINTER)


class Stat(NamedTuple):
    """What the file system says about a file; equal values mean that it need not be read again."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Candidate(NamedTuple):
    """A file to take in. `digest` is None while its bytes have to be read to know it."""

    path: str
    stat: Stat
    digest: Digest | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a directory with all below it, that is not taken in.

    `detail` is for people ("by docs/.gitignore: *.html"). `stat` is known where the file was read.
    """

    path: str
    reason: Reason
    detail: str = ""
    directory: bool = False
    stat: Stat | None = None


@dataclass(frozen=True, slots=True)
class Gone:
    """The file vanished between the scan and the reading."""

    path: str


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes that were whole: the file did not change while it was read."""

    candidate: Candidate
    data: bytes


Outcome = Content | Skipped | Gone
"""What reading one file came to."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to take in. `include` are gitignore-style patterns; empty means all. `exclusions` are
    exact paths that are never taken, whatever else is asked for; two options are equal without
    them."""

    include: tuple[str, ...] = ()
    exclusions: Container[str] = field(default=frozenset(), compare=False)
    max_size: int = DEFAULT_MAX_SIZE


@dataclass(frozen=True, slots=True)
class Scan:
    """One look at a source tree, or at a part of it.

    `files` and `skipped` are sorted by path. `covered` are the paths that were looked at, each with
    all below it; the empty path covers everything. `device` is that of the root, None if there is
    no root now; `mounts` are the directories below it that are on another device than the one that
    they lie in.
    """

    files: tuple[Candidate, ...]
    skipped: tuple[Skipped, ...]
    covered: tuple[str, ...] = ("",)
    device: int | None = None
    mounts: tuple[str, ...] = ()

    @property
    def to_read(self) -> tuple[str, ...]:
        """The files whose digest is not known yet."""
        return tuple(file.path for file in self.files if file.digest is None)

    @property
    def unreadable(self) -> tuple[Skipped, ...]:
        """Where nothing could be learned: whatever is known below these paths stays as it is."""
        return tuple(skip for skip in self.skipped if skip.reason is Reason.UNREADABLE)

    def settled(self, outcomes: Mapping[str, Candidate | Skipped | Gone]) -> Scan:
        """This scan with what reading `to_read` came to; files without an outcome stay to be read.

        Give `Content.candidate` for a file that was read.
        """
        files: list[Candidate] = []
        skipped = list(self.skipped)
        for file in self.files:
            outcome = outcomes.get(file.path, file) if file.digest is None else file
            if isinstance(outcome, Candidate):
                files.append(outcome)
            elif isinstance(outcome, Skipped):
                skipped.append(outcome)
        skipped.sort(key=lambda skip: skip.path)
        return replace(self, files=tuple(files), skipped=tuple(skipped))


class Prefixes:
    """A set of paths that stand for themselves and all below them."""

    __slots__ = ("_all", "_below", "_paths")

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._all = "" in self._paths
        few = len(self._paths) <= _FEW
        self._below = tuple(path + "/" for path in self._paths) if few else None

    def __contains__(self, path: str) -> bool:
        if self._all or path in self._paths:
            return True
        if self._below is not None:
            return path.startswith(self._below)
        return self.holder(path) is not None

    def holder(self, path: str) -> str | None:
        """The member that is this path or the nearest directory above it."""
        while path and path not in self._paths:
            path = path.rpartition("/")[0]
        return path if path or self._all else None
