"""Folders of the virtual view, as lists and as trees."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pcpfs.cli.text import styled
from pcpfs.errors import UsageError
from pcpfs.model.shown import safe
from pcpfs.view.nodes import Directory, Entry, File, Link, Node

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


def listed(view: View, path: str, start: str = "") -> Iterator[Entry]:
    """What a folder holds, from a place of its list on; a file or a link is a list of itself."""
    node = view.node(path)
    if isinstance(node, Directory):
        return node.entries(start)
    return iter([Entry("", path.rstrip("/").rpartition("/")[2], node)])


def walk(view: View, path: str, depth: int) -> Iterator[Place]:
    """Everything below a folder down to `depth` levels, folders before what they hold."""
    return _below(listed(view, path), "", (), depth)


def _below(
    entries: Iterator[Entry], prefix: str, above: tuple[bool, ...], depth: int
) -> Iterator[Place]:
    entry = next(entries, None)
    while entry is not None:
        following = next(entries, None)
        is_last = following is None
        yield Place(prefix + entry.name, entry.node, is_last, above)
        if isinstance(entry.node, Directory) and depth > 1:
            inner = f"{prefix}{entry.name}/"
            yield from _below(entry.node.entries(), inner, (*above, is_last), depth - 1)
        entry = following


def cursor_after(given: Entry, path: str) -> str:
    """Where the list of a folder goes on after an entry, as a cursor for that folder."""
    return base64.urlsafe_b64encode(json.dumps([path, given.next]).encode()).decode()


def place_of(cursor: str, path: str) -> str:
    """Where the list of a folder goes on; UsageError for a cursor of another one."""
    try:
        of, place = json.loads(base64.b64decode(cursor, altchars=b"-_", validate=True))
    except (ValueError, TypeError) as error:
        raise UsageError("this is no cursor; take it from the answer before") from error
    if of != path or not isinstance(place, str):
        raise UsageError("this cursor belongs to another folder; begin again without it")
    return place


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
