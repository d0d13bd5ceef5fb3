"""Folders of the virtual view, as lists and as trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pcpfs.cli.text import safe, styled
from pcpfs.view.nodes import Directory, File, Link, Node

if TYPE_CHECKING:
    from pcpfs.view.view import View


@dataclass(frozen=True, slots=True)
class Place:
    """A node below the folder that is shown; `above` says of each folder on the way whether it is
    the last one of its own."""

    path: str
    node: Node
    is_last: bool
    above: tuple[bool, ...]

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def listed(view: View, path: str) -> Mapping[str, Node]:
    """What a folder holds; a file or a link is a list of itself."""
    node = view.node(path)
    if isinstance(node, Directory):
        return node.entries()
    return {path.rstrip("/").rpartition("/")[2]: node}


def walk(view: View, path: str, depth: int) -> Iterator[Place]:
    """Everything below a folder down to `depth` levels, folders before what they hold."""
    yield from _below(listed(view, path), "", (), depth)


def _below(
    nodes: Mapping[str, Node], prefix: str, above: tuple[bool, ...], depth: int
) -> Iterator[Place]:
    for number, (name, node) in enumerate(nodes.items(), 1):
        is_last = number == len(nodes)
        yield Place(prefix + name, node, is_last, above)
        if isinstance(node, Directory) and depth > 1:
            yield from _below(node.entries(), f"{prefix}{name}/", (*above, is_last), depth - 1)


def entry(name: str, node: Node) -> dict[str, object]:
    """A node as a member of a JSON list."""
    if isinstance(node, File):
        return {"name": name, "kind": "file", "size": node.size, "modified": node.modified}
    if isinstance(node, Link):
        return {"name": name, "kind": "link", "target": node.target}
    return {"name": name, "kind": "directory"}


def shown_name(name: str, node: Node) -> str:
    """A name as `ls` shows it: folders end with a slash, links say where they lead."""
    if isinstance(node, Link):
        return f"{safe(name)} -> {safe(node.target)}"
    return styled(safe(name) + "/", "blue") if isinstance(node, Directory) else safe(name)
