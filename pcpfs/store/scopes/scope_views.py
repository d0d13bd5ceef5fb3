"""Scopes as their list shows them (PCP ListScopes)."""

from __future__ import annotations

from pcpfs.model.answers import ScopeView
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import ScopeRow
from pcpfs.store.catalogs.seen_catalog import LISTED
from pcpfs.store.scopes.authority import Authority


def scope_views(authority: Authority) -> tuple[ScopeView, ...]:
    """All scopes that a principal may list, by name."""
    catalog = authority.catalog
    table = "scope" if authority.is_owner else LISTED
    rows = [ScopeRow(*row) for row in catalog.query(f"SELECT * FROM {table} ORDER BY scope")]
    counted = catalog.query(
        f"SELECT scope, count(*), max(page.updated_at) FROM main.page JOIN {table} USING (scope) "
        "WHERE NOT is_beside GROUP BY scope"
    )
    linked = links_of(catalog)
    pages = {scope: (count, last) for scope, count, last in counted}
    return tuple(
        ScopeView(
            scope=row.scope,
            title=row.title,
            kind=Namespace(row.scope).kind,
            visibility=row.visibility,
            permissions=authority.permissions(row.scope),
            pages=pages.get(row.scope, (0, 0))[0],
            last_activity=Instant(max(row.updated_at, pages.get(row.scope, (0, 0))[1])),
            links=linked.get(row.scope, ()),
            description=row.description or None,
        )
        for row in rows
    )


def links_of(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """The scopes that each scope links to and that are there, as far as they may be listed."""
    rows = catalog.query(
        "SELECT scope, target FROM link "
        "WHERE target IN (SELECT scope FROM main.scope) ORDER BY 1, 2"
    )
    found: dict[str, tuple[str, ...]] = {}
    for scope, target in rows:
        found[scope] = (*found.get(scope, ()), target)
    return found
