"""Changing a scope itself: its title, its visibility, and who may do what in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pcpfs.errors import NotFound, NotPermitted, UsageError
from pcpfs.model.changes import Event, ScopeTitled
from pcpfs.model.grants import (
    ADMINISTER,
    LIST,
    PERMISSIONS,
    READ,
    Granted,
    Revoked,
    VisibilitySet,
    in_order,
    never_permitted,
)
from pcpfs.model.names import Namespace, refuse_unprintable
from pcpfs.model.pages import Principal
from pcpfs.store.authority import Authority
from pcpfs.store.grants import ANYBODY
from pcpfs.store.rows import ScopeRow
from pcpfs.store.secrets import refuse_secrets_in
from pcpfs.store.store import Store


@dataclass(frozen=True, slots=True)
class GrantView:
    """What one principal may do in a scope."""

    principal: str
    permissions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeRules:
    """Title, visibility and grants of a scope. The owner of the store may do everything."""

    scope: str
    title: str
    owner: str
    visibility: str
    grants: tuple[GrantView, ...]


class Governing:
    """Changes scopes in the name of one principal: the owner, or who may administer them."""

    def __init__(self, store: Store, authority: Authority) -> None:
        self._store = store
        self._authority = authority

    def rules(self, scope: str) -> ScopeRules:
        """Who may do what in a scope now."""
        namespace = Namespace.given(scope)
        self._store.refresh()
        return self._rules(self._row(namespace))

    def grant(self, scope: str, principal: Principal, permissions: Sequence[str]) -> ScopeRules:
        """Let a principal do this in a scope; who may read a scope may also list it."""
        wanted = in_order((*permissions, *((LIST,) if READ in permissions else ())))
        self._refuse_owner(principal)
        impossible = [name for name in wanted if name in never_permitted(principal)]
        if impossible:
            raise NotPermitted(
                f"{principal} is a model, and a model may never {impossible[0]}; it can recommend "
                "it (pcpfs delete --recommend)"
            )
        return self._changed(scope, "grant", [Granted(principal, wanted)])

    def revoke(
        self, scope: str, principal: Principal, permissions: Sequence[str] = PERMISSIONS
    ) -> ScopeRules:
        """Take it away again, whatever somebody else grants at the same time; who may not list a
        scope may not read it."""
        taken = in_order((*permissions, *((READ,) if LIST in permissions else ())))
        self._refuse_owner(principal)
        return self._changed(scope, "revoke", [Revoked(principal, taken)])

    def set(
        self, scope: str, *, title: str | None = None, visibility: str | None = None
    ) -> ScopeRules:
        """Call it otherwise, or let anybody read it, or nobody else."""
        events: list[Event] = []
        if title is not None:
            refuse_unprintable(title, "title")
            refuse_secrets_in("title", title)
            events.append(ScopeTitled(title))
        if visibility is not None:
            events.append(VisibilitySet(visibility))
        if not events:
            raise UsageError("say what to set: --title T, --visibility private|shared")
        return self._changed(scope, "scope", events)

    def _changed(self, scope: str, operation: str, events: Sequence[Event]) -> ScopeRules:
        namespace, actor = Namespace.given(scope), self._authority.principal
        with self._store.writing(operation, actor) as transaction:
            self._row(namespace)
            transaction.scope_change(namespace, *events)
            transaction.commit(
                f"{operation}: {namespace}",
                (("Pcpfs-Operation", operation), ("Pcpfs-Actor", str(actor))),
            )
        return self._rules(self._row(namespace))

    def _row(self, namespace: Namespace) -> ScopeRow:
        """The scope, for somebody who may administer it."""
        self._authority.require((ADMINISTER,), namespace)
        for row in self._store.catalog.scopes():
            if row.scope == namespace:
                return row
        raise NotFound(f"there is no scope {namespace}; see pcpfs scope list")

    def _rules(self, row: ScopeRow) -> ScopeRules:
        found = self._store.catalog.query(
            "SELECT principal, permission FROM access WHERE scope = ? ORDER BY 1", (row.scope,)
        )
        grants = tuple(_grants((str(who), str(what)) for who, what in found))
        return ScopeRules(row.scope, row.title, str(self._store.owner), row.visibility, grants)

    def _refuse_owner(self, principal: Principal) -> None:
        if principal == self._store.owner:
            raise UsageError(f"{principal} owns this store, and may do everything in it")


def _grants(permits: Iterable[tuple[str, str]]) -> Iterator[GrantView]:
    by_principal: dict[str, list[str]] = {}
    for who, what in permits:
        by_principal.setdefault(who, []).append(what)
    for who, permissions in by_principal.items():
        yield GrantView("anybody" if who == ANYBODY else who, in_order(permissions))
