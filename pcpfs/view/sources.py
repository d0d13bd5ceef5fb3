"""`/sources/<root>/<path>`: source bytes, and `<path>.symbols/` beside each file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache, partial
from typing import NamedTuple
from unicodedata import normalize

from pcpfs.model.answers import FrameView
from pcpfs.model.frames import FILE_KIND
from pcpfs.store.catalogs.pinned import holds
from pcpfs.view.names import safe_name
from pcpfs.view.nodes import Directory, File, Node, in_batches, listed
from pcpfs.view.paths import Paths, Place, plain_part, shown_part
from pcpfs.view.place import Vantage, suffix

SYMBOLS = ".symbols"
_KEPT_FOLDERS = 32


def sources(here: Vantage) -> Directory:
    root = cache(partial(_root, here))
    return listed(lambda: {name: root(row.root_id) for name, row in here.roots.items()})


def _root(here: Vantage, root_id: str) -> Directory:
    tree = _Tree(here, root_id)
    return Paths(tree.places, tree.at, shown_part, plain_part).folder()


def source_path(here: Vantage, root_id: str, path: str) -> str:
    """Where a source stands in the view."""
    return f"/sources/{here.root_names[root_id]}/" + "/".join(map(shown_part, path.split("/")))


def symbol_path(here: Vantage, frame: FrameView, root_id: str) -> str | None:
    """Where a symbol stands in the view."""
    for name, symbol in _named_symbols(here, frame.page_id, frame.path):
        if symbol.frame_id == frame.frame_id:
            folder, slash, file = frame.path.rpartition("/")
            return f"{source_path(here, root_id, f'{folder}{slash}{file}{SYMBOLS}')}/{name}"
    return None


class _Held(NamedTuple):
    """A source that holds: its text, and whether it has symbols."""

    page_id: str
    path: str
    revision: str
    size: int
    since: int
    has_symbols: int


class _Tree:
    """The sources of one root."""

    def __init__(self, here: Vantage, root_id: str) -> None:
        self._here = here
        span, span_values = holds(here.pins, "span")
        frame, frame_values = holds(here.pins, "frame")
        self._question = (
            "SELECT page.page_id, page.path, span.revision_id, revision.size, span.valid_from, "
            "EXISTS (SELECT 1 FROM frame WHERE frame.page_id = page.page_id "
            f"AND kind <> '{FILE_KIND}' AND {frame}), max(span.ordinal) "
            "FROM page CROSS JOIN span ON span.page_id = page.page_id "
            "CROSS JOIN revision ON revision.revision_id = span.revision_id "
            f"WHERE {span} AND page.lifecycle <> 'tombstoned' AND page.root_id = ?"
        )
        self._values = (*frame_values, *span_values, root_id)
        self._symbols_of = lru_cache(_KEPT_FOLDERS)(partial(_symbols, here))

    def places(self, start: str, end: str | None) -> Iterator[Place]:
        """Files, each with its symbols behind it, unless something real is called so."""
        for row in in_batches(partial(self._rows, end), lambda row: f"{row.path}\0\0", start):
            name = shown_part(row.path.rpartition("/")[2])
            file = Place(row.path, f"{row.path}\0", name, self._file(row))
            if file.next > start:
                yield file
            if row.has_symbols and f"{row.path}\0\0" > start and not self._is_real(row.path):
                yield self._symbols(row)

    def at(self, folder: str, name: str) -> Node | None:
        part = plain_part(name)
        row = self._row(folder + part) if part else None
        if row is not None:
            return self._file(row)
        if part is None or not part.endswith(SYMBOLS):
            return None
        of = self._row(folder + part.removesuffix(SYMBOLS))
        is_virtual = of is not None and of.has_symbols and not self._is_real(of.path)
        return self._symbols(of).node if of is not None and is_virtual else None

    def _rows(self, end: str | None, start: str, count: int) -> list[_Held]:
        path, _, done = start.partition("\0")
        first = ">" if done else ">="
        bound, value = ("", ()) if end is None else (" AND page.path < ?", (end,))
        rows = self._here.catalog.query(
            f"{self._question} AND page.path {first} ?{bound} "
            "GROUP BY page.path ORDER BY page.path LIMIT ?",
            (*self._values, path, *value, count),
        )
        return [_Held(*row[:-1]) for row in rows]

    def _row(self, path: str) -> _Held | None:
        rows = self._here.catalog.query(
            f"{self._question} AND page.path = ? GROUP BY page.path", (*self._values, path)
        )
        return _Held(*rows[0][:-1]) if rows else None

    def _is_real(self, path: str) -> bool:
        """Whether the source itself has something where the symbols of a file would stand."""
        real = path + SYMBOLS
        below = self._rows(f"{real}0", f"{real}/", 1)
        return bool(below) or self._row(real) is not None

    def _file(self, row: _Held) -> File:
        return self._here.payload(row.page_id, row.revision, row.size, row.since)

    def _symbols(self, row: _Held) -> Place:
        name = shown_part(row.path.rpartition("/")[2] + SYMBOLS)
        node = listed(partial(self._symbols_of, row.page_id, row.path))
        return Place(row.path, f"{row.path}\0\0", name, node)


def _symbols(here: Vantage, page_id: str, path: str) -> dict[str, Node]:
    """Each symbol of a file as a file of exactly its bytes."""
    return {name: _symbol(here, frame) for name, frame in _named_symbols(here, page_id, path)}


def _named_symbols(here: Vantage, page_id: str, path: str) -> Iterator[tuple[str, FrameView]]:
    """The symbols of a file in its order; those whose names differ in nothing, or in case only,
    are marked with their frame."""
    taken: set[str] = set()
    for frame in here.reader.frames_of(page_id):
        if frame.kind == FILE_KIND:
            continue
        name = safe_name(frame.qualified_name + suffix(path))
        if _claim(name) in taken:
            name = safe_name(f"{frame.qualified_name}~{frame.frame_id[-6:]}{suffix(path)}")
        taken.add(_claim(name))
        yield name, frame


def _claim(name: str) -> str:
    return normalize("NFC", name).casefold()


def _symbol(here: Vantage, frame: FrameView) -> File:
    return File(
        frame.bytes[1] - frame.bytes[0],
        frame.valid_from,
        lambda: here.text(f"{frame.page_id}@{frame.revision_id}")[slice(*frame.bytes)],
        frame.digest,
    )
