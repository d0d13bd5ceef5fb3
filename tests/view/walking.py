"""Walking a view as a door does: from the root down, by the names that are listed."""

from __future__ import annotations

from collections.abc import Iterator

from pcpfs.view.nodes import Directory, File, Node
from pcpfs.view.view import View


def walk(node: Node, path: str = "") -> Iterator[tuple[str, Node]]:
    """Every node below, with its path."""
    yield path or "/", node
    if isinstance(node, Directory):
        for _, name, below in node.entries():
            yield from walk(below, f"{path}/{name}")


def files(view: View, path: str = "/") -> dict[str, bytes]:
    """All files below a path, read."""
    base = view.node(path)
    found = {}
    for name, node in walk(base):
        if isinstance(node, File):
            raw = node.read()
            assert len(raw) == node.size
            found[name.removeprefix("/")] = raw
    return found


def names(view: View, path: str) -> list[str]:
    """What a directory lists."""
    node = view.node(path)
    assert isinstance(node, Directory)
    return [entry.name for entry in node.entries()]
