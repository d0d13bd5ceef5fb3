"""The state of a scope as a pure function of the *set* of its changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pcpfs.model.branches import Branches
from pcpfs.model.changes import Change, ScopeDescribed, ScopeTitled
from pcpfs.model.ids import ChangeId, RootId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.roots import RootAdded, Walked
from pcpfs.model.secrets import SecretAccepted, SecretRefused
from pcpfs.store.folding.fold import Changes, in_order, latest
from pcpfs.store.folding.grants import OWNER_ONLY, Access, access


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A secret that somebody accepted in a scope; `is_over` if anybody took that back."""

    secret: SecretAccepted
    at: Instant
    actor: Principal
    is_over: bool


@dataclass(frozen=True, slots=True)
class ScopeState:
    """What the set of a scope's changes says."""

    namespace: Namespace
    changes: tuple[tuple[ChangeId, Change], ...]
    latest: tuple[ChangeId, ...]
    incomplete: bool
    title: str
    roots: Mapping[RootId, RootAdded]
    walked: Mapping[RootId, Walked]
    access: Access
    accepted: tuple[Acceptance, ...] = ()
    description: str = ""
    branches: Mapping[RootId, Branches] = field(default_factory=dict)


def fold_scope(namespace: Namespace, changes: Changes, *, is_whole: bool = True) -> ScopeState:
    """The state of a scope; its title is the namespace until one is given. Where the changes are
    not all (one cannot be read), nobody but the owner has access."""
    order, incomplete = in_order(changes)
    title, description = str(namespace), ""
    roots: dict[RootId, RootAdded] = {}
    walked: dict[RootId, Walked] = {}
    branches: dict[RootId, Branches] = {}
    accepted: list[tuple[SecretAccepted, Change]] = []
    refused: set[str] = set()
    for _, body in order:
        for event in body.events:
            if isinstance(event, ScopeTitled):
                title = event.title
            elif isinstance(event, ScopeDescribed):
                description = event.description
            elif isinstance(event, RootAdded):
                roots[event.root_id] = event
            elif isinstance(event, Walked):
                walked[event.root_id] = replace(event, branches=None)
                known = branches.get(event.root_id, Branches())
                branches[event.root_id] = known.then(event.branches or Branches())
            elif isinstance(event, SecretAccepted):
                accepted.append((event, body))
            elif isinstance(event, SecretRefused):
                refused.add(event.salt)
    return ScopeState(
        namespace,
        tuple(order),
        latest(changes),
        incomplete,
        title,
        roots,
        walked,
        access(changes) if is_whole else OWNER_ONLY,
        tuple(Acceptance(e, b.at, b.actor, e.salt in refused) for e, b in accepted),
        description,
        {root: found for root, found in branches.items() if found != Branches()},
    )
