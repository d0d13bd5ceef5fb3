"""Relations as a graph: from page to page, both ways, types as they were given (PCP-L2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pcpfs.errors import UsageError
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import PageRow, RelationRow
from pcpfs.store.searches.imports import IMPORTS, ImportEdge, Imports

DIRECTIONS = ("out", "in", "both")
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Near:
    """A page that can be reached, over the relations in `via` (each with its direction)."""

    page: PageRow
    depth: int
    via: tuple[tuple[RelationRow | ImportEdge, str], ...]

    @property
    def why(self) -> str:
        """`depends_on →, cites ←`: the relations from the start on."""
        return ", ".join(f"{row.type} {'→' if way == 'out' else '←'}" for row, way in self.via)


def neighbours(
    catalog: Catalog,
    start: str,
    *,
    scopes: Collection[str] | None = None,
    types: Collection[str] = (),
    direction: str = "both",
    depth: int = 1,
    imports: Imports | None = None,
) -> Iterator[Near]:
    """Pages within so many relations of a page, each once by its shortest way, nearest first; among
    equals the earlier relation first, and then the imports of sources. Pages outside of `scopes`
    are neither told nor passed through (PCP-L3)."""
    if direction not in DIRECTIONS:
        raise UsageError(f"a direction is one of {', '.join(DIRECTIONS)}, not {direction!r}")
    if not 1 <= depth <= DEEPEST:
        raise UsageError(f"a depth is between 1 and {DEEPEST}, not {depth}")
    seen = {start}
    edge: list[Near] = []
    for number in range(1, depth + 1):
        reached: list[Near] = []
        for near in edge if number > 1 else [None]:
            at = near.page.page_id if near else start
            for row, way, other in _steps(catalog, at, types, direction, imports):
                page = None if other in seen else catalog.page(other)
                if page is None or (scopes is not None and page.scope not in scopes):
                    continue
                seen.add(other)
                reached.append(Near(page, number, (*(near.via if near else ()), (row, way))))
                yield reached[-1]
        edge = reached


_Step = tuple[RelationRow | ImportEdge, str, str]


def _steps(
    catalog: Catalog, at: str, types: Collection[str], direction: str, imports: Imports | None
) -> list[_Step]:
    parameters = tuple(types)
    condition = f"type IN ({', '.join('?' * len(parameters))})" if parameters else "1"
    found: list[tuple[RelationRow, str, str]] = []
    steps: list[_Step] = []
    asked = imports if not types or IMPORTS in types else None
    if direction in ("out", "both"):
        rows = catalog.relations(f"from_page = ? AND {condition}", (at, *parameters))
        found += [(row, "out", row.to_page) for row in rows]
        steps += [(edge, "out", edge.to_page) for edge in (asked.out_of(at) if asked else ())]
    if direction in ("in", "both"):
        rows = catalog.relations(f"to_page = ? AND {condition}", (at, *parameters))
        found += [(row, "in", row.from_page) for row in rows]
        steps += [(edge, "in", edge.from_page) for edge in (asked.into(at) if asked else ())]
    return [*sorted(found, key=lambda s: (s[0].created_at, s[0].relation_id)), *steps]
