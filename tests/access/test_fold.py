"""Who may do what follows from the set of a scope's changes; what restricts wins (CASES)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.errors import Corrupt, UsageError
from pcpfs.model.changes import Change, Event, ScopeTitled, UnknownEvent
from pcpfs.model.grants import (
    LOCAL_MODEL,
    PERMISSIONS,
    PRIVATE,
    SHARED,
    Granted,
    Revoked,
    ScopeLinked,
    ScopeUnlinked,
    VisibilitySet,
)
from pcpfs.model.ids import ChangeId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.store.folding.grants import ANYBODY, OWNER_ONLY, Access
from pcpfs.store.folding.scope_fold import fold_scope
from tests.store.folding import ANNA, CLONE, SCOPE, at

BEN = Principal("user:ben")
READ = ("list", "read")
BY_DEFAULT = {(str(LOCAL_MODEL), what) for what in ("list", "read", "write", "link")}


class Scope:
    """Changes of a scope, each after those that its writer had seen; by default all."""

    def __init__(self) -> None:
        self.changes: dict[ChangeId, Change] = {}

    def add(self, *events: Event, after: Sequence[ChangeId] | None = None) -> ChangeId:
        after = tuple(sorted(self.changes)) if after is None else tuple(sorted(after))
        when = at(len(self.changes))
        body = Change(SCOPE, None, when, CLONE, ANNA, "scope", after, events)
        change = ChangeId.of(body.encode())
        self.changes[change] = Change.decode(body.encode(), "a change")
        return change

    @property
    def access(self) -> Access:
        return fold_scope(SCOPE, self.changes).access

    def may(self, who: Principal = BEN) -> set[str]:
        return {what for name, what in self.access.permits if name == str(who)}


def test_a_new_scope_is_private_and_the_local_model_works_in_it() -> None:
    scope = Scope()
    scope.add(ScopeTitled("Tides"))
    assert scope.access == Access(PRIVATE, frozenset(BY_DEFAULT))


def test_what_is_granted_may_be_done_until_it_is_revoked() -> None:
    scope = Scope()
    scope.add(Granted(BEN, ("list", "read", "write")))
    assert scope.may() == {"list", "read", "write"}
    scope.add(Revoked(BEN, ("write",)))
    assert scope.may() == {"list", "read"}
    scope.add(Granted(BEN, ("write",)))
    assert scope.may() == {"list", "read", "write"}


def test_of_a_grant_and_a_revoke_at_the_same_time_the_revoke_wins() -> None:
    scope = Scope()
    first = scope.add(Granted(BEN, READ))
    scope.add(Revoked(BEN, READ), after=[first])
    scope.add(Granted(BEN, READ), after=[first])
    assert scope.may() == set()
    scope.add(Granted(BEN, READ))
    assert scope.may() == {"list", "read"}


def test_a_revoke_of_what_nobody_granted_yet_wins_over_a_grant_at_the_same_time() -> None:
    scope = Scope()
    scope.add(Granted(BEN, READ), after=[])
    scope.add(Revoked(BEN, ("read",)), after=[])
    assert scope.may() == {"list"}


def test_of_two_events_of_one_change_the_later_holds() -> None:
    scope = Scope()
    scope.add(Revoked(BEN, READ), Granted(BEN, ("read",)))
    assert scope.may() == {"read"}


def test_what_the_local_model_may_by_default_can_be_taken_and_given_back() -> None:
    scope = Scope()
    scope.add(Revoked(LOCAL_MODEL, ("write", "link")))
    assert scope.may(LOCAL_MODEL) == {"list", "read"}
    scope.add(Granted(LOCAL_MODEL, ("link",)))
    assert scope.may(LOCAL_MODEL) == {"list", "read", "link"}


def test_a_shared_scope_is_listed_and_read_by_anybody_and_private_wins() -> None:
    scope = Scope()
    first = scope.add(VisibilitySet(SHARED))
    assert scope.access.visibility == SHARED
    assert {(ANYBODY, "list"), (ANYBODY, "read")} <= scope.access.permits
    scope.add(VisibilitySet(PRIVATE), after=[first])
    scope.add(VisibilitySet(SHARED), after=[first])
    assert scope.access == Access(PRIVATE, frozenset(BY_DEFAULT))


def test_of_a_link_and_an_unlink_at_the_same_time_the_unlink_wins() -> None:
    scope, charts = Scope(), Namespace("project:charts")
    first = scope.add(ScopeLinked(charts), ScopeLinked(Namespace("b")))
    assert scope.access.links == {"project:charts", "b"}
    scope.add(ScopeUnlinked(charts), after=[first])
    scope.add(ScopeLinked(charts), after=[first])
    assert scope.access.links == {"b"}
    assert scope.access.permits == BY_DEFAULT
    scope.add(ScopeLinked(charts))
    assert scope.access.links == {"project:charts", "b"}


@pytest.mark.parametrize("who", ["model:local", "model:other", "agent:reviewer"])
def test_no_file_lets_a_model_delete_or_administer(who: str) -> None:
    """PCP DeletePage: a model may recommend, not perform it; an agent acts as a model."""
    scope = Scope()
    scope.add(Granted(Principal(who), PERMISSIONS))
    assert scope.may(Principal(who)) == set(PERMISSIONS) - {"delete", "administer"}


def test_an_event_of_a_later_version_leaves_the_scope_to_its_owner() -> None:
    scope = Scope()
    scope.add(Granted(BEN, READ), VisibilitySet(SHARED))
    scope.add(UnknownEvent({"type": "embargo", "until": "2041-01-01T00:00:00Z"}))
    assert scope.access == OWNER_ONLY


def test_a_missing_change_leaves_the_scope_to_its_owner() -> None:
    scope = Scope()
    scope.add(Granted(BEN, READ))
    scope.add(Granted(BEN, ("write",)), after=[ChangeId("chg_" + "0" * 32)])
    assert scope.access == OWNER_ONLY


@pytest.mark.parametrize(
    "event",
    [
        {"type": "granted", "principal": "user:ben", "permissions": ["reed"]},
        {"type": "granted", "principal": "ben", "permissions": ["read"]},
        {"type": "granted", "principal": "user:ben", "permissions": "read"},
        {"type": "revoked", "principal": "user:ben"},
        {"type": "visibility", "visibility": "public"},
        {"type": "scope_linked", "scope": "../a"},
        {"type": "scope_unlinked"},
    ],
)
def test_a_grant_that_says_nothing_we_know_is_no_change(event: dict[str, object]) -> None:
    body = Change(SCOPE, None, at(0), CLONE, ANNA, "scope", (), (UnknownEvent(event),))
    with pytest.raises(Corrupt):
        Change.decode(body.encode(), "a change")


def test_a_permission_has_a_known_name() -> None:
    with pytest.raises(UsageError, match="'reed' is none of list, read"):
        Granted.from_json({"principal": "user:ben", "permissions": ["reed"]})


EVENTS = st.one_of(
    st.builds(Granted, st.just(BEN), st.sampled_from([("read",), ("list",), READ])),
    st.builds(Revoked, st.just(BEN), st.sampled_from([("read",), ("list",), READ])),
    st.builds(VisibilitySet, st.sampled_from([PRIVATE, SHARED])),
)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_was_written_a_revoke_that_nobody_followed_holds(data: st.DataObject) -> None:
    scope = Scope()
    for event in data.draw(st.lists(EVENTS, max_size=6)):
        known = sorted(scope.changes)
        scope.add(event, after=data.draw(st.sets(st.sampled_from(known))) if known else ())
    before = scope.access.permits
    known = sorted(scope.changes)
    scope.add(
        Revoked(BEN, ("read",)),
        after=data.draw(st.sets(st.sampled_from(known)) if known else st.just([])),
    )  # type: ignore[arg-type]
    assert scope.access.permits == before - {(str(BEN), "read")}
