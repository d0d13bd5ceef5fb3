"""A branch of the view as files of a folder, which a second time changes only what changed.

The folder `.%pcpfs-view` in it holds a list of what was put there, and unfinished files. What
somebody else put there, or changed, is left alone and named. Each file is whole at any moment, old
or new.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from posixpath import dirname, relpath

from pcpfs.disk import Disk
from pcpfs.errors import Conflict, PcpfsError, UsageError
from pcpfs.view.nodes import Directory, File, Link, Node
from pcpfs.view.view import View

OURS = ".%pcpfs-view"
"""Where we keep what we need; nothing in the view of sources is called so."""

LIST = f"{OURS}/list.json"
_LOCK = f"{OURS}/lock"

_FORMAT = 1
_TOGETHER = 500
_SELDOM = 4
"""The list is written when a part of it, one of so many, is new: what is put there while it is not
listed, and is cut short, is known again by its bytes."""
_SYMLINK = "->"


@dataclass(frozen=True, slots=True)
class Materialised:
    """What was done, in numbers of files and links; `left` is what was not touched, and why."""

    path: str
    view: str
    written: int
    removed: int
    unchanged: int
    left: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Put:
    """What we put at a path. `mark` names the bytes if that is known without reading them (`->`: a
    link), `digest` is theirs, or where a link leads; `at` is the time that it was given, in
    microseconds."""

    mark: str
    digest: str
    size: int
    at: int


def materialise(
    view: View,
    path: str,
    folder: Path,
    disk: Disk,
    *,
    store: str,
    home: Path,
    sources: Iterable[Path] = (),
    folds: bool | None = None,
) -> Materialised:
    """Make a folder hold a branch of the view. `store` is the id of the store, `home` its folder,
    `sources` what it takes in.

    Conflict if it holds anything else already, Busy if somebody else does the same there now,
    UsageError for a path that is no folder, or a folder in the store or in a source. Links that
    lead out of the branch become what they lead to. Where names that differ in case only are one
    (`folds`; else it is tried), the second is left out.
    """
    base = view.followed(path)
    if not isinstance(base, Directory):
        raise UsageError(f"{path} is a file; write it with: pcpfs cat {path} > FILE")
    if folder.resolve().is_relative_to(home.resolve()):
        raise UsageError(f"{folder} is in the store {home}; export to a folder outside of it")
    if any(folder.resolve().is_relative_to(source.resolve()) for source in sources):
        raise UsageError(
            f"{folder} is in a source of this store, which would take the export in; "
            "export to a folder outside of it"
        )
    name = "/" + path.strip("/")
    _known(folder, store, name)  # before anything is made there
    with disk.lock(folder / _LOCK, 0):
        disk.sweep(folder / OURS)
        staged = disk.staged_in(folder / OURS)
        work = _Work(view, name, os.fspath(folder), staged, _known(folder, store, name), store)
        work.save()
        if folds is None:
            folds = os.path.lexists(folder / OURS.upper())
        wanted = _walk(view, base, name, "")
        work.run(_unfolded(wanted, work) if folds else wanted)
    return Materialised(
        os.fspath(folder), name, work.written, work.removed, work.unchanged, tuple(work.left)
    )


def _known(folder: Path, store: str, name: str) -> dict[str, Put]:
    """What an earlier time put into a folder; Conflict if that was not this branch."""
    try:
        raw = json.loads((folder / LIST).read_bytes())
        entries = {path: Put(*values) for path, values in raw["entries"].items()}
        ours = (raw["format"], raw["store"], raw["view"]) == (_FORMAT, store, name)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.lexists(folder) and (not folder.is_dir() or set(os.listdir(folder)) - {OURS}):
            raise Conflict(
                f"{folder} holds something that was not exported there; choose another folder"
            ) from None
        return {}
    except (ValueError, TypeError, KeyError) as error:
        raise Conflict(f"{folder / LIST} cannot be read; choose another folder") from error
    if not ours:
        raise Conflict(f"{folder} holds another export ({raw['view']}); choose another folder")
    return entries


def _walk(view: View, folder: Directory, base: str, below: str) -> Iterator[tuple[str, Node]]:
    """Files and inner links of a branch, by path from there."""
    for _, name, node in folder.entries():
        path = f"{below}{name}"
        if isinstance(node, Link) and not node.target.startswith(base.rstrip("/") + "/"):
            node = view.followed(node.target)  # noqa: PLW2901 (what it leads to takes its place)
        if isinstance(node, Directory):
            yield from _walk(view, node, base, f"{path}/")
        else:
            yield path, node


def _unfolded(wanted: Iterator[tuple[str, Node]], work: _Work) -> Iterator[tuple[str, Node]]:
    """Without what would meet another file on a disk to which `A` and `a` are one."""
    taken: dict[str, str] = {}
    for path, node in wanted:
        claim = unicodedata.normalize("NFC", path).casefold()
        if taken.setdefault(claim, path) == path:
            yield path, node
        else:
            work.left.append((path, f"to this disk its name is that of {taken[claim]}"))


@dataclass(slots=True)
class _Work:
    """One export: what is known to be there, and what was done so far."""

    view: View
    name: str
    folder: str
    disk: Disk
    known: dict[str, Put]
    store: str
    written: int = 0
    removed: int = 0
    unchanged: int = 0
    unsaved: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)
    ways: set[str] = field(default_factory=set)

    def run(self, wanted: Iterator[tuple[str, Node]]) -> None:
        """What is wanted no longer goes first: something else may stand in its place."""
        nodes = dict(wanted)
        self.remove([path for path in self.known if path not in nodes])
        waiting = iter(nodes.items())
        while some := list(islice(waiting, _TOGETHER)):
            self.put(some)
            if self.unsaved * _SELDOM > len(self.known):
                self.save()
        self.save()

    def put(self, some: Sequence[tuple[str, Node]]) -> None:
        new: dict[str, Put] = {}
        with self.disk.batch() as batch:
            for path, node in some:
                made = self._made(path, node)
                if made is None:
                    continue
                put, raw = made
                new[path] = put
                if raw is None:
                    self.disk.put_link(f"{self.folder}/{path}", put.digest)
                else:
                    batch.write(f"{self.folder}/{path}", raw)
        for path, put in new.items():
            at = put.at * 1000
            os.utime(f"{self.folder}/{path}", ns=(at, at), follow_symlinks=False)
        self.known |= new
        self.written += len(new)
        self.unsaved += len(new)

    def remove(self, paths: Sequence[str]) -> None:
        with self.disk.batch() as batch:
            for path in paths:
                put = self.known.pop(path)
                if self._is_ours(path, put):
                    batch.unlink(f"{self.folder}/{path}")
                    self.removed += 1
                elif os.path.lexists(f"{self.folder}/{path}"):
                    self.left.append((path, "it is no longer in the view, and somebody changed it"))
        for above in sorted({dirname(path) for path in paths if "/" in path}, reverse=True):
            if self._in_the_way(f"{above}/") is None:
                self.disk.remove_empty(f"{self.folder}/{above}", self.folder)
        self.save()

    def save(self) -> None:
        entries = {path: [p.mark, p.digest, p.size, p.at] for path, p in sorted(self.known.items())}
        told = {"format": _FORMAT, "store": self.store, "view": self.name, "entries": entries}
        self.disk.write_volatile(f"{self.folder}/{LIST}", json.dumps(told).encode())
        self.unsaved = 0

    def _made(self, path: str, node: Node) -> tuple[Put, bytes | None] | None:
        """What is to be put at a path; None if it is there, or something of somebody else is."""
        if (other := self._in_the_way(path)) is not None:
            self.left.append((path, f"somebody put something else where {other}/ should be"))
            return None
        there = self.known.get(path)
        ours = there if there is not None and self._is_ours(path, there) else None
        if ours is not None and self._is_same(path, node, ours):
            self.unchanged += 1
            return None
        try:
            put, raw = self._read(path, node)
        except PcpfsError as error:
            self.left.append((path, error.message))
            return None
        if ours is not None and ours.digest == put.digest:
            self.unchanged += 1
            return None
        is_there = os.path.lexists(f"{self.folder}/{path}")
        if ours is None and is_there and not self._is_ours(path, put):
            self.left.append((path, "somebody else put it there, or changed it"))
            return None
        return put, raw

    def _is_same(self, path: str, node: Node, there: Put) -> bool:
        """Whether it can be told without reading that it is still what we put there."""
        if isinstance(node, File):
            return bool(node.mark) and (node.mark, _time(node)) == (there.mark, there.at)
        return there.mark == _SYMLINK and there.digest == self._relative(path, node)

    def _read(self, path: str, node: Node) -> tuple[Put, bytes | None]:
        if isinstance(node, File):
            raw = node.read()
            return Put(node.mark, hashlib.sha256(raw).hexdigest(), len(raw), _time(node)), raw
        return Put(_SYMLINK, self._relative(path, node), 0, 0), None

    def _relative(self, path: str, node: Node) -> str:
        """Where a link leads, from where it stands."""
        assert isinstance(node, Link)
        inside = node.target[len(self.name.rstrip("/")) + 1 :]
        return relpath(inside, dirname(path) or ".")

    def _in_the_way(self, path: str) -> str | None:
        """The first part of the way to a path that is there, but no folder: a link would lead out
        of ours."""
        above = dirname(path)
        if not above or above in self.ways:
            return None
        if (other := self._in_the_way(above)) is not None:
            return other
        try:
            mode = os.lstat(f"{self.folder}/{above}").st_mode
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(mode):
            return above
        self.ways.add(above)
        return None

    def _is_ours(self, path: str, put: Put) -> bool:
        """Whether what stands at a path is what we put there."""
        if self._in_the_way(path) is not None:
            return False
        file = f"{self.folder}/{path}"
        try:
            found = os.lstat(file)
            if stat.S_ISLNK(found.st_mode):
                return put.mark == _SYMLINK and os.readlink(file) == put.digest
            if not stat.S_ISREG(found.st_mode) or found.st_size != put.size:
                return False
            if found.st_mtime_ns == put.at * 1000:
                return True
            return hashlib.sha256(self.disk.read(file)).hexdigest() == put.digest
        except (FileNotFoundError, NotADirectoryError):
            return False


def _time(node: Node) -> int:
    return node.modified.microseconds if isinstance(node, File) else 0
