"""From where the view is looked at: what every branch of it is made with."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from typing import Protocol

from pcpfs.errors import NotFound
from pcpfs.model.answers import Pins, SearchAnswer, plain
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import extension_of, unescaped
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import PageRow, RootRow, SpanRow
from pcpfs.store.reading import Reader
from pcpfs.store.references import Reference
from pcpfs.view.names import safe_name
from pcpfs.view.nodes import File, Link

_KEPT = 4096
_KEPT_TEXTS = 2


class Search(Protocol):
    """`Session.search`, as far as the view asks it."""

    def __call__(self, query: str, *, pins: Pins, limit: int) -> SearchAnswer: ...


class Vantage:
    """A reader, its pins, and the path (`base`) below which links lead."""

    def __init__(self, reader: Reader, pins: Pins, search: Search, base: str = "") -> None:
        self.reader = reader
        self.pins = pins
        self.base = base
        self._search = search
        self.held = lru_cache(_KEPT)(self._held)
        """A page and the revision of it that is meant here; None where it has none."""
        self.text = lru_cache(_KEPT_TEXTS)(self.reader.payload)
        """The text of `page@revision`; who reads one symbol of a file reads the next one soon."""
        self.found = cache(lambda query: search(query, pins=pins, limit=MOST_FOUND).results)

    def under(self, pins: Pins, base: str) -> Vantage:
        """The same state of the store, looked at from below a path, under other pins."""
        return Vantage(self.reader.under(pins), pins, self._search, base)

    @property
    def catalog(self) -> Catalog:
        return self.reader.catalog

    @cached_property
    def roots(self) -> dict[str, RootRow]:
        """The source trees by the names that they have here. Clones may have given one name
        twice: then the id tells them apart."""
        found: dict[str, RootRow] = {}
        for row in self.catalog.roots():
            name = safe_name(row.name)
            found[f"{name}~{row.root_id[-6:]}" if name in found else name] = row
        return found

    @cached_property
    def root_names(self) -> dict[str, str]:
        """The names of source trees by id."""
        return {row.root_id: name for name, row in self.roots.items()}

    @cached_property
    def scopes(self) -> frozenset[tuple[str, ...]]:
        """The parts of the names of all scopes."""
        return frozenset(tuple(row.scope.split(":")) for row in self.catalog.scopes())

    @cached_property
    def modified(self) -> Instant:
        """When anything that is seen here changed last."""
        ((latest,),) = self.catalog.query("SELECT max(at) FROM change")
        return Instant(latest or 0)

    def link(self, path: str) -> Link:
        return Link(self.base + path)

    def effective(self, page_id: str) -> SpanRow | None:
        """The revision of a page that is meant here; None where it has none."""
        found = self.held(page_id)
        return None if found is None else found[1]

    def _held(self, page_id: str) -> tuple[PageRow, SpanRow] | None:
        try:
            return self.reader.effective(Reference(PageId(page_id)))
        except NotFound:
            return None

    def is_shown(self, page: str) -> tuple[str, tuple[int, ...]]:
        """The condition that a row of `page`, called so, has a place in `/pages`."""
        condition = f"{page}.lifecycle <> 'tombstoned' AND NOT {page}.is_beside"
        if self.pins.as_of is None:
            return condition, ()
        held, parameters = holds(self.pins, "span")
        there = f"SELECT 1 FROM span WHERE span.page_id = {page}.page_id AND {held}"
        return f"{condition} AND EXISTS ({there})", parameters

    def payload(self, page_id: str, revision: str, size: int, since: int) -> File:
        """The text of a revision that is so long and holds since then."""
        given = f"{page_id}@{revision}"
        return File(size, Instant(since), lambda: self.reader.payload(given), revision)


MOST_FOUND = 50
"""How many results a folder of `/search` has."""


def made(modified: Instant, value: Callable[[], object]) -> File:
    """A file of JSON, made once when it is looked at."""

    @cache
    def raw() -> bytes:
        text = json.dumps(plain(value()), ensure_ascii=False, indent=2, sort_keys=True)
        return f"{text}\n".encode("utf-8", "surrogateescape")

    return File(None, modified, raw)


def ending(row: PageRow) -> str:
    """How the name of a file with a page's text ends: as its source does, else by its type."""
    own = suffix(row.path or "")
    return own if row.is_source and own else f".{extension_of(row.media_type or '')}"


def suffix(path: str) -> str:
    """The ending of a source's path, as the catalog has it, with its dot; empty if it has none."""
    stem, dot, extension = unescaped(path).rpartition("/")[2].rpartition(".")
    return f".{safe_name(extension)}" if stem and dot and extension else ""
