"""What the virtual view is made of: directories, files and links; and safe names for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from pcpfs.model.instants import Instant


@dataclass(frozen=True, slots=True)
class File:
    """Bytes that are made or read when asked for; `size` is exact."""

    size: int
    modified: Instant
    read: Callable[[], bytes]

    kind = "file"


@dataclass(frozen=True, slots=True)
class Directory:
    """Names and what they stand for, in order; made when asked for.

    `find` answers a name without listing all, also names that no list shows (`/as-of/<instant>`).
    """

    entries: Callable[[], Mapping[str, Node]]
    find: Callable[[str], Node | None] | None = None

    kind = "directory"

    def child(self, name: str) -> Node | None:
        return self.find(name) if self.find is not None else self.entries().get(name)


@dataclass(frozen=True, slots=True)
class Link:
    """The same thing at another place of the view; `target` is absolute within it."""

    target: str

    kind = "link"


Node = File | Directory | Link


def safe_name(text: str) -> str:
    """A file name for any text: what a name cannot hold, or a terminal obeys, is percent-encoded;
    reversible by `plain_name`."""
    raw = text.encode("utf-8", "surrogateescape")
    shown = "".join(
        chr(byte) if byte >= 0x80 or (0x20 <= byte < 0x7F and byte not in b"/%") else f"%{byte:02x}"
        for byte in raw
    ).encode("latin-1")
    name = shown.decode("utf-8", "surrogateescape")
    return {"": "%", ".": "%2e", "..": "%2e%2e"}.get(name, name)


def plain_name(name: str) -> str:
    """The text that `safe_name` made this name of."""
    return "" if name == "%" else unquote(name, "utf-8", "surrogateescape")


def folded(files: Mapping[str, Node]) -> dict[str, Node]:
    """A tree of directories from files by path with `/`; sorted by name."""
    root: dict[str, Node] = {}
    below: dict[str, dict[str, Node]] = {}
    for path, node in files.items():
        first, slash, rest = path.partition("/")
        if slash:
            below.setdefault(first, {})[rest] = node
        else:
            root[first] = node
    for name, nested in below.items():
        root.setdefault(name, Directory(lambda nested=nested: folded(nested)))  # type: ignore[misc]
    return dict(sorted(root.items()))
