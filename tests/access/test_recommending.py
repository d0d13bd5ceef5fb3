"""A model may recommend a deletion, not perform it (PCP DeletePage)."""

from __future__ import annotations

import pytest

from pcpfs.errors import NotFound, NotPermitted
from pcpfs.model.grants import DELETE, LOCAL_MODEL
from pcpfs.sources.status import status
from pcpfs.store.recommending import recommend_deletion
from pcpfs.store.session import Session
from tests.access.world import BEN
from tests.store.workplace import SCOPE, Workplace


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


def test_who_may_not_delete_is_told_what_to_do_instead(place: Workplace) -> None:
    place.write("one\n")
    with pytest.raises(NotPermitted, match="--recommend"):
        Session(place.store, LOCAL_MODEL).authority.require((DELETE,), SCOPE)
