"""A model may recommend a deletion, not perform it (PCP DeletePage)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import NotFound, NotPermitted
from pcpfs.model.grants import DELETE, LOCAL_MODEL
from pcpfs.sources.status import status
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.recommending import dismiss_recommendations, recommend_deletion
from pcpfs.store.session import Session
from tests.access.world import BEN
from tests.merge.clones import Family
from tests.store.workplace import ANNA, SCOPE, Workplace


def test_what_a_model_recommends_is_listed_with_its_reason(place: Workplace) -> None:
    page = place.write("one\n", title="Old").page_id
    recommend_deletion(Session(place.store, LOCAL_MODEL), page, "it is wrong")
    place.store.reindex()
    (one,) = status(place.session).recommended
    assert (one.page_id, one.title, one.actor, one.why) == (
        page,
        "Old",
        "model:local",
        "it is wrong",
    )
    assert place.session.payload(page) == b"one\n"
    assert place.session.manifest(page).lifecycle_status == "active"


def test_it_needs_what_writing_needs_and_tells_nothing_else(place: Workplace) -> None:
    page = place.write("one\n").page_id
    ben = Session(place.store, BEN)
    with pytest.raises(NotFound, match="nothing here is called"):
        recommend_deletion(ben, page, "no")
    place.session.governing.grant(SCOPE, BEN, ["read"])
    with pytest.raises(NotPermitted):
        recommend_deletion(ben, page, "no")
    place.session.governing.revoke(SCOPE, BEN)
    recommend_deletion(place.session, page, "mine")
    assert status(ben).recommended == ()


def test_a_recommendation_is_dismissed_and_can_be_made_again(place: Workplace) -> None:
    page = place.write("one\n", title="Old").page_id
    other = place.write("two\n").page_id
    model = Session(place.store, LOCAL_MODEL)
    recommend_deletion(model, page, "it is wrong")
    recommend_deletion(place.session, page, "it is long")
    recommend_deletion(model, other, "wrong too")
    dismiss_recommendations(place.session, page, "it is right")
    place.store.reindex()
    assert [one.page_id for one in status(place.session).recommended] == [other]
    assert place.session.log(page)
    with pytest.raises(NotFound, match="nobody recommends"):
        dismiss_recommendations(place.session, page, "again")
    recommend_deletion(model, page, "still wrong")
    assert [one.why for one in status(place.session).recommended] == ["wrong too", "still wrong"]


def test_who_may_not_delete_dismisses_only_their_own(place: Workplace) -> None:
    page = place.write("one\n").page_id
    model = Session(place.store, LOCAL_MODEL)
    recommend_deletion(place.session, page, "mine")
    with pytest.raises(NotPermitted):
        dismiss_recommendations(model, page, "no")
    recommend_deletion(model, page, "theirs")
    dismiss_recommendations(model, page, "on second thought")
    assert [one.why for one in status(place.session).recommended] == ["mine"]
    with pytest.raises(NotFound, match="nothing here is called"):
        dismiss_recommendations(Session(place.store, BEN), page, "no")


def test_a_recommendation_that_a_dismissal_did_not_know_of_stays(
    empty_store: Path, tmp_path: Path
) -> None:
    family = Family(tmp_path, empty_store)
    (one,) = family.clones
    page = one.write("one\n").page_id
    recommend_deletion(one.session, page, "first")
    push(one.store, ANNA)
    two = family.clone()
    recommend_deletion(two.session, page, "second")
    dismiss_recommendations(one.session, page, "it stays")
    push(one.store, ANNA)
    pull(two.store, ANNA)
    assert [told.why for told in status(two.session).recommended] == ["second"]
    for clone in family.clones:
        clone.close()


def test_who_may_not_delete_is_told_what_to_do_instead(place: Workplace) -> None:
    place.write("one\n")
    with pytest.raises(NotPermitted, match="--recommend"):
        Session(place.store, LOCAL_MODEL).authority.require((DELETE,), SCOPE)
