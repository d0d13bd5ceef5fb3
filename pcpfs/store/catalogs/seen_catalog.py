"""A catalog as one principal may see it: every question is answered as if there were no rows but
those of scopes that they may read, and links between those that they may list (PCP-S2).

The tables are covered by views of the same names, on a connection of its own. So nothing that
reads a catalog can forget to ask, and a count, an order, an ambiguity or a "not found" depends on
nothing hidden. Who may read what is itself looked up in each question: a grant that is taken away
holds from the next one on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pcpfs.model.grants import LIST, READ
from pcpfs.model.pages import Principal
from pcpfs.store.catalogs.catalog import TABLES, Catalog
from pcpfs.store.folding.grants import ANYBODY

LISTED = "listed"
"""A view of the scopes that may be listed, whether or not their pages may be read."""

_BY_PAGE = {
    "revision": "page_id",
    "span": "page_id",
    "closing": "page_id",
    "beside": "page_id",
    "beside_frame": "page_id",
    "import": "page_id",
    "frame": "page_id",
    "relation": "from_page",
}
_OF_SEGMENT = "SELECT 1 FROM main.segment AS other WHERE other.segment = shown.segment"
_OF_EVENT = (
    "SELECT 1 FROM main.event JOIN main.segment AS other USING (segment) "
    "WHERE event.revision_id = shown.revision_id"
)


class SeenCatalog:
    """Opens what one principal sees of the catalogs of a store, and keeps the last."""

    def __init__(self, principal: Principal) -> None:
        self._principal = principal
        self._kept: tuple[Catalog, int, Catalog] | None = None

    def of(self, whole: Catalog) -> Catalog:
        """What they see of a catalog now; the same object as long as it is the same catalog. One
        in memory is copied for it whenever it has changed."""
        file = _file_of(whole)
        generation = whole.generation if file is None else 0
        if self._kept is None or self._kept[:2] != (whole, generation):
            self.close()
            seen = (Catalog.open(file) if file else None) or _copy(whole)
            cover(seen, self._principal)
            self._kept = (whole, generation, seen)
        return self._kept[2]

    def close(self) -> None:
        if self._kept is not None:
            self._kept[2].close()
        self._kept = None


def cover(catalog: Catalog, principal: Principal) -> None:
    """Lay the views over the tables of a connection."""
    for statement in _views(principal):
        catalog.db.execute(statement)


def _file_of(catalog: Catalog) -> Path | None:
    for _, name, file in catalog.query("PRAGMA database_list"):
        if name == "main" and file:
            return Path(file)
    return None


def _copy(whole: Catalog) -> Catalog:
    copy = Catalog.create(Path(":memory:"))
    whole.db.backup(copy.db)
    return copy


def _views(principal: Principal) -> Iterator[str]:
    for table in ("frame", *(name for name, _, _ in TABLES)):
        yield (
            f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} AS shown "
            f"WHERE {_condition(table, principal)}"
        )
    yield (
        f"CREATE TEMP VIEW {LISTED} AS SELECT * FROM main.scope AS shown "
        f"WHERE {_permits(principal, LIST, 'shown.scope')}"
    )


def _condition(table: str, principal: Principal) -> str:
    """Whether a row of a table, called `shown`, is of a scope that may be read."""
    if table == "link":
        ends = (_permits(principal, LIST, end) for end in ("shown.scope", "shown.target"))
        return " AND ".join(ends)
    if table in _BY_PAGE:
        inner = f"SELECT 1 FROM main.page AS other WHERE other.page_id = shown.{_BY_PAGE[table]}"
    elif table in ("event", "follow"):
        inner = _OF_SEGMENT if table == "event" else _OF_EVENT
    else:
        return _permits(principal, READ, "shown.scope")
    return f"EXISTS ({inner} AND {_permits(principal, READ, 'other.scope')})"


def _permits(principal: Principal, permission: str, scope: str) -> str:
    quoted = str(principal).replace("'", "''")
    return (
        f"EXISTS (SELECT 1 FROM main.access AS allowed WHERE allowed.scope = {scope} "
        f"AND allowed.permission = '{permission}' "
        f"AND allowed.principal IN ('{ANYBODY}', '{quoted}'))"
    )
