"""The state of a scope as a pure function of the *set* of its changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pcpfs.model.changes import Change, ScopeTitled
from pcpfs.model.ids import ChangeId, RootId
from pcpfs.model.names import Namespace
from pcpfs.model.roots import RootAdded, Walked
from pcpfs.model.secrets import SecretAccepted
from pcpfs.store.fold import Changes, in_order, latest
from pcpfs.store.grants import OWNER_ONLY, Access, access


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
    accepted: tuple[SecretAccepted, ...] = ()


def fold_scope(namespace: Namespace, changes: Changes, *, is_whole: bool = True) -> ScopeState:
    """The state of a scope; its title is the namespace until one is given. Where the changes are
    not all (one cannot be read), nobody but the owner has access."""
    order, incomplete = in_order(changes)
    title = str(namespace)
    roots: dict[RootId, RootAdded] = {}
    walked: dict[RootId, Walked] = {}
    accepted: list[SecretAccepted] = []
    for _, body in order:
        for event in body.events:
            if isinstance(event, ScopeTitled):
                title = event.title
            elif isinstance(event, RootAdded):
                roots[event.root_id] = event
            elif isinstance(event, Walked):
                walked[event.root_id] = event
            elif isinstance(event, SecretAccepted):
                accepted.append(event)
    return ScopeState(
        namespace,
        tuple(order),
        latest(changes),
        incomplete,
        title,
        roots,
        walked,
        access(changes) if is_whole else OWNER_ONLY,
        tuple(accepted),
    )
