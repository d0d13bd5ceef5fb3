"""What may be erased, by whom, and what is told of it (PCP DeletePage, PCP-T3)."""

from __future__ import annotations

from contextlib import closing

import pytest

from pcpfs.errors import NotFound, NotPermitted, Unavailable, UsageError
from pcpfs.model.ids import ChangeId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.model.receipts import Receipt
from pcpfs.model.retention import RetentionSet
from pcpfs.sources.status import status
from pcpfs.store.erasure.erasing import delete, extent
from pcpfs.store.events.ingest import EventDraft
from pcpfs.store.feed import Feed
from pcpfs.store.folding.retention import Retention, retention
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.fsck import fsck
from tests.erasure.hideouts import holds
from tests.merge.clones import run
from tests.store.workplace import ANNA, SCOPE, Workplace, draft

WHY = "not ours to keep"
BOB = Principal("user:bob")


def test_only_the_owner_erases_and_a_model_may_only_recommend_it(place: Workplace) -> None:
    page = place.write("# One\n").page_id
    for other in ("model:local", "user:bob", "agent:reviewer"):
        session = Session(place.store, Principal(other))
        with closing(session), pytest.raises((NotPermitted, NotFound)):
            session.delete(page, WHY)
    assert place.session.payload(page) == b"# One\n"


def test_who_was_given_it_may_erase_in_that_scope_and_learns_nothing_of_others(
    place: Workplace,
) -> None:
    page = place.write("# One\nsomething that goes\n").page_id
    hidden = place.write("# Two\nmade of it\n", "project:b", derived_from=(page,)).page_id
    place.session.governing.grant(SCOPE, BOB, ["read", "delete"])
    with closing(Session(place.store, BOB)) as session:
        with pytest.raises(NotPermitted):
            session.delete(page, WHY, proven=True)
        found = session.delete(page, WHY)
        with pytest.raises(NotFound):
            session.delete(hidden, WHY)
    assert (found.derived, found.commit, found.commits, found.warnings) == ((), None, None, ())
    assert place.store.catalog.page(page) is None
    assert place.session.payload(hidden) == b"# Two\nmade of it\n"


def test_what_was_made_of_it_is_listed_and_goes_with_a_cascade(place: Workplace) -> None:
    page = place.write("# The original text of all\n").page_id
    summary = place.write("# A summary of it\n", derived_from=(page,)).page_id
    digest = place.write("# A digest of the summary\n", derived_from=(summary,)).page_id
    citing = place.write("# A page that only names it\n").page_id
    place.session.link(citing, "supports", page)
    about = extent(place.store, page)
    assert [name.page_id for name in about.derived] == [summary]
    assert [name.page_id for name in about.citing] == [citing]
    found = delete(place.store, ANNA, page, WHY, cascade=True, proven=True)
    assert {gone.page_id for gone in found.pages} == {page, summary, digest}
    assert [name.page_id for name in found.citing] == [citing]
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    assert [row.page_id for row in place.store.catalog.pages()] == [citing]
    assert fsck(place.store).problems == ()


def test_bytes_that_a_page_which_stays_also_holds_are_kept_and_named(place: Workplace) -> None:
    page = place.write("# Twice\nthe very same bytes in two pages\n", path="a.md").page_id
    twin = place.write("# Twice\nthe very same bytes in two pages\n", path="b.md").page_id
    found = delete(place.store, ANNA, page, WHY, proven=True)
    assert [name.page_id for name in found.kept] == [twin]
    assert place.session.payload(twin) == b"# Twice\nthe very same bytes in two pages\n"
    assert place.tree_file("b.md").exists()
    assert not place.tree_file("a.md").exists()
    assert fsck(place.store).problems == ()
    assert found.proof is not None
    assert found.proof.ok
    assert found.proof.unproven


def test_a_page_that_took_its_name_since_stays(place: Workplace) -> None:
    page = place.write("# Old\nthe old text that has to go\n", path="x.md").page_id
    place.session.tombstone(page, "wrong")
    new = place.write("# New\nthe new text under that name\n", path="x.md").page_id
    delete(place.store, ANNA, page, WHY)
    assert place.tree_file("x.md").read_bytes() == b"# New\nthe new text under that name\n"
    assert place.session.payload(new) == b"# New\nthe new text under that name\n"
    assert run(place.path, "status", "--porcelain") == ""
    assert "the new text" in run(place.path, "log", "-p", "--", "scopes/project/a/tree/x.md")
    assert fsck(place.store).problems == ()


def test_an_erased_page_is_told_from_one_that_never_was_only_by_its_receipt(
    place: Workplace,
) -> None:
    page = place.write("# One\nsomething that goes\n").page_id
    delete(place.store, ANNA, page, WHY)
    with pytest.raises(NotFound):
        place.session.manifest(page)
    with pytest.raises(NotFound):
        delete(place.store, ANNA, page, WHY)
    assert status(place.session).erasure_pending == ()


def test_a_key_that_named_an_erased_page_names_a_new_one(place: Workplace) -> None:
    page = place.write("# One\nthe first under this key\n", key="k").page_id
    delete(place.store, ANNA, page, WHY)
    again = place.write("# One\nthe first under this key\n", key="k")
    assert again.created
    assert again.page_id != page
    assert not place.write("# One\nthe first under this key\n", key="k").created


def test_which_reasons_are_refused_depends_on_nothing_hidden(place: Workplace) -> None:
    """PCP-S2: else the refusal would tell which words stand in scopes that one may not read."""
    place.write("correcthorsebatterystaple is here\n", scope="project:hidden")
    page = place.write("a correcthorsebatterystaple and more\n").page_id
    place.session.governing.grant(SCOPE, BOB, ["read", "delete"])
    with closing(Session(place.store, BOB)) as bob:
        with pytest.raises(UsageError, match="the reason is kept for ever"):
            bob.delete(page, "a correcthorsebatterystaple and more")
        with pytest.raises(UsageError, match="the reason is kept for ever"):
            bob.delete(page, "no correcthorsebatterystaple")
        place.write("correcthorsebatterystaple seen\n")
        bob.delete(page, "no correcthorsebatterystaple")


def test_the_reason_must_not_say_what_is_erased(place: Workplace) -> None:
    page = place.write("# Harbour master key leak\nsome text\n").page_id
    with pytest.raises(UsageError, match="for ever"):
        delete(place.store, ANNA, page, "because of the Harbour master key leak")
    assert place.store.catalog.page(page) is not None


def test_nothing_is_erased_while_an_operation_of_git_waits(place: Workplace) -> None:
    page = place.write("# One\n").page_id
    (place.path / ".git/CHERRY_PICK_HEAD").write_text(run(place.path, "rev-parse", "HEAD"))
    with pytest.raises(Unavailable, match="CHERRY_PICK_HEAD"):
        delete(place.store, ANNA, page, WHY)
    assert place.store.catalog.page(page) is not None


def test_an_event_goes_and_the_others_of_its_segment_stay(place: Workplace) -> None:
    said = [EventDraft(f"event {n}: what was said at {n}".encode()) for n in range(3)]
    one, two, three = place.session.ingest("project:log", said)
    found = delete(place.store, ANNA, two.page_id, WHY, proven=True)
    assert found.proof is not None
    assert found.proof.ok, found.proof.traces
    assert holds(place.path, "what was said at 1") == []
    for number, kept in ((0, one), (2, three)):
        assert place.session.payload(kept.revision_id) == said[number].payload
    assert fsck(place.store).problems == ()
    assert place.session.ingest("project:log", [EventDraft(b"and then")])[0].created


def test_a_cursor_of_the_feed_goes_on_over_an_erasure(place: Workplace) -> None:
    place.write("# One\nfirst\n")
    page = place.write("# Two\nthis one goes away\n").page_id
    cursor = Feed(place.store).now()
    delete(place.store, ANNA, page, WHY)
    kept = place.write("# Three\nthird\n").page_id
    assert [entry.page_id for entry in Feed(place.store).since(cursor)] == [kept]


def test_under_a_hold_nothing_is_erased_and_an_override_is_recorded(place: Workplace) -> None:
    page = place.write("# One\nsomething that is held\n").page_id
    place.session.retain(SCOPE, hold_until=Instant.read("2041-01-01"))
    with pytest.raises(NotPermitted, match="2041"):
        place.session.delete(page, WHY)
    found = place.session.delete(page, WHY, override="a court has said so")
    receipt = Receipt.decode((place.path / found.pages[0].receipt).read_bytes(), "receipt")
    assert receipt.override == "a court has said so"


def test_a_hold_ends_and_a_page_is_kept_so_many_days_after_its_last_change(
    place: Workplace,
) -> None:
    place.session.write(SCOPE, draft("# First\n"))
    place.session.retain(SCOPE, keep_days=30)
    page = place.write("# One\nsomething that is kept\n").page_id
    with pytest.raises(NotPermitted):
        place.session.delete(page, WHY)
    place.clock.go_to("2040-02-15")
    place.revise(page, "# One\nchanged, and so kept again\n")
    with pytest.raises(NotPermitted):
        place.session.delete(page, WHY)
    place.clock.go_to("2040-04-01")
    assert len(place.session.delete(page, WHY).pages) == 1
    place.session.retain(SCOPE)
    assert len(place.session.delete(place.write("# Two\n").page_id, WHY).pages) == 1


def test_of_two_holds_that_did_not_know_of_each_other_the_longer_holds(place: Workplace) -> None:
    place.write("# One\n")
    early, late = Instant.read("2041-01-01"), Instant.read("2042-01-01")
    changes = dict(place.store.objects.scope_changes(Namespace(SCOPE)))
    (first,) = changes
    body = changes[first]

    def after(count: int, seen: list[ChangeId], event: RetentionSet) -> ChangeId:
        change = ChangeId(f"chg_{count:032x}")
        changes[change] = type(body)(
            body.namespace, None, body.at, body.clone, body.actor, "x", tuple(seen), (event,)
        )
        return change

    one = after(1, [first], RetentionSet(late, None))
    two = after(2, [first], RetentionSet(early, 7))
    assert retention(changes) == Retention(late, 7)
    after(3, [one, two], RetentionSet(early, None))
    assert retention(changes) == Retention(early, None)
