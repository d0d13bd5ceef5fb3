"""Changing a scope itself: its title, visibility and links, and who may do what in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pcpfs.errors import NotFound, NotPermitted, UsageError
from pcpfs.model.changes import Event, ScopeDescribed, ScopeTitled
from pcpfs.model.grants import (
    ADMINISTER,
    LIST,
    PERMISSIONS,
    READ,
    Granted,
    Revoked,
    ScopeLinked,
    ScopeUnlinked,
    VisibilitySet,
    in_order,
    never_permitted,
)
from pcpfs.model.names import Namespace, refuse_unprintable
from pcpfs.model.pages import Principal
from pcpfs.store.catalogs.rows import ScopeRow
from pcpfs.store.folding.grants import ANYBODY
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.scopes.scope_views import links_of
from pcpfs.store.scopes.secrets import refuse_secrets_in
from pcpfs.store.store import Store


@dataclass(frozen=True, slots=True)
class GrantView:
    """What one principal may do in a scope."""

    principal: str
    permissions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ScopeRules:
    """Title, visibility, links and grants of a scope, as far as who asks may see the other ends of
    the links. The owner of the store may do everything."""

    scope: str
    title: str
    owner: str
    visibility: str
    grants: tuple[GrantView, ...]
    links: tuple[str, ...] = ()
    description: str | None = None


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
        refuse_secrets_in("principal", str(principal))
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
        self,
        scope: str,
        *,
        title: str | None = None,
        description: str | None = None,
        visibility: str | None = None,
        link: Sequence[str] = (),
        unlink: Sequence[str] = (),
    ) -> ScopeRules:
        """Call it otherwise; say what it is for; let anybody read it, or nobody else; link it to
        scopes, which its `linked` searches then cover as well, or no longer. Who may not list a
        scope hears that there is none."""
        events: list[Event] = []
        if title is not None:
            refuse_unprintable(title, "title")
            refuse_secrets_in("title", title)
            events.append(ScopeTitled(title))
        if description is not None:
            refuse_unprintable(description or "none", "description")
            refuse_secrets_in("description", description)
            events.append(ScopeDescribed(description))
        if visibility is not None:
            events.append(VisibilitySet(visibility))
        if not (events or link or unlink):
            raise UsageError(
                "say what to set: --title, --description, --visibility, --link, --unlink"
            )
        return self._changed(scope, "scope", chain(events, self._linking(scope, link, unlink)))

    def _changed(self, scope: str, operation: str, events: Iterable[Event]) -> ScopeRules:
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
        return self._found(namespace)

    def _found(self, namespace: Namespace) -> ScopeRow:
        for row in self._store.catalog.scopes():
            if row.scope == namespace:
                return row
        raise _no_scope(namespace)

    def _rules(self, row: ScopeRow) -> ScopeRules:
        found = self._store.catalog.query(
            "SELECT principal, permission FROM access WHERE scope = ? ORDER BY 1", (row.scope,)
        )
        grants = tuple(_grants((str(who), str(what)) for who, what in found))
        links = links_of(self._authority.catalog).get(row.scope, ())
        owner = str(self._store.owner)
        told = row.description or None
        return ScopeRules(row.scope, row.title, owner, row.visibility, grants, links, told)

    def _linking(self, scope: str, link: Sequence[str], unlink: Sequence[str]) -> Iterator[Event]:
        """Links to scopes that are there and may be listed; ends of links that are there."""
        namespace = Namespace.given(scope)
        for target in map(Namespace.given, link):
            if target == namespace:
                raise UsageError(f"{target} covers itself; name another scope to link to")
            if not self._authority.may(LIST, target):
                raise _no_scope(target)
            self._found(target)
            yield ScopeLinked(target)
        linked = links_of(self._authority.catalog).get(namespace, ())
        for target in map(Namespace.given, unlink):
            if target not in linked:
                raise NotFound(f"{namespace} does not link to {target}; see pcpfs scope show")
            yield ScopeUnlinked(target)

    def _refuse_owner(self, principal: Principal) -> None:
        if principal == self._store.owner:
            raise UsageError(f"{principal} owns this store, and may do everything in it")


def _no_scope(namespace: Namespace) -> NotFound:
    return NotFound(f"there is no scope {namespace}; see pcpfs scope list")


def _grants(permits: Iterable[tuple[str, str]]) -> Iterator[GrantView]:
    by_principal: dict[str, list[str]] = {}
    for who, what in permits:
        by_principal.setdefault(who, []).append(what)
    for who, permissions in by_principal.items():
        yield GrantView("anybody" if who == ANYBODY else who, in_order(permissions))
