"""What is around a page: its edges, and its neighbourhood as a frame of its own (G1 to G4)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from pcpfs.model.cgp import FrameKind, FrameRelation
from pcpfs.model.frames import FILE_KIND, Symbol
from pcpfs.model.names import unescaped
from pcpfs.provider import naming
from pcpfs.provider.candidate import Form, Subject
from pcpfs.provider.framing import Framer, Shape, named
from pcpfs.provider.naming import FrameName, file_uri
from pcpfs.provider.standing import Standing
from pcpfs.sources.roots import Root
from pcpfs.store.catalogs.rows import PageRow, RelationRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.imports import Imports

_MOST_EDGES = 16
_MOST_LINES = 60
_NOWHERE = (0, 0)


class Surroundings:
    """The edges of pages, to what this principal may read; what came after the pins
    of `imports` is left away."""

    def __init__(
        self,
        store_id: str,
        reader: Reader,
        roots: Mapping[str, Root],
        readable: frozenset[str],
        imports: Imports,
    ) -> None:
        self._store_id = store_id
        self._reader = reader
        self._roots = roots
        self._readable = readable
        self._until = imports.pins.as_of
        self._imports = imports

    def edges(self, standing: Standing) -> tuple[FrameRelation, ...]:
        """What a page says about others: what it cites, what it was made of, what it replaces."""
        rows = self._rows("from_page = ?", standing.page.page_id)
        found = (self._edge(row.type, row.to_page, row) for row in rows)
        return tuple(dict.fromkeys(edge for edge in found if edge is not None))[:_MOST_EDGES]

    def pointing_at(self, page_id: str) -> list[str]:
        """The pages that say something about this one, newest first."""
        rows = self._rows("to_page = ? AND from_page <> to_page", page_id)
        return list(dict.fromkeys(row.from_page for row in reversed(rows)))

    def neighbourhood(self, subject: Subject, framer: Framer) -> Form | None:
        """What a page defines, what it points at, and what points at it, as one text."""
        standing = subject.standing
        content = self.text(standing, framer)
        if not content:
            return None
        title, label = framer.wording(standing)
        shape = Shape(
            kind=FrameKind.GRAPH,
            name=FrameName(standing.page.page_id, framer.pin(standing), naming.GRAPH),
            cut=standing.text.whole(),
            title=f"around {title}",
            label=f"around {label}",
            method="neighbourhood",
            content=content,
        )
        frame = framer.frame(subject, shape)
        edges = (
            *frame.relations,
            *self._imported(standing),
            *self._inwards(standing),
            *self._defined(standing),
        )
        return Form(replace(frame, relations=edges[:_MOST_EDGES]), _NOWHERE, whole=True)

    def _inwards(self, standing: Standing) -> tuple[FrameRelation, ...]:
        """The edges of others to this page, turned around."""
        rows = self._incoming(standing)
        return _distinct(self._edge(f"{row.type}_by", row.from_page) for row in rows)

    def text(self, standing: Standing, framer: Framer) -> str:
        """The neighbourhood in words; empty if there is none."""
        lines = [*self._described(standing), *self._symbol_lines(standing)]
        if not lines:
            return ""
        title, _ = framer.wording(standing)
        more = len(lines) - _MOST_LINES
        lines = lines[:_MOST_LINES] + ([f"and {more} more"] if more > 0 else [])
        return "\n".join([title, *lines]) + "\n"

    def _imported(self, standing: Standing) -> tuple[FrameRelation, ...]:
        """What a source imports, and by what it is imported."""
        page = standing.page.page_id
        out = (self._named("code.imports", e.to_page) for e in self._imports.out_of(page))
        into = (self._edge("imported_by", e.from_page) for e in self._imports.into(page))
        return _distinct((*out, *into))

    def _described(self, standing: Standing) -> Iterator[str]:
        for edge in self.edges(standing):
            yield f"{edge.rel.removeprefix('pcpfs:')}: {edge.display_name}"
        for row in self._incoming(standing):
            source = self._edge(row.type, row.from_page)
            if source is not None:
                yield f"{row.type}, from: {source.display_name}"
        for edge in self._imported(standing):
            told = {"code.imports": "imports"}.get(edge.rel, "imports, from")
            yield f"{told}: {edge.display_name}"

    def _symbol_lines(self, standing: Standing) -> Iterator[str]:
        for symbol in self.symbols(standing).values():
            first, last = symbol.lines
            yield f"defines: {symbol.kind} {symbol.qualified_name}, lines {first}-{last}"

    def symbols(self, standing: Standing) -> Mapping[str, Symbol]:
        """The symbols of a source, as they stand."""
        if standing.symbols is not None:
            return standing.symbols
        views = self._reader.frames_of(standing.page.page_id) if standing.page.is_source else ()
        return {
            v.frame_id: Symbol(
                v.kind, v.name, v.qualified_name, v.signature, v.doc, v.lines, v.bytes, v.digest
            )
            for v in views
            if v.kind != FILE_KIND
        }

    def _defined(self, standing: Standing) -> Iterator[FrameRelation]:
        for frame_id, symbol in self.symbols(standing).items():
            uri = naming.item_uri(self._store_id, frame_id)
            yield FrameRelation(
                rel="code.defines", target_uri=uri, display_name=symbol.qualified_name
            )

    def _incoming(self, standing: Standing) -> list[RelationRow]:
        return self._rows("to_page = ? AND from_page <> to_page", standing.page.page_id)

    def _rows(self, condition: str, page_id: str) -> list[RelationRow]:
        rows = self._reader.catalog.relations(condition, (page_id,))
        until = self._until
        return [r for r in rows if until is None or r.created_at <= until.microseconds]

    def _edge(
        self, relation: str, other: str, row: RelationRow | None = None
    ) -> FrameRelation | None:
        """An edge of ours to a page, or to the symbol in it that the relation names."""
        return self._named(f"pcpfs:{relation}", other, row)

    def _named(self, rel: str, other: str, row: RelationRow | None = None) -> FrameRelation | None:
        page = self._reader.catalog.page(other)
        if page is None or page.scope not in self._readable or page.lifecycle == "tombstoned":
            return None
        name = named(page.path or "" if page.is_source else page.title, "page")
        if row is not None and row.to_frame is not None:
            name = self._frame_name(row.to_frame) or name
        return FrameRelation(rel=rel, target_uri=self.uri_of(page), display_name=name)

    def _frame_name(self, frame_id: str) -> str | None:
        rows = self._reader.catalog.frames("frame_id = ?", (frame_id,))
        return rows[-1].qualified_name if rows else None

    def uri_of(self, page: PageRow) -> str:
        """Where a page is found: the file of a bound source, else the page itself."""
        root = self._roots.get(page.root_id or "")
        if root is None:
            return naming.item_uri(self._store_id, page.page_id)
        return file_uri(Path(os.path.join(root.path, unescaped(page.path or ""))))


def _distinct(edges: Iterable[FrameRelation | None]) -> tuple[FrameRelation, ...]:
    return tuple(dict.fromkeys(edge for edge in edges if edge is not None))
