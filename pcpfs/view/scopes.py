"""`/scopes/<kind>/<name>/…`: readable heads, a scope below another beside its files.

Where a file of one scope and another scope, or a file of it, would meet, the file of the outer
scope gets the mark `~page`: nothing hides anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from pcpfs.model.names import Namespace, with_mark
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.trees.tree import wanted_heads
from pcpfs.view.nodes import Directory, Entry, File, Node, in_batches
from pcpfs.view.paths import Paths, Place
from pcpfs.view.place import Vantage

_MARK = "page"
_MARKS = re.compile(r"(~[0-9a-z]{6})?(~[0-9a-f]{8})?(\.[^./]*)?$")
_ID = len("pg_") + 26
_BEHIND = "\x7f"


def scopes(here: Vantage) -> Directory:
    return _folder(here, ())


def head_path(here: Vantage, row: PageRow, revision: str) -> str | None:
    """Where a text of an authored page stands in the view; None if it has no place there."""
    base = tuple(row.scope.split(":"))
    for name, head in _heads(here, row):
        if head == revision:
            first, slash, rest = name.partition("/")
            return f"/scopes/{'/'.join(base)}/{_unhidden(here, base, first)}{slash}{rest}"
    return None


def _folder(here: Vantage, base: tuple[str, ...]) -> Directory:
    """What stands in the folder of a scope, or above scopes: those below it, then its files."""

    def entries(start: str) -> Iterator[Entry]:
        if start[:1] in ("", "0"):
            for part in _below(here, base):
                if part >= start[1:]:
                    yield Entry(f"0{part}\0", part, _folder(here, (*base, part)))
        for entry in files.entries(start[1:] if start[:1] == "1" else ""):
            name = _unhidden(here, base, entry.name)
            yield Entry(f"1{entry.next}", name, entry.node)

    def find(name: str) -> Node | None:
        inner = _below(here, base)
        if name in inner:
            return _folder(here, (*base, name))
        marked = {with_mark(part, _MARK): part for part in inner}
        return files.find(marked.get(name, name))

    tree = _Tree(here, ":".join(base))
    files = Paths(tree.places, tree.at, str, str).folder()
    return Directory(entries, find)


def _below(here: Vantage, base: tuple[str, ...]) -> list[str]:
    """The next part of all scopes below one, sorted."""
    depth = len(base)
    return sorted({scope[depth] for scope in here.scopes if scope[:depth] == base != scope})


def _unhidden(here: Vantage, base: tuple[str, ...], first: str) -> str:
    """A name in a scope's folder, with a mark if a scope below it is called so."""
    return with_mark(first, _MARK) if first in _below(here, base) else first


class _Tree:
    """The heads of one scope."""

    def __init__(self, here: Vantage, scope: str) -> None:
        self._here = here
        self._scope = scope

    def places(self, start: str, end: str | None) -> Iterator[Place]:
        after = f"{{0.path}}\0{{0.page_id}}{_BEHIND}".format
        for row in in_batches(partial(self._rows, end), after, start):
            for number, (name, revision) in enumerate(_heads(self._here, row)):
                behind = f"{row.path}\0{row.page_id}{number:03d}"
                if behind > start:
                    shown = name.rpartition("/")[2]
                    yield Place(row.path or "", behind, shown, self._file(row, revision))

    def at(self, folder: str, name: str) -> Node | None:
        for path in dict.fromkeys((folder + name, folder + _MARKS.sub(r"\3", name))):
            for row in self._pages("path = ?", (path,)):
                for shown, revision in _heads(self._here, row):
                    if shown == folder + name:
                        return self._file(row, revision)
        return None

    def _rows(self, end: str | None, start: str, count: int) -> Sequence[PageRow]:
        path, _, rest = start.partition("\0")
        page = rest if rest.endswith(_BEHIND) else rest[:_ID]
        bound, value = ("1", ()) if end is None else ("path < ?", (end,))
        return self._pages(
            f"(path, page_id) >= (?, ?) AND {bound}", (path, page, *value), f"LIMIT {count}"
        )

    def _pages(
        self, condition: str, values: tuple[object, ...], limit: str = ""
    ) -> Sequence[PageRow]:
        shown, pinned = self._here.is_shown("page")
        rows = self._here.catalog.query(
            f"SELECT * FROM page WHERE scope = ? AND is_source = 0 AND path IS NOT NULL "
            f"AND {shown} AND {condition} ORDER BY path, page_id {limit}",
            (self._scope, *pinned, *values),
        )
        return [PageRow(*row) for row in rows]

    def _file(self, row: PageRow, revision: str) -> File:
        held, values = holds(self._here.pins, "span")
        ((size, since, ever),) = self._here.catalog.query(
            f"SELECT size, max(valid_from) FILTER (WHERE {held}), max(valid_from) "
            "FROM revision LEFT JOIN span USING (revision_id) WHERE revision.revision_id = ?",
            (*values, revision),
        )
        return self._here.payload(row.page_id, revision, size, since or ever or row.updated_at)


def _heads(here: Vantage, row: PageRow) -> Iterator[tuple[str, str]]:
    """Paths and revisions of a page's texts here: its heads, or what held at the instant."""
    if here.pins.as_of is None:
        prefix = len(f"{Namespace(row.scope).folder}/tree/")
        heads = wanted_heads(here.catalog, [row]).items()
        yield from ((path[prefix:], head.revision) for path, head in heads)
        return
    span = here.effective(row.page_id)
    if row.path is not None and span is not None and _has_text(here, span.revision_id):
        is_rival = _is_rival(here, row)
        name = with_mark(row.path, row.page_id[-6:]) if is_rival else row.path
        yield name, span.revision_id


def _has_text(here: Vantage, revision: str) -> bool:
    rows = here.catalog.query("SELECT digest FROM revision WHERE revision_id = ?", (revision,))
    return bool(rows) and rows[0][0] is not None


def _is_rival(here: Vantage, row: PageRow) -> bool:
    """Whether a page with a smaller id had the same path then."""
    shown, values = here.is_shown("page")
    rows = here.catalog.query(
        f"SELECT 1 FROM page WHERE scope = ? AND claim = ? AND page_id < ? AND {shown} LIMIT 1",
        (row.scope, row.claim, row.page_id, *values),
    )
    return bool(rows)
