"""Definitions by exact, dotted or partial name, through the catalog; never fuzzy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pcpfs.model.answers import SearchAnswer, SearchHit
from pcpfs.model.frames import FILE_KIND, dotted
from pcpfs.model.marks import ranks_lower
from pcpfs.search.excerpt import Excerpt
from pcpfs.search.words import parts_of
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.eligible import Eligible
from pcpfs.store.searches.search_request import Search
from pcpfs.store.searches.text_search import symbol_hit

_REASONS = (
    "the exact name",
    "the end of the dotted name",
    "the name but for upper and lower case",
    "the beginning of the name",
    "a part of the name",
)


_LONGEST_PART = 1000
"""Characters of a name that is looked for within others; a longer one is only found exactly."""


class _Found(NamedTuple):
    closeness: int
    lower: bool
    path: str
    line: int
    frame_id: str
    row: FrameRow
    page: PageRow


class SymbolSearch:
    """Answers symbol searches from one catalog."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def run(self, search: Search, *, exact: bool = False) -> SearchAnswer:
        """Exact names first, then dotted ends, other case, beginnings and parts; tests and
        generated code after the rest, then by place. `exact`: nothing but exact names."""
        name = dotted(search.text)
        exact = exact or len(name) > _LONGEST_PART
        return search.answer(self._hits(search, name, exact) if name else iter(()))

    def _hits(self, search: Search, name: str, exact: bool) -> Iterator[SearchHit]:
        for found in sorted(self._found(search, name, exact), key=lambda found: found[:5]):
            view = self._reader.frame_view(found.row, found.page)
            shown = Excerpt(view.lines, "\n".join(filter(None, [view.signature, view.doc])))
            score = 1 - found.closeness / len(_REASONS)
            yield symbol_hit(view, "symbol", score, _REASONS[found.closeness], shown=shown)

    def _found(self, search: Search, name: str, exact: bool) -> Iterator[_Found]:
        eligible = Eligible(self._reader, search)
        pages: dict[str, PageRow | None] = {}
        for row in self._candidates(search, name, exact):
            closeness = _closeness(row, name)
            if closeness is None or not search.filters.takes(row.kind):
                continue
            if row.page_id not in pages:
                pages[row.page_id] = self._reader.catalog.page(row.page_id)
            page = pages[row.page_id]
            if page and eligible.page(page) and eligible.frame(page, row):
                path = page.path or ""
                is_less = bool(page.generated) or ranks_lower(path)
                yield _Found(closeness, is_less, path, row.line_a, row.frame_id, row, page)

    def _candidates(self, search: Search, name: str, exact: bool) -> list[FrameRow]:
        """Rows whose name could be meant: indexed questions, but a scan of the last names where a
        part of one is enough."""
        condition, parameters = holds(search.pins, "frame")
        if "superseded" in search.filters.statuses and search.pins.as_of is None:
            condition = "1"
        last = name.rpartition(".")[2]
        pattern = "%" + last.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
        last_name = "name = ?" if exact else "name LIKE ? ESCAPE '\\'"
        return self._reader.catalog.frames(
            f"kind <> ? AND (qualified_name = ? OR {last_name}) AND {condition}",
            (FILE_KIND, name, name if exact else pattern, *parameters),
        )


def _closeness(row: FrameRow, name: str) -> int | None:
    """Which of _REASONS holds; None if the name does not match at all."""
    qualified, folded = row.qualified_name, name.casefold()
    if name in (qualified, row.name):
        return 0
    if qualified.endswith("." + name):
        return 1
    dotted = "." + qualified.casefold()
    if dotted.endswith("." + folded):
        return 2
    if "." in name:
        return 3 if ("." + folded) in dotted else None
    if row.name.casefold().startswith(folded):
        return 3
    return 4 if folded in parts_of(row.name) else None
