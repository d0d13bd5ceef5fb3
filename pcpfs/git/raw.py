"""Git's objects as they are: read one by one through one process, written many at once as a pack.

Rewriting history this way keeps every byte that has no reason to change: names, times, encodings
and headers that we know nothing of.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from subprocess import Popen
from types import TracebackType
from typing import NamedTuple, Self

from pcpfs.errors import Corrupt
from pcpfs.git.process import Process, failure
from pcpfs.git.repository import Repository

_KINDS = {"commit": 1, "tree": 2, "blob": 3, "tag": 4}
_FOLDER = b"40000"
_MOST_HELD = 32 << 20
_AT_ONCE = 50
"""So many names fit into any pipe, whether or not git goes on reading."""


class Raw(NamedTuple):
    """An object: `commit`, `tree`, `blob` or `tag`, and its content."""

    kind: str
    content: bytes


class Entry(NamedTuple):
    """One line of a tree."""

    mode: bytes
    name: bytes
    object: str

    @property
    def is_folder(self) -> bool:
        return self.mode == _FOLDER


def entries(content: bytes, digits: int) -> list[Entry]:
    """The lines of a tree, in a repository whose object names have so many digits."""
    lines = _LINES[digits].findall(content)
    return [Entry(mode, name, object_name.hex()) for mode, name, object_name in lines]


_LINES = {n: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % (n // 2), re.DOTALL) for n in (40, 64)}


def tree_of(lines: Iterable[Entry]) -> bytes:
    """The content of a tree with these lines."""
    ordered = sorted(lines, key=lambda e: e.name + b"/" if e.mode == _FOLDER else e.name)
    return b"".join(b"%s %s\0%b" % (e.mode, e.name, bytes.fromhex(e.object)) for e in ordered)


def name_of(raw: Raw, digits: int) -> str:
    """The name that git gives an object."""
    named = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    named.update(b"%s %d\0" % (raw.kind.encode(), len(raw.content)))
    named.update(raw.content)
    return named.hexdigest()


class Reader:
    """Reads objects one at a time, any number of them, through one process."""

    def __init__(self, git: Repository) -> None:
        self._process: Popen[bytes] = process_of(git).start("cat-file", "--batch")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def read(self, name: str) -> Raw | None:
        """An object by its name; None if it is not at hand."""
        self._ask([name])
        return self._answer()

    def read_all(self, names: Sequence[str]) -> Iterator[tuple[str, Raw | None]]:
        """Many, in this order: faster, since nobody waits for each. Nothing else may be read
        before the last of them."""
        for start in range(0, len(names), _AT_ONCE):
            asked = names[start : start + _AT_ONCE]
            self._ask(asked)
            yield from ((name, self._answer()) for name in asked)

    def _ask(self, names: Iterable[str]) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(b"".join(name.encode() + b"\n" for name in names))
        stdin.flush()

    def _answer(self) -> Raw | None:
        stdout = self._process.stdout
        assert stdout is not None
        words = stdout.readline().split()
        if len(words) != 3 or not words[2].isdigit():
            return None
        content = stdout.read(int(words[2]) + 1)[:-1]
        return Raw(words[1].decode(), content)

    def the(self, name: str) -> Raw:
        """An object that must be there; Corrupt if it is not."""
        found = self.read(name)
        if found is None:
            raise Corrupt(f"git lacks the object {name}; run pcpfs fsck", path=name)
        return found


def every_object(git: Repository) -> Iterator[tuple[str, Raw]]:
    """All objects at hand, reached or not, loose or packed, by name; in no order."""
    command = ("cat-file", "--batch-all-objects", "--batch", "--unordered", "--buffer")
    with process_of(git).start(*command) as process:
        assert process.stdout is not None
        while header := process.stdout.readline():
            name, kind, size = header.decode().split()
            yield name, Raw(kind, process.stdout.read(int(size) + 1)[:-1])
        _, said = process.communicate()
        if process.returncode != 0:
            raise failure(command, said)


class Writer:
    """Collects new objects; `flush` (and every so many bytes) gives them to git as a pack."""

    def __init__(self, git: Repository, digits: int) -> None:
        self._git = git
        self._digits = digits
        self._command = ("index-pack", "--stdin", *promised(git))
        self._held: dict[str, Raw] = {}
        self._bytes = 0

    def add(self, raw: Raw) -> str:
        """Its name."""
        name = name_of(raw, self._digits)
        if name not in self._held:
            self._held[name] = raw
            self._bytes += len(raw.content)
            if self._bytes > _MOST_HELD:
                self.flush()
        return name

    def held(self, name: str) -> Raw | None:
        """A new object that git does not have yet."""
        return self._held.get(name)

    def flush(self) -> None:
        if self._held:
            self._give(b"".join(_pack(self._held.values(), self._digits)))
            self._held.clear()
            self._bytes = 0

    def _give(self, pack: bytes) -> None:
        code, _, said = process_of(self._git).attempt(*self._command, stdin=pack)
        if code != 0:
            raise failure(("index-pack",), said)


def promised(git: Repository) -> tuple[str, ...]:
    """What `index-pack` has to be told where objects are left out: that a new tree may name some
    of them, as the old one did."""
    return ("--promisor",) if git.is_partial() else ()


def _pack(objects: Iterable[Raw], digits: int) -> Iterator[bytes]:
    listed = list(objects)
    named = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    head = b"PACK" + (2).to_bytes(4, "big") + len(listed).to_bytes(4, "big")
    for part in (head, *map(_packed, listed)):
        named.update(part)
        yield part
    yield named.digest()


def _packed(raw: Raw) -> bytes:
    size = len(raw.content)
    byte = (_KINDS[raw.kind] << 4) | (size & 15)
    size >>= 4
    head = bytearray()
    while size:
        head.append(byte | 128)
        byte, size = size & 127, size >> 7
    head.append(byte)
    return bytes(head) + zlib.compress(raw.content, 1)


def process_of(git: Repository) -> Process:
    """Runs git on the repository of the store."""
    return Process(git.git_dir, git.work_tree, git.identity, optional_locks=True)
