"""A store inside a project: a repository of its own that the project's git does not see, and that
is found from anywhere in the project.

The project is told in its private exclude file only, so nothing of it changes for others. That line
is also where the store is found again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Conflict, PcpfsError, UsageError
from pcpfs.git import Repository, find_repository
from pcpfs.store import layout

_MARK = b"# a pcpfs store of its own:"
_SPECIAL = b"\\*?[ \t#!"


def hide(project: Path, folder: Path, disk: Disk) -> None:
    """Tell the git of a project to ignore a store in it. UsageError for a path that an exclude file
    cannot hold, Conflict if the project has files there already."""
    exclude = _exclude(project)
    known = _read(exclude)
    path = os.fsencode(folder.relative_to(project).as_posix())
    if b"\n" in path or b"\r" in path:
        raise UsageError(f"{folder} has a line feed in its name; choose another folder")
    line = b"/" + b"".join(b"\\" + c if c in _SPECIAL else c for c in _bytes(path)) + b"/"
    if _MARK + b"\n" + line + b"\n" not in known:
        ending = b"" if known.endswith(b"\n") or not known else b"\n"
        disk.write(exclude, known + ending + _MARK + b"\n" + line + b"\n")


def refuse_inside_a_store(folder: Path) -> None:
    """Conflict for a store in a store: its files would be neither's."""
    for above in folder.parents:
        if (above / layout.CONFIG).is_file():
            raise Conflict(f"{folder} lies in the store {above}; choose a folder outside of it")


def store_at(folder: Path) -> Path | None:
    """The store that a folder is, or that was made in it."""
    return folder if (folder / layout.CONFIG).is_file() else _nested_in(folder)


def nearest_store(start: Path) -> Path | None:
    """The nearest folder, from `start` upwards, that is a store or a project with a nested one: the
    store."""
    start = Path(os.path.abspath(start))
    found = (store_at(folder) for folder in (start, *start.parents))
    return next(filter(None, found), None)


def _nested_in(project: Path) -> Path | None:
    """The store that was made in a project, if it is still there; of several the first."""
    if find_repository(project) != project:
        return None
    try:
        lines = _read(_exclude(project)).split(b"\n")
    except PcpfsError:
        return None
    for mark, line in pairwise(lines):
        if mark == _MARK and line.startswith(b"/") and line.endswith(b"/"):
            folder = project / os.fsdecode(_unescaped(line[1:-1]))
            if (folder / layout.CONFIG).is_file() and folder.resolve().is_relative_to(
                project.resolve()
            ):
                return folder
    return None


def _exclude(project: Path) -> Path:
    return Repository.open(project).common_dir / "info" / "exclude"


def _read(file: Path) -> bytes:
    try:
        return Disk().read(file)
    except FileNotFoundError:
        return b""


def _bytes(text: bytes) -> Iterator[bytes]:
    return (text[n : n + 1] for n in range(len(text)))


def _unescaped(text: bytes) -> bytes:
    parts, letters = [], _bytes(text)
    for letter in letters:
        parts.append(next(letters, b"") if letter == b"\\" else letter)
    return b"".join(parts)
