"""The virtual view: one pure function from (store, path, instants) to a node; doors render it.

Each branch below the root is a module; a new branch is one more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from pcpfs.errors import InvalidInstant, NotFound, UsageError
from pcpfs.model.answers import Pins
from pcpfs.model.instants import Instant
from pcpfs.store.reading import Reader
from pcpfs.store.session import Session
from pcpfs.view.frames import frames
from pcpfs.view.nodes import Directory, File, Link, Node, listed, unlisted
from pcpfs.view.pages import pages
from pcpfs.view.place import Search, Vantage
from pcpfs.view.relations import relations
from pcpfs.view.scopes import scopes
from pcpfs.view.searches import searches
from pcpfs.view.sources import sources

BRANCHES: Mapping[str, Callable[[Vantage], Directory]] = {
    "frames": frames,
    "pages": pages,
    "relations": relations,
    "scopes": scopes,
    "search": searches,
    "sources": sources,
}
_MOST_LINKS = 16
_KEPT_INSTANTS = 8


class View:
    """What a session sees as files, now or under pins. Reads only; sees one state of the store.

    `reader` is asked instead of a new one of the session, `search` instead of the session.
    """

    def __init__(
        self,
        session: Session,
        pins: Pins,
        *,
        reader: Reader | None = None,
        search: Search | None = None,
    ) -> None:
        self.pins = pins
        self._here = Vantage(reader or session.reader(pins), pins, search or session.search)
        self._at = lru_cache(_KEPT_INSTANTS)(self._root_at)
        earlier = {} if pins.as_of is not None else {"as-of": unlisted(self._at)}
        self._root = _root(self._here, earlier)

    @property
    def reader(self) -> Reader:
        return self._here.reader

    @property
    def modified(self) -> Instant:
        """When anything in it changed last, for what has no time of its own."""
        return self._here.modified

    def node(self, path: str) -> Node:
        """What stands at a path (with `/`, relative or absolute), links on the way followed;
        NotFound for nothing."""
        return self._node(path, _MOST_LINKS)

    def _node(self, path: str, links: int) -> Node:
        found: Node | None = self._root
        for name in [part for part in path.split("/") if part not in ("", ".")]:
            if name == "..":
                raise UsageError("a path in the view goes downwards only: no '..'")
            if isinstance(found, Link) and links > 0:
                found = self._node(found.target, links - 1)
            found = found.find(name) if isinstance(found, Directory) else None
            if found is None:
                raise NotFound(f"there is no {path!r} in the view; see pcpfs ls /")
        assert found is not None, "the root is always there"
        return found

    def followed(self, path: str) -> File | Directory:
        """What stands at a path, links followed."""
        found = self.node(path)
        for _ in range(_MOST_LINKS):
            if not isinstance(found, Link):
                return found
            found = self.node(found.target)
        raise NotFound(f"the links at {path!r} lead nowhere")

    def file(self, path: str) -> File:
        """The file at a path, links followed; UsageError for a directory."""
        found = self.followed(path)
        if isinstance(found, Directory):
            raise UsageError(f"{path} is a directory; see pcpfs ls {path}")
        return found

    def root(self) -> Directory:
        return self._root

    def _root_at(self, name: str) -> Node | None:
        """`/as-of/<instant>`: all branches again. Links stay below it."""
        try:
            pins = replace(self.pins, as_of=Instant.read(name))
        except InvalidInstant:
            return None
        return _root(self._here.under(pins, f"/as-of/{name}"), {})


def _root(here: Vantage, more: Mapping[str, Node]) -> Directory:
    branches = {name: branch(here) for name, branch in BRANCHES.items()}
    return listed(lambda: {**branches, **more})
