"""What a page or a symbol is related to: what people linked, and what sources import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pcpfs.model.answers import ImportedName, ImportView, Pins, RelatedPage, RelationView
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import FrameId, PageId, RevisionId
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import RelationRow
from pcpfs.store.paging import Part, part_of
from pcpfs.store.reading import Reader
from pcpfs.store.searches.graph import Near, neighbours
from pcpfs.store.searches.imports import ImportEdge, Imports, last_name, start_of


class Asked(NamedTuple):
    """Which way, along which types (all, if none), how far, and which part of the answer."""

    direction: str
    types: Sequence[str]
    depth: int
    limit: int
    cursor: str | None


def related(reader: Reader, given: str, pins: Pins, asked: Asked) -> Part[RelatedPage]:
    """Pages that relations and imports lead to, each by its shortest way, nearest first."""
    start, symbol = start_of(reader.catalog, given, pins)
    imports = Imports(reader.catalog, reader.objects, pins)
    imports.narrow(symbol)
    found = neighbours(
        reader.catalog,
        start,
        scopes={row.scope for row in reader.catalog.scopes()},
        types=asked.types,
        direction=asked.direction,
        depth=asked.depth,
        imports=imports,
    )
    served = _Served(reader, pins)
    items = [served.page(near) for near in found]
    which = (start, symbol.frame_id if symbol else "")
    question = ("related", *which, asked.direction, *asked.types, asked.depth, pins)
    return part_of(items, lambda item: item.page_id, question, asked.limit, asked.cursor)


class _Served:
    """Neighbours as they are answered."""

    def __init__(self, reader: Reader, pins: Pins) -> None:
        self._reader = reader
        self._pins = pins

    def page(self, near: Near) -> RelatedPage:
        """A neighbour with the relations that lead to it."""
        return RelatedPage(
            PageId(near.page.page_id),
            RevisionId(near.page.revision_id),
            near.page.scope,
            near.page.title,
            near.page.lifecycle,
            near.depth,
            tuple(self._edge(row, way) for row, way in near.via),
            near.page.path if near.page.is_source else None,
        )

    def _edge(self, row: RelationRow | ImportEdge, way: str) -> RelationView | ImportView:
        other = row.to_page if way == "out" else row.from_page
        if isinstance(row, RelationRow):
            return self._reader.relation_view(row, way, other)
        return ImportView(
            PageId(row.from_page),
            PageId(row.to_page),
            way,
            self._reader.page(other).title,
            tuple(
                ImportedName(target, line, self._definition(row.to_page, target))
                for target, line in row.imports
            ),
        )

    def _definition(self, page: str, target: str) -> FrameId | None:
        """The definition in a source that an import of it names."""
        condition, parameters = holds(self._pins, "frame")
        rows = self._reader.catalog.query(
            "SELECT frame_id FROM frame WHERE qualified_name = ? AND page_id = ? AND kind <> ? "
            f"AND {condition} ORDER BY byte_a",
            (last_name(target), page, FILE_KIND, *parameters),
        )
        return FrameId(rows[0][0]) if rows else None
