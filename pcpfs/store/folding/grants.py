"""Folding the grants and links of a scope: a pure function of the set of its changes.

What restricts wins: a permission is in force only if somebody who knew of every time it was taken
away gave it (again). So of a grant and a revoke that did not know of each other the revoke wins,
and of `shared` and `private` the latter, in whatever order they arrive; and of a link and an unlink
the latter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pcpfs.model.changes import Change, UnknownEvent
from pcpfs.model.grants import (
    DEFAULTS,
    PRIVATE,
    SHARED,
    SHARED_PERMISSIONS,
    Granted,
    Revoked,
    ScopeLinked,
    ScopeUnlinked,
    VisibilitySet,
    never_permitted,
)
from pcpfs.model.ids import ChangeId
from pcpfs.model.pages import Principal

ANYBODY = "*"
"""In place of a principal: whoever has a session of this store."""

_LINKED = "linked"
"""In place of a principal, which has a colon: what follows is a scope that is linked to."""

Changes = Mapping[ChangeId, Change]
Permit = tuple[str, str]
"""A principal, and one permission of theirs; or what else can be given and taken."""


@dataclass(frozen=True, slots=True)
class Access:
    """Who may do what in a scope, beside the owner of the store, who may do everything; and the
    scopes that it links to, which permits nothing (PCP-L3)."""

    visibility: str = PRIVATE
    permits: frozenset[Permit] = frozenset()
    links: frozenset[str] = frozenset()


OWNER_ONLY = Access()


class _Place(NamedTuple):
    """Where an event stands: which change, and which of its events."""

    change: ChangeId
    number: int


def access(changes: Changes) -> Access:
    """What these changes of a scope allow; the owner alone where one of them is missing or says
    what this version does not understand: it might take something away."""
    if not _all_understood(changes):
        return OWNER_ONLY
    given, taken = _collected(changes)
    ancestry = _Ancestry(changes)
    in_force = {
        what
        for what, places in given.items()
        if any(all(ancestry.precedes(no, yes) for no in taken[what]) for yes in places)
    }
    defaults = {(str(who), what) for who, permissions in DEFAULTS.items() for what in permissions}
    in_force |= {what for what in defaults if what not in taken}
    is_shared = (ANYBODY, SHARED) in in_force
    links = {scope for who, scope in in_force if who == _LINKED}
    in_force -= {(ANYBODY, SHARED), *((_LINKED, scope) for scope in links)}
    permits = {what for what in in_force if _is_possible(*what)}
    permits |= {(ANYBODY, what) for what in SHARED_PERMISSIONS} if is_shared else set()
    return Access(SHARED if is_shared else PRIVATE, frozenset(permits), frozenset(links))


def _all_understood(changes: Changes) -> bool:
    return all(
        all(after in changes for after in body.after)
        and not any(isinstance(event, UnknownEvent) for event in body.events)
        for body in changes.values()
    )


def _collected(
    changes: Changes,
) -> tuple[dict[Permit, list[_Place]], defaultdict[Permit, list[_Place]]]:
    """Where each permission and each link was given, and where it was taken away."""
    given: defaultdict[Permit, list[_Place]] = defaultdict(list)
    taken: defaultdict[Permit, list[_Place]] = defaultdict(list)
    for change, body in changes.items():
        for number, event in enumerate(body.events):
            match event:
                case Granted() | Revoked():
                    into = given if isinstance(event, Granted) else taken
                    for permission in event.permissions:
                        into[str(event.principal), permission].append(_Place(change, number))
                case VisibilitySet():
                    into = given if event.visibility == SHARED else taken
                    into[ANYBODY, SHARED].append(_Place(change, number))
                case ScopeLinked() | ScopeUnlinked():
                    into = given if isinstance(event, ScopeLinked) else taken
                    into[_LINKED, event.scope].append(_Place(change, number))
                case _:
                    pass
    return given, taken


def _is_possible(principal: str, permission: str) -> bool:
    return permission not in never_permitted(Principal(principal))


class _Ancestry:
    """Which changes another one knew of."""

    def __init__(self, changes: Changes) -> None:
        self._changes = changes
        self._known: dict[ChangeId, frozenset[ChangeId]] = {}

    def precedes(self, earlier: _Place, later: _Place) -> bool:
        if earlier.change == later.change:
            return earlier.number < later.number
        if later.change not in self._known:
            self._known[later.change] = frozenset(self._before(later.change))
        return earlier.change in self._known[later.change]

    def _before(self, change: ChangeId) -> Iterator[ChangeId]:
        seen: set[ChangeId] = set()
        waiting = list(self._changes[change].after)
        while waiting:
            found = waiting.pop()
            if found not in seen:
                seen.add(found)
                yield found
                waiting += self._changes[found].after
