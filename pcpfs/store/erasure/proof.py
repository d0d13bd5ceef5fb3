"""Searching a store for what must not be in it: every byte of every file, and every object of git
as it is when it is unpacked.

It reads; it changes nothing. What a page that stays holds as well was taken out of the search
before (`tracing.survivors`): so whatever is found is a trace.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pcpfs.errors import Unavailable
from pcpfs.git import Git
from pcpfs.git.follow import borrowed_from, work_trees
from pcpfs.git.raw import every_object
from pcpfs.store.config import generated_files
from pcpfs.store.erasure.traces import Traces

_CHUNK = 4 << 20
_MOST = 200
_SEPARATOR = b"\n\0\n"


@dataclass(frozen=True, slots=True)
class Trace:
    """Something that was found: where (a path from the store on, or an object of git), and what it
    is; never the thing itself."""

    place: str
    what: str


@dataclass(frozen=True, slots=True)
class Proof:
    """`ok` if nothing was found. `unproven` says what could not be searched for, or in."""

    ok: bool
    files: int
    objects: int
    bytes: int
    needles: int
    traces: tuple[Trace, ...]
    unproven: tuple[str, ...]


def prove(root: Path, git: Git, traces: Traces) -> Proof:
    """Search a store, and the other work trees of its repository, for all that pages have left."""
    search = _Search(root, traces.needles)
    search.files([root, *_elsewhere(root, git)])
    search.objects(git)
    unproven = [
        f"{title!r} is too short to search for but where titles are kept"
        for title in traces.too_short
    ]
    unproven += [f"objects borrowed from {place}" for place in borrowed_from(git)]
    unproven += [f"{name[:12]}… is named by a page that stays" for name in traces.named]
    if not traces.pieces:
        unproven.append("the content is too short, or pages that stay say all of it")
    found = tuple(sorted(set(search.found), key=lambda trace: (trace.place, trace.what)))
    return Proof(
        ok=not found,
        files=search.seen_files,
        objects=search.seen_objects,
        bytes=search.seen_bytes,
        needles=len(traces.needles),
        traces=found[:_MOST],
        unproven=tuple(unproven),
    )


def _elsewhere(root: Path, git: Git) -> Iterator[Path]:
    """Folders of this repository that do not lie below the store."""
    for tree in work_trees(git):
        for folder in (tree.git_dir, tree.folder):
            if folder is not None and not folder.is_relative_to(root):
                yield folder


class _Search:
    """One search, and what it found so far."""

    def __init__(self, root: Path, needles: Mapping[bytes, str]) -> None:
        self._root = root
        self._needles = dict(needles)
        self._longest = max(map(len, needles), default=1)
        self._generated = generated_files()
        self.found: list[Trace] = []
        self.seen_files = self.seen_objects = self.seen_bytes = 0

    def files(self, folders: list[Path]) -> None:
        """Every byte of every file, and the names of files and folders."""
        for start in folders:
            for folder, below, names in os.walk(start):
                below.sort()
                for name in (*below, *sorted(names)):
                    shown = self._shown(Path(folder, name))
                    self._look(os.fsencode(shown), shown)
                for name in names:
                    self._file(Path(folder, name))

    def objects(self, git: Git) -> None:
        """Every object that git has, reached or not, loose or packed."""
        held: list[tuple[str, bytes]] = []
        size = 0
        for name, raw in every_object(git):
            self.seen_objects += 1
            if raw.content in self._generated.values():
                continue  # the same in every store
            held.append((f"{name} ({raw.kind})", raw.content))
            size += len(raw.content)
            if size > _CHUNK:
                self._look_at_all(held)
                held, size = [], 0
        self._look_at_all(held)

    def _file(self, path: Path) -> None:
        if path.is_symlink():
            self._look(os.fsencode(os.readlink(path)), self._shown(path))
            return
        if not path.is_file():
            return
        self.seen_files += 1
        try:
            if self._is_generated(path):
                return
            with path.open("rb") as file:
                tail = b""
                while part := file.read(_CHUNK):
                    self._look(tail + part, self._shown(path))
                    tail = part[-self._longest :]
        except FileNotFoundError:
            return  # somebody else's file that was never meant to stay
        except OSError as error:
            raise Unavailable(f"{path} cannot be searched: {error.strerror}") from error

    def _is_generated(self, path: Path) -> bool:
        content = self._generated.get(self._shown(path))
        return content is not None and path.read_bytes() == content

    def _look_at_all(self, held: list[tuple[str, bytes]]) -> None:
        """All at once; only where something is found, one by one."""
        together = _SEPARATOR.join(content for _, content in held)
        self.seen_bytes += len(together)
        if any(needle in together for needle in self._needles):
            for name, content in held:
                self._look(content, f"git object {name}", count=False)

    def _look(self, content: bytes, place: str, *, count: bool = True) -> None:
        self.seen_bytes += len(content) if count else 0
        for needle, what in self._needles.items():
            if needle in content:
                self.found.append(Trace(place, what))

    def _shown(self, path: Path) -> str:
        return os.path.relpath(path, self._root).replace(os.sep, "/")
