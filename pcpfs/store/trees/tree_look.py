"""Looking at all `tree/` folders: which files are there, with their digests, and what is there
otherwise. Reads only, and never through a link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pcpfs.errors import InvalidName
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.names import SCOPE_FOLDERS, TreePath, is_editor_file, is_scope_folder
from pcpfs.store import layout

MOST_BYTES = 128 * 1024 * 1024
"""A larger file in `tree/` is left alone, and named."""

_LITTER = frozenset([".ds_store", "thumbs.db", "desktop.ini"])
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_OLD_MICROSECONDS = 2_000_000

LINK = "it is a link, and links are not followed"
SPECIAL = "it is no file"
FOLDER = "a folder is in the way"
CHANGING = "it is being written"
HIDDEN = "names that start with a dot are no pages"
TOO_LARGE = "it is too large"


class Mark(NamedTuple):
    """What changes when a file does."""

    inode: int
    size: int
    mtime: int
    ctime: int


@dataclass(frozen=True, slots=True)
class Look:
    """What was there: files, other things with the reason why they are left alone, and marks by
    which an unchanged file is known again."""

    files: Mapping[str, Digest]
    problems: Mapping[str, str]
    marks: Mapping[str, Mark]

    def old_marks(self, now: Instant) -> Mapping[str, Mark]:
        """Marks of files that were not written so lately that a later write could look the same."""
        latest = (now.microseconds - _OLD_MICROSECONDS) * 1000
        return {path: mark for path, mark in self.marks.items() if mark.mtime < latest}


NOTHING_KNOWN = Look({}, {}, {})


def look(root: Path, known: Collection[str], before: Look, marks: Mapping[str, Mark]) -> Look:
    """Look at every file below the `tree/` folders of a store.

    `known` are paths at which we laid something: they count whatever their name. A file whose mark
    is in `marks` is not read again: it is as it was at the look `before`.
    """
    folders = {path.rsplit("/", n)[0] for path in known for n in range(1, path.count("/"))}
    looking = _Looking(root, frozenset(known), frozenset(folders), before, marks)
    for folder in tree_folders(root):
        looking.enter(folder)
    return Look(looking.files, looking.problems, looking.found)


def tree_folders(root: Path) -> Iterator[str]:
    """The `tree/` folders of all scopes that there are, relative to the store."""
    yield from _below(root, layout.SCOPES)


def _below(root: Path, folder: str) -> Iterator[str]:
    names = {entry.name for entry in _entries(root / folder) if entry.is_dir(follow_symlinks=False)}
    if "tree" in names and folder != layout.SCOPES:
        yield f"{folder}/tree"
    for name in sorted(names):
        if name not in SCOPE_FOLDERS and is_scope_folder(name):
            yield from _below(root, f"{folder}/{name}")


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []


@dataclass(slots=True)
class _Looking:
    """One look, as far as it has come."""

    root: Path
    known: frozenset[str]
    folders: frozenset[str]
    before: Look
    marks: Mapping[str, Mark]
    files: dict[str, Digest] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    found: dict[str, Mark] = field(default_factory=dict)

    def enter(self, folder: str) -> None:
        try:
            with os.scandir(self.root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except FileNotFoundError:
            return  # it went while we looked
        except OSError as error:
            self.problems[folder] = f"it cannot be read ({error.strerror})"
            return
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if path in self.known or path in self.folders or not self.is_ignored(entry.name):
                self.meet(path, entry)

    def enter_folder(self, path: str) -> None:
        """Where a file of ours was: a page moved into a folder of its name, if a file is there."""
        before = len(self.files) + len(self.problems)
        self.enter(path)
        if path in self.known and len(self.files) + len(self.problems) == before:
            self.problems[path] = FOLDER

    def is_ignored(self, name: str) -> bool:
        """What programs put there for themselves."""
        return is_editor_file(name) or name.casefold() in _LITTER

    def meet(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problems[path] = f"it cannot be read ({error.strerror})"
            return
        problem = self.problem(path, entry.name, seen)
        if problem:
            self.problems[path] = problem
        elif stat.S_ISDIR(seen.st_mode):
            self.enter_folder(path)
        else:
            self.read(path, Mark(seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns))

    def problem(self, path: str, name: str, seen: os.stat_result) -> str | None:
        """Why this is no file or folder of ours; None if it may be."""
        if stat.S_ISLNK(seen.st_mode):
            return LINK
        if stat.S_ISDIR(seen.st_mode):
            is_ours = path in self.folders or path in self.known
            return HIDDEN if name.startswith(".") and not is_ours else None
        if not stat.S_ISREG(seen.st_mode):
            return SPECIAL
        if path in self.known:
            return None
        return HIDDEN if name.startswith(".") else self.bad_name(path)

    def bad_name(self, path: str) -> str | None:
        try:
            TreePath(path.partition("/tree/")[2])
        except InvalidName as error:
            return error.message
        return None

    def read(self, path: str, mark: Mark) -> None:
        known = self.before.files.get(path)
        if known is not None and self.marks.get(path) == mark:
            self.files[path] = known
        elif mark.size > MOST_BYTES and path not in self.known:
            self.problems[path] = TOO_LARGE
            return
        else:
            try:
                self.files[path] = Digest.of(read_file(self.root / path))
            except FileNotFoundError:
                return
            except OSError as error:
                self.problems[path] = f"it cannot be read ({error.strerror})"
                return
        self.found[path] = mark


def read_file(path: Path) -> bytes:
    """All bytes of a regular file, never through a link; OSError if it is none."""
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, SPECIAL)
        return file.readall()


def agreed(first: Look, second: Look) -> Look:
    """What two looks agree on; where they differ, somebody is writing."""
    paths = {*first.files, *second.files, *first.problems, *second.problems}
    changing = {
        path
        for path in paths
        if first.files.get(path) != second.files.get(path)
        or first.problems.get(path) != second.problems.get(path)
    }
    return Look(
        {path: digest for path, digest in second.files.items() if path not in changing},
        {**second.problems, **dict.fromkeys(changing, CHANGING)},
        second.marks,
    )
