"""What the retention of a scope says: a pure function of the set of its changes.

A setting replaces those that its writer knew of. Of settings that did not know of each other the
longer hold holds, in whatever order they arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from pcpfs.errors import UsageError
from pcpfs.model.changes import Change
from pcpfs.model.grants import ADMINISTER
from pcpfs.model.ids import ChangeId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.retention import RetentionSet
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store

_DAY = 86_400_000_000
_MOST_DAYS = 36_525

Changes = Mapping[ChangeId, Change]


@dataclass(frozen=True, slots=True)
class Retention:
    """How long pages are kept; None for no hold of that kind."""

    hold_until: Instant | None = None
    keep_days: int | None = None

    def held_until(self, last_change: Instant) -> Instant | None:
        """Until when a page that was last changed then may not be erased; None if no hold says."""
        ends = [self.hold_until] if self.hold_until is not None else []
        if self.keep_days is not None:
            ends.append(Instant(last_change.microseconds + self.keep_days * _DAY))
        return max(ends, default=None)


@dataclass(frozen=True, slots=True)
class RetentionView:
    """The retention of a scope as it is now."""

    scope: str
    hold_until: Instant | None
    keep_days: int | None


def retention(changes: Changes) -> Retention:
    """What holds in a scope with these changes."""
    own = {
        change: [event for event in body.events if isinstance(event, RetentionSet)][-1:]
        for change, body in changes.items()
    }
    settings = {change for change, found in own.items() if found}
    replaced = {older for change in settings for older in _before(change, changes)}
    latest = [own[change][0] for change in settings - replaced]
    return Retention(
        max((s.hold_until for s in latest if s.hold_until is not None), default=None),
        max((s.keep_days for s in latest if s.keep_days is not None), default=None),
    )


def retention_of(store: Store, namespace: Namespace) -> Retention:
    """What holds in a scope of a store."""
    return retention(store.objects.readable_scope_changes(namespace)[0])


def set_retention(
    store: Store,
    actor: Principal,
    scope: str,
    hold_until: Instant | None,
    keep_days: int | None,
) -> RetentionView:
    """Replace the retention of a scope; None for no hold of that kind any more."""
    if keep_days is not None and not 1 <= keep_days <= _MOST_DAYS:
        raise UsageError(f"pages are kept from 1 to {_MOST_DAYS:,} days, not {keep_days}")
    namespace = Namespace.given(scope)
    with store.writing("retention", actor) as transaction:
        with closing(Authority(store, actor)) as authority:
            authority.require((ADMINISTER,), namespace)
        if not any(row.scope == namespace for row in store.catalog.scopes()):
            raise UsageError(f"there is no scope {namespace}; see pcpfs scope list")
        transaction.scope_change(namespace, RetentionSet(hold_until, keep_days))
        transaction.commit(
            f"retention: {namespace}",
            [("Pcpfs-Operation", "retention"), ("Pcpfs-Actor", str(actor))],
        )
    now = retention_of(store, namespace)
    return RetentionView(namespace, now.hold_until, now.keep_days)


def _before(change: ChangeId, changes: Changes) -> set[ChangeId]:
    """All that the writer of a change had seen, as far as it is at hand."""
    found: set[ChangeId] = set()
    waiting = [*changes[change].after]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += changes[one].after if one in changes else ()
    return found
