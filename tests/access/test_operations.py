"""Every operation needs its permission in the scope, and nothing else gives it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.errors import NotFound, NotPermitted, SecretFound, UsageError
from pcpfs.model.grants import LOCAL_MODEL, PERMISSIONS
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.requests import EventDraft
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.exchanges.exchange import export
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.session import Session
from pcpfs.store.undo import undo
from tests.secrets.test_writing import TOKEN
from tests.store.workplace import ANNA, SCOPE, Workplace, draft, paths_of, recorded

BEN = Principal("user:ben")


def as_(place: Workplace, who: Principal = BEN) -> Session:
    return Session(place.store, who)


def allow(place: Workplace, *permissions: str, who: Principal = BEN) -> None:
    place.session.governing.grant(SCOPE, who, permissions)


Deed = Callable[[Session, str, str], object]

DEEDS: dict[str, tuple[tuple[str, ...], Deed]] = {
    "write": (("write",), lambda s, p, r: s.write(SCOPE, draft("new\n"))),
    "event": (("write",), lambda s, p, r: s.ingest(SCOPE, [EventDraft(b"x", "text/plain")])),
    "revise": (("read", "write"), lambda s, p, r: s.revise(p, draft("two\n"), expect=[r])),
    "derive": (
        ("read", "write", "link"),
        lambda s, p, r: s.write(SCOPE, draft("new\n", derived_from=(r,))),
    ),
    "link": (("read", "link"), lambda s, p, r: s.link(p, "supports", p)),
    "tombstone": (("read", "tombstone"), lambda s, p, r: s.tombstone(p, "over")),
    "archive": (("read", "tombstone"), lambda s, p, r: s.archive(p, "over")),
    "read": (("read",), lambda s, p, r: s.payload(p)),
    "grant": (("administer",), lambda s, p, r: s.governing.grant(SCOPE, BEN, ["write"])),
    "revoke": (("administer",), lambda s, p, r: s.governing.revoke(SCOPE, BEN, ["write"])),
    "title": (("administer",), lambda s, p, r: s.governing.set(SCOPE, title="Tides")),
}


@pytest.mark.parametrize("name", DEEDS)
def test_an_operation_needs_exactly_its_permissions(place: Workplace, name: str) -> None:
    needed, deed = DEEDS[name]
    page = place.write("one\n")
    for missing in needed:
        place.session.governing.revoke(SCOPE, BEN)
        allow(place, *(p for p in PERMISSIONS if p != missing))
        if missing == "read":
            place.session.governing.revoke(SCOPE, BEN, ["read"])
        with pytest.raises((NotPermitted, NotFound)):
            deed(as_(place), page.page_id, page.revision_id)
    place.session.governing.revoke(SCOPE, BEN)
    allow(place, *needed)
    deed(as_(place), page.page_id, page.revision_id)


def test_all_but_the_owner_are_denied_by_default(place: Workplace) -> None:
    page = place.write("one\n")
    for who in map(Principal, ("user:ben", "tool:x", "agent:y", "model:other", "system:z")):
        session = as_(place, who)
        assert session.scopes() == ()
        assert session.search("one").results == ()
        for deed in (session.payload, session.manifest, session.log):
            with pytest.raises(NotFound, match="nothing here is called"):
                deed(page.page_id)


def test_the_local_model_works_in_every_scope_of_the_owner(place: Workplace) -> None:
    """CASES: list, read, write and link in every scope of the owner unless revoked there."""
    page = place.write("one\n")
    model = as_(place, LOCAL_MODEL)
    assert model.scopes()[0].permissions == ("list", "read", "write", "link")
    model.revise(page.page_id, draft("two\n"), expect=[page.revision_id])
    with pytest.raises(NotPermitted):
        model.tombstone(page.page_id, "over")
    place.session.governing.revoke(SCOPE, LOCAL_MODEL)
    assert model.scopes() == ()
    with pytest.raises(NotFound):
        model.payload(page.page_id)


def test_only_the_owner_makes_a_scope_and_nobody_learns_which_there_are(place: Workplace) -> None:
    place.write("one\n", scope="project:there")
    place.session.governing.revoke("project:there", LOCAL_MODEL)
    told = []
    for scope in ("project:there", "project:nowhere"):
        with pytest.raises(NotPermitted) as refused:
            as_(place, LOCAL_MODEL).write(scope, draft("x\n"))
        told.append(refused.value.message.replace(scope, "S"))
    assert told[0] == told[1]


@pytest.mark.parametrize("permission", ["delete", "administer"])
def test_a_model_is_never_granted_what_it_may_not_do(place: Workplace, permission: str) -> None:
    """PCP DeletePage: a model may recommend, not perform, it."""
    place.write("one\n")
    with pytest.raises(NotPermitted, match="a model may never"):
        allow(place, permission, who=LOCAL_MODEL)


def test_the_owner_is_not_granted_what_they_have(place: Workplace) -> None:
    place.write("one\n")
    with pytest.raises(UsageError, match="owns this store"):
        allow(place, "read", who=ANNA)


def test_to_read_is_to_list_and_without_listing_there_is_no_reading(place: Workplace) -> None:
    place.write("one\n")
    allow(place, "read")
    assert as_(place).scopes()[0].permissions == ("list", "read")
    place.session.governing.revoke(SCOPE, BEN, ["list"])
    assert as_(place).scopes() == ()


def test_who_may_only_list_a_scope_sees_that_it_is_there_and_no_page(place: Workplace) -> None:
    page = place.write("one\n")
    allow(place, "list")
    (scope,) = as_(place).scopes()
    assert (scope.scope, scope.pages, scope.permissions) == (SCOPE, 1, ("list",))
    assert as_(place).search("one").results == ()
    with pytest.raises(NotFound):
        as_(place).manifest(page.page_id)


def test_who_may_only_list_a_scope_does_not_export_it(place: Workplace, tmp_path: Path) -> None:
    place.write("one\n")
    place.write("two\n", scope="project:b")
    allow(place, "list")
    with pytest.raises(NotFound, match="there is no scope project:a"):
        export(as_(place), [SCOPE], tmp_path / "out")
    place.session.governing.grant("project:b", BEN, ["read"])
    assert export(as_(place), [], tmp_path / "out").scopes == ("project:b",)


def test_who_may_only_write_leaves_pages_and_sees_none(place: Workplace) -> None:
    place.write("one\n", path="x.md")
    allow(place, "write")
    session = as_(place)
    written = session.write(SCOPE, draft("two\n"), key="k")
    assert session.write(SCOPE, draft("two\n"), key="k").page_id == written.page_id
    with pytest.raises(NotFound):
        session.payload(written.page_id)
    with pytest.raises(UsageError) as refused:
        session.write(SCOPE, draft("three\n"), path="x.md/y.md")
    assert "x.md is" not in refused.value.message
    assert place.session.log(written.page_id)[0].created_by == BEN


def test_a_shared_scope_is_read_by_anybody_and_written_by_nobody_else(place: Workplace) -> None:
    page = place.write("one\n")
    place.session.governing.set(SCOPE, visibility="shared")
    assert as_(place).payload(page.page_id) == b"one\n"
    assert as_(place).manifest(page.page_id).visibility == "shared"
    with pytest.raises(NotPermitted):
        as_(place).write(SCOPE, draft("two\n"))
    place.session.governing.set(SCOPE, visibility="private")
    with pytest.raises(NotFound):
        as_(place).payload(page.page_id)


def test_a_revoke_holds_in_a_session_that_is_open(place: Workplace) -> None:
    page = place.write("one\n")
    allow(place, "read")
    session = as_(place)
    assert session.payload(page.page_id) == b"one\n"
    assert len(session.search("one").results) == 1
    place.session.governing.revoke(SCOPE, BEN, ["read"])
    assert session.search("one").results == ()
    with pytest.raises(NotFound):
        session.payload(page.page_id)


def test_the_past_shows_what_may_be_seen_now(place: Workplace) -> None:
    """What counts is what somebody may do when they ask, not what they might have done then."""
    page = place.write("one\n")
    before = place.clock.now()
    allow(place, "read")
    assert as_(place).payload(page.page_id, recorded(before)) == b"one\n"
    then = place.clock.now()
    place.session.governing.revoke(SCOPE, BEN, ["read"])
    with pytest.raises(NotFound):
        as_(place).payload(page.page_id, recorded(then))


def test_a_relation_into_another_scope_lets_nobody_read_that(place: Workplace) -> None:
    """PCP-L3"""
    page = place.write("one\n")
    far = place.write("far\n", scope="project:far", title="Far away")
    place.session.link(page.page_id, "depends_on", far.page_id)
    allow(place, "read", "link")
    (relation,) = as_(place).relations(page.page_id)
    assert (relation.title, relation.status) == (far.page_id, "missing")
    with pytest.raises(NotFound):
        as_(place).payload(far.page_id)
    with pytest.raises(NotFound):
        as_(place).link(page.page_id, "depends_on", far.page_id)


def test_a_change_that_cannot_be_read_leaves_the_scope_to_its_owner(place: Workplace) -> None:
    page = place.write("one\n")
    allow(place, "read")
    for file in paths_of(place.path, "chg_*.json"):
        if file.parent.name == "scope":
            file.write_bytes(file.read_bytes().replace(b'"granted"', b'"granted'))
    place.store.reindex()
    assert as_(place).scopes() == as_(place, LOCAL_MODEL).scopes() == ()
    assert place.session.payload(page.page_id) == b"one\n"
    assert place.session.scopes()[0].visibility == "private"


def test_what_concerns_the_whole_store_is_for_its_owner(place: Workplace) -> None:
    place.write("one\n")
    allow(place, *PERMISSIONS)
    deeds: tuple[Callable[[], object], ...] = (
        lambda: Sources(place.store, BEN),
        lambda: pull(place.store, BEN),
        lambda: push(place.store, BEN),
    )
    for deed in deeds:
        with pytest.raises(NotPermitted, match="the whole store"):
            deed()


def test_undoing_needs_what_doing_needed(place: Workplace) -> None:
    page = place.write("one\n")
    place.revise(page.page_id, "two\n")
    change = place.session.log(page.page_id)[0].change_id
    with pytest.raises(NotFound, match="there is no change"):
        undo(place.store, BEN, change)
    allow(place, "read")
    with pytest.raises(NotPermitted, match="may not write"):
        undo(place.store, BEN, change)
    allow(place, "write")
    assert undo(place.store, BEN, change).commit is None
    assert place.session.payload(page.page_id) == b"one\n"


def test_grants_are_changes_of_the_scope_and_survive_a_rebuild(place: Workplace) -> None:
    place.write("one\n")
    before = len(paths_of(place.path, "chg_*.json"))
    rules = place.session.governing.grant(SCOPE, BEN, ["read", "write"])
    assert len(paths_of(place.path, "chg_*.json")) == before + 1
    assert place.git("status", "--porcelain") == ""
    place.store.reindex()
    assert place.session.governing.rules(SCOPE) == rules
    assert [(g.principal, g.permissions) for g in rules.grants] == [
        ("model:local", ("list", "read", "write", "link")),
        ("user:ben", ("list", "read", "write")),
    ]


def test_a_scope_says_what_it_is_for(place: Workplace) -> None:
    """PCP ListScopes: id, display name, description."""
    place.write("one\n")
    assert place.session.scopes()[0].description is None
    place.session.governing.set(SCOPE, title="Tides", description="What the harbour needs")
    place.store.reindex()
    (view,) = place.session.list_scopes().items
    assert (view.title, view.description) == ("Tides", "What the harbour needs")
    assert place.session.governing.rules(SCOPE).description == view.description
    with pytest.raises(SecretFound, match="in the description"):
        place.session.governing.set(SCOPE, description=TOKEN)
    with pytest.raises(UsageError):
        place.session.governing.set(SCOPE, description="a\nb")
    place.session.governing.set(SCOPE, description="")
    assert place.session.scopes()[0].description is None


def test_a_citation_does_not_tell_the_digest_of_what_may_not_be_read(
    place: Workplace, tmp_path: Path
) -> None:
    """PCP-L3: who has the digest of a few bytes can check a guess of them."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/pin.py").write_text("def pin():\n    return 4711\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(tmp_path / "src", Namespace("project:hidden"), "src"))
    (pin,) = place.session.symbol("pin").results
    page = place.write("the pin\n", cites=(str(pin.frame_id),)).page_id
    allow(place, "read")
    (seen,) = as_(place).relations(page)
    (whole,) = place.session.relations(page)
    assert whole.relation.to_digest == pin.digest
    assert (seen.relation.to_frame, seen.relation.to_digest) == (pin.frame_id, None)
