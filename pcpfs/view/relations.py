"""`/relations/<type>/<page>/<page or frame>`: what leads where, as links.

What is not there, or may not be seen, has no place here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pcpfs.errors import NotFound
from pcpfs.view.names import safe_name
from pcpfs.view.nodes import Directory, Entry, Link, Node, in_batches, listed
from pcpfs.view.place import Vantage


def relations(here: Vantage) -> Directory:
    return listed(lambda: {safe_name(name): _of_type(here, name) for name in _types(here)})


def _types(here: Vantage) -> list[str]:
    source, condition, values = _shown(here)
    rows = here.catalog.query(f"SELECT DISTINCT type FROM {source} WHERE {condition}", values)
    return [name for (name,) in rows]


def _of_type(here: Vantage, name: str) -> Directory:
    """The pages that relations of a type come from, by id."""
    source, condition, values = _shown(here)

    def froms(start: str, count: int) -> Sequence[str]:
        rows = here.catalog.query(
            f"SELECT DISTINCT from_page FROM {source} WHERE {condition} AND type = ? "
            "AND from_page >= ? ORDER BY from_page LIMIT ?",
            (*values, name, start, count),
        )
        return [page for (page,) in rows]

    def entries(start: str) -> Iterator[Entry]:
        for page in in_batches(froms, lambda page: f"{page}\0", start):
            yield Entry(f"{page}\0", page, _from(here, name, page))

    def find(page: str) -> Node | None:
        return _from(here, name, page) if page in froms(page, 1) else None

    return Directory(entries, find)


def _from(here: Vantage, name: str, page: str) -> Directory:
    """Where the relations of a type lead from a page: to pages, or to symbols in them."""
    source, condition, values = _shown(here)

    def targets() -> dict[str, Node]:
        rows = here.catalog.query(
            f"SELECT DISTINCT to_page, to_frame FROM {source} WHERE {condition} AND type = ? "
            "AND from_page = ?",
            (*values, name, page),
        )
        return dict(_target(here, to_page, to_frame) for to_page, to_frame in rows)

    return listed(targets)


def _target(here: Vantage, page: str, frame: str | None) -> tuple[str, Link]:
    if frame is not None:
        try:
            here.reader.frame(frame)
        except NotFound:
            return page, here.link(f"/pages/{page}")
        return f"{frame}.json", here.link(f"/frames/{frame}.json")
    return page, here.link(f"/pages/{page}")


def _shown(here: Vantage) -> tuple[str, str, tuple[int, ...]]:
    """Relations between two pages that are both in `/pages`: tables, condition and its values."""
    tables = (
        "relation JOIN page AS source ON source.page_id = from_page "
        "JOIN page AS target ON target.page_id = to_page"
    )
    ours, values = here.is_shown("source")
    theirs, more = here.is_shown("target")
    return tables, f"{ours} AND {theirs}", (*values, *more)
