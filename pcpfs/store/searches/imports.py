"""What the sources of a root import from each other, worked out when it is asked for.

The catalog knows what each revision says that it imports, as it is spelled. Which file that means
depends on the files that hold at the same instant, so that is not kept: a file that is added or
goes changes at once what older ones import, and `--as-of` finds what was meant then.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

from pcpfs.errors import Corrupt, NotFound, UsageError
from pcpfs.model.answers import Pins
from pcpfs.model.frames import FILE_KIND, Import, dotted
from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace, unescaped
from pcpfs.ports import AdapterRegistry, Importing
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow
from pcpfs.store.objects import Objects
from pcpfs.store.references import resolve
from pcpfs.store.registry import installed_registry

IMPORTS = "imports"
"""The type of these edges, among those of relations."""
_KEPT_TEXTS = 256
_PARTS = re.compile(r"[^\w$]+")


class ImportEdge(NamedTuple):
    """One source imports another, by these names in these lines."""

    from_page: str
    to_page: str
    imports: tuple[Import, ...]
    type: str = IMPORTS


class Imports:
    """Answers for one state of the catalog, under its pins; nothing is read before it is asked."""

    def __init__(
        self,
        catalog: Catalog,
        objects: Objects,
        pins: Pins,
        registry: Callable[[], AdapterRegistry] = installed_registry,
    ) -> None:
        self._catalog = catalog
        self._objects = objects
        self.pins = pins
        self._make_registry = registry
        self._roots: dict[str, RootImports] = {}
        self._symbol: FrameRow | None = None

    def narrow(self, symbol: FrameRow | None) -> None:
        """From now on tell of the file that this symbol is in only what concerns it."""
        self._symbol = symbol

    def of_root(self, root_id: str) -> RootImports:
        """All that is imported within one root."""
        if root_id not in self._roots:
            files = _files(self._catalog, root_id, self.pins)
            self._roots[root_id] = RootImports(files, self._objects, self._registry)
        return self._roots[root_id]

    def out_of(self, page_id: str) -> Sequence[ImportEdge]:
        """What a source imports, in the order of lines."""
        edges = self._inside(page_id, "out_of")
        if self._is_narrowed(page_id) and edges:
            words = self._words(page_id)
            return [edge for edge in edges if words & self._offered(edge)]
        return edges

    def into(self, page_id: str) -> Sequence[ImportEdge]:
        """By what a source is imported, in the order of paths."""
        edges = self._inside(page_id, "into")
        if self._symbol is not None and self._is_narrowed(page_id):
            name = self._symbol.qualified_name.partition(".")[0]
            return [edge for edge in edges if self._means(edge, name)]
        return edges

    def _inside(self, page_id: str, way: str) -> Sequence[ImportEdge]:
        page = self._catalog.page(page_id)
        if page is None or page.root_id is None:
            return ()
        found: Sequence[ImportEdge] = getattr(self.of_root(page.root_id), way)(page_id)
        return found

    def _is_narrowed(self, page_id: str) -> bool:
        return self._symbol is not None and self._symbol.page_id == page_id

    def _words(self, page_id: str) -> set[str]:
        """The words of the symbol's own text."""
        symbol = self._symbol
        assert symbol is not None
        root = self._root_of(page_id)
        return _words(root.text_of(page_id)[symbol.byte_a : symbol.byte_b])

    def _offered(self, edge: ImportEdge) -> set[str]:
        """What an import makes known: its own last name, and what stands at the top of the file,
        unless it names something in there."""
        named = {last_name(target) for target, _ in edge.imports}
        top = self._top_names(edge.to_page)
        return named & top or named | top

    def _means(self, edge: ImportEdge, name: str) -> bool:
        """Whether a file imports this name from a source, or (of one that imports it whole) says
        it anywhere."""
        named = {last_name(target) for target, _ in edge.imports}
        if name in named or named <= self._top_names(edge.to_page):
            return name in named
        return name in _words(self._root_of(edge.from_page).text_of(edge.from_page))

    def _top_names(self, page_id: str) -> set[str]:
        condition, parameters = holds(self.pins, "frame")
        rows = self._catalog.query(
            "SELECT name FROM frame WHERE page_id = ? AND kind <> ? AND name = qualified_name "
            f"AND {condition}",
            (page_id, FILE_KIND, *parameters),
        )
        return {name for (name,) in rows}

    def _root_of(self, page_id: str) -> RootImports:
        page = self._catalog.page(page_id)
        assert page is not None
        assert page.root_id is not None, "an edge is between sources"
        return self.of_root(page.root_id)

    @cached_property
    def _registry(self) -> AdapterRegistry:
        return self._make_registry()


class RootImports:
    """The imports between the files of one root that hold at one instant."""

    def __init__(self, files: Sequence[_File], objects: Objects, registry: AdapterRegistry) -> None:
        self._files = {file.page_id: file for file in files}
        self._tree = _Tree(files, objects)
        self._registry = registry
        self._edges: dict[str, tuple[ImportEdge, ...]] = {}
        self._adapters: dict[str, Importing | None] = {}

    def out_of(self, page_id: str) -> tuple[ImportEdge, ...]:
        """One edge for each file that is imported, in the order of lines."""
        if page_id not in self._edges:
            file = self._files.get(page_id)
            self._edges[page_id] = tuple(self._resolved(file)) if file else ()
        return self._edges[page_id]

    def into(self, page_id: str) -> Sequence[ImportEdge]:
        """One edge for each file that imports it, in the order of paths."""
        return self._inwards.get(page_id, ())

    def text_of(self, page_id: str) -> bytes:
        """The bytes of a file as they were; none where they are not here."""
        file = self._files.get(page_id)
        return (self._tree.read(file.path) if file else None) or b""

    @cached_property
    def _inwards(self) -> Mapping[str, Sequence[ImportEdge]]:
        found: dict[str, list[ImportEdge]] = defaultdict(list)
        for page_id in self._files:
            for edge in self.out_of(page_id):
                found[edge.to_page].append(edge)
        return found

    def _resolved(self, file: _File) -> Iterator[ImportEdge]:
        adapter = self._importing(file.adapter) if file.imports and file.adapter else None
        if adapter is None:
            return
        found: dict[str, list[Import]] = defaultdict(list)
        for target, line in json.loads(file.imports or "[]"):
            for path in adapter.resolved(file.path, target, self._tree):
                other = self._tree.page(path)
                if other is not None and other != file.page_id:
                    found[other].append(Import(target, line))
        for other, imports in found.items():
            yield ImportEdge(file.page_id, other, tuple(imports))

    def _importing(self, tag: str) -> Importing | None:
        """The adapter that wrote this, or the version of it that is installed."""
        if tag not in self._adapters:
            name = tag.rpartition("-")[0]
            alike = (adapter for adapter in self._registry.all() if adapter.name == name)
            adapter = self._registry.by_tag(tag) or next(alike, None)
            self._adapters[tag] = adapter if isinstance(adapter, Importing) else None
        return self._adapters[tag]


class _File(NamedTuple):
    page_id: str
    path: str
    scope: str
    digest: str | None
    adapter: str | None
    imports: str | None


def _files(catalog: Catalog, root_id: str, pins: Pins) -> list[_File]:
    """The files that hold under the pins, by path (as it is on the disk)."""
    condition, parameters = holds(pins, "span")
    rows = catalog.query(
        "SELECT page.page_id, path, page.scope, revision.digest, span.adapter, import.imports "
        "FROM page JOIN span USING (page_id) "
        "JOIN revision ON revision.revision_id = span.revision_id "
        "LEFT JOIN import ON import.page_id = page.page_id "
        "AND import.revision_id = span.revision_id AND import.adapter = span.adapter "
        f"WHERE root_id = ? AND lifecycle = 'active' AND {condition} ORDER BY path, page.page_id",
        (root_id, *parameters),
    )
    files = (_File(page, unescaped(path), *rest) for page, path, *rest in rows)
    return list({file.page_id: file for file in files}.values())


class _Tree:
    """The files of a root as those who resolve imports want them (`ports.SourceTree`)."""

    def __init__(self, files: Sequence[_File], objects: Objects) -> None:
        self._objects = objects
        self._files = {file.path: file for file in files}
        self._texts: OrderedDict[str, bytes | None] = OrderedDict()

    def has(self, path: str) -> bool:
        return path in self._files

    def names(self, folder: str) -> Sequence[str]:
        return self._folders.get(folder, ())

    def read(self, path: str) -> bytes | None:
        """None also where the bytes are not here any more."""
        if path not in self._files:
            return None
        if path not in self._texts:
            self._texts[path] = self._bytes(self._files[path])
            if len(self._texts) > _KEPT_TEXTS:
                self._texts.popitem(last=False)
        return self._texts[path]

    def page(self, path: str) -> str | None:
        file = self._files.get(path)
        return file.page_id if file else None

    def _bytes(self, file: _File) -> bytes | None:
        with suppress(NotFound, Corrupt):  # fsck tells which
            if file.digest:
                return self._objects.payload(Namespace(file.scope), Digest(file.digest))
        return None

    @cached_property
    def _folders(self) -> Mapping[str, Sequence[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for path in self._files:
            above, _, name = path.rpartition("/")
            while name not in found[above]:
                found[above].add(name)
                if not above:
                    break
                above, _, name = above.rpartition("/")
        return {folder: sorted(names) for folder, names in found.items()}


def start_of(catalog: Catalog, given: str, pins: Pins) -> tuple[str, FrameRow | None]:
    """The page that is meant, and the symbol in it if it is one, by id or by name. NotFound for
    neither, UsageError for a name that several symbols have."""
    condition, parameters = holds(pins, "frame")
    try:
        reference = resolve(catalog, given, pins.as_of)
    except NotFound:
        name = dotted(given)
        rows = catalog.frames(
            f"(qualified_name = ? OR name = ?) AND kind <> ? AND {condition}",
            (name, name, FILE_KIND, *parameters),
        )
        rows = [row for row in rows if row.qualified_name == name] or rows
        if not rows:
            raise
        if len({row.page_id for row in rows}) > 1:
            raise UsageError(
                f"{len(rows)} symbols are called {name!r}; give the id of one (pcpfs symbol)",
                candidates=[row.frame_id for row in rows[:10]],
            ) from None
        return rows[0].page_id, rows[0]
    if reference.frame is None:
        return reference.page, None
    rows = catalog.frames(f"frame_id = ? AND {condition}", (reference.frame, *parameters))
    is_symbol = bool(rows) and rows[-1].kind != FILE_KIND
    return reference.page, rows[-1] if is_symbol else None


def last_name(target: str) -> str:
    """`Model` of `..models.Model`; what stands behind the last mark that parts a name."""
    parts = [part for part in _PARTS.split(target) if part]
    return parts[-1] if parts else ""


def _words(raw: bytes) -> set[str]:
    return set(_PARTS.split(raw.decode("utf-8", "replace")))
