"""Sorts of pages: which kinds of hits a page can have is known before any hit is looked at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pcpfs.model.requests import EVENT, Filters
from pcpfs.store.catalogs.catalog import Catalog

_PROSE = re.compile(r"text/(markdown|plain|x-rst|html)|message/.*")
_SORT = "is_source, is_event, iif(is_source, ifnull(media_type, ''), '')"


def is_prose(media_type: str | None) -> bool:
    """Whether texts of this type are written for people."""
    return _PROSE.fullmatch(media_type or "") is not None


def can_have(filters: Filters, is_source: int, is_event: int, media_type: str | None) -> bool:
    """Whether such a page can have a hit of a wanted kind."""
    if is_source:
        right = filters.prose is None or is_prose(media_type) is filters.prose
        return right and not (filters.kinds and set(filters.kinds) <= {"page", EVENT})
    return filters.takes(EVENT if is_event else "page")


def of_wanted_sorts(catalog: Catalog, filters: Filters) -> Callable[[str], bool]:
    """Whether a document is of a page that can have a wanted hit: one set, of the smaller side,
    instead of a question for each of perhaps very many."""
    if not filters.kinds and filters.prose is None:
        return lambda key: True
    sides: dict[bool, list[tuple[Any, ...]]] = {True: [], False: []}
    counts = {True: 0, False: 0}
    for *sort, pages in catalog.query(f"SELECT {_SORT}, count(*) FROM page GROUP BY {_SORT}"):
        side = can_have(filters, *sort)
        sides[side].append(tuple(sort))
        counts[side] += pages
    smaller = min(counts, key=counts.__getitem__)
    keys = _documents(catalog, sides[smaller])
    return lambda key: (key in keys) is smaller


def _documents(catalog: Catalog, sorts: Sequence[tuple[Any, ...]]) -> frozenset[str]:
    if not sorts:
        return frozenset()
    values = ", ".join(["(?, ?, ?)"] * len(sorts))
    rows = catalog.query(
        "SELECT document.key FROM page CROSS JOIN document USING (page_id) "
        f"WHERE ({_SORT}) IN (VALUES {values})",
        tuple(member for sort in sorts for member in sort),
    )
    return frozenset(key for (key,) in rows)
