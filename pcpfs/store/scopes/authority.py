"""What the principal of a session may do, asked before everything that a session does.

Grants bind sessions, which is how our doors come to a store. Whoever can read the folder itself
reads everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pcpfs.errors import NotPermitted
from pcpfs.model.answers import Written
from pcpfs.model.grants import DELETE, PERMISSIONS, never_permitted
from pcpfs.model.pages import Principal
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import AccessRow
from pcpfs.store.catalogs.seen_catalog import SeenCatalog, cover
from pcpfs.store.folding.grants import ANYBODY
from pcpfs.store.store import Store


class Authority:
    """Decides for one principal. The owner of the store may do everything."""

    def __init__(self, store: Store, principal: Principal) -> None:
        self._store = store
        self.principal = principal
        self.is_owner = principal == store.owner
        self._seen = SeenCatalog(principal)

    def close(self) -> None:
        self._seen.close()

    @property
    def catalog(self) -> Catalog:
        """The catalog of the store as this principal sees it."""
        return self._store.catalog if self.is_owner else self._seen.of(self._store.catalog)

    def cover(self, pinned: Catalog) -> None:
        """Let a catalog in memory, of an earlier time, show them only what they may see now."""
        if self.is_owner:
            return
        now = self._store.catalog.query("SELECT * FROM access")
        with pinned.writing():
            pinned.replace_access(AccessRow(*row) for row in now)
        cover(pinned, self.principal)

    def permissions(self, scope: str) -> tuple[str, ...]:
        """What they may do in a scope; nothing where there is none."""
        if self.is_owner:
            return PERMISSIONS
        rows = self._store.catalog.query(
            "SELECT DISTINCT permission FROM access WHERE scope = ? AND principal IN (?, ?)",
            (scope, ANYBODY, str(self.principal)),
        )
        given = {permission for (permission,) in rows}
        return tuple(name for name in PERMISSIONS if name in given)

    def may(self, permission: str, scope: str) -> bool:
        return permission in self.permissions(scope)

    def require(self, permissions: Sequence[str], scope: str) -> None:
        """NotPermitted, in the same words whether or not there is such a scope."""
        held = self.permissions(scope)
        permission = next((name for name in permissions if name not in held), None)
        if permission is None:
            return
        if permission in never_permitted(self.principal):
            instead = "; recommend it: pcpfs delete --recommend" if permission == DELETE else ""
            raise NotPermitted(f"a model may not {permission}{instead}", scope=scope)
        raise NotPermitted(
            f"{self.principal} may not {permission} in {scope}; its owner can allow it: "
            f"pcpfs scope grant {scope} {self.principal} {permission}",
            scope=scope,
            permission=permission,
        )

    def told(self, written: Written) -> Written:
        """The answer to a write. Only the owner hears of the commit, which tells of others too."""
        return written if self.is_owner else replace(written, commit=None, warnings=())

    def require_owner(self, what: str) -> None:
        """NotPermitted for what concerns the whole store."""
        if not self.is_owner:
            raise NotPermitted(
                f"{self.principal} may not {what}: that concerns the whole store, and is for its "
                "owner to do"
            )
