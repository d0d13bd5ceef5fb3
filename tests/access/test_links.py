"""Links say where else to look (PCP-S1); they let nobody read more than they may (PCP-L3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.cli.call import document
from pcpfs.errors import NotFound, NotPermitted, UsageError
from pcpfs.store.exchanges.exchange import export, import_store
from pcpfs.store.merges.remote import pull, push
from pcpfs.store.session import Session
from tests.access.world import BEN
from tests.merge.clones import Family
from tests.store.workplace import ANNA, SCOPE, Workplace, recorded

CHARTS, HIDDEN = "project:charts", "project:hidden"


def found(session: Session, policy: str | None = "linked") -> list[str]:
    """The scopes of the hits, sorted; each hit names its own (PCP-S3)."""
    hits = session.search("tide", scopes=[SCOPE], policy=policy).results
    return sorted(hit.scope for hit in hits)


def test_a_linked_search_covers_the_scope_and_what_it_links_to(place: Workplace) -> None:
    for scope in (SCOPE, CHARTS, HIDDEN):
        place.write("tide\n", scope)
    session = place.session
    rules = session.governing.set(SCOPE, link=[CHARTS])
    session.governing.set(CHARTS, link=[HIDDEN])
    assert rules.links == (CHARTS,)
    assert found(session) == [SCOPE, CHARTS]  # one step, not two
    assert found(session, "strict") == found(session, None) == [SCOPE]
    answer = session.search("tide", scopes=[SCOPE], policy="linked")
    assert (answer.policy, answer.scopes) == ("linked", (SCOPE, CHARTS))
    assert session.scopes()[0].links == (CHARTS,)
    session.governing.set(SCOPE, unlink=[CHARTS])
    assert found(session) == [SCOPE]
    assert found(session, "strict") == [SCOPE]
    assert "linked" in session.capabilities()["policies"]  # type: ignore[operator]


def test_what_a_linked_search_covered_then_can_be_asked(place: Workplace) -> None:
    place.write("tide\n")
    place.write("tide\n", CHARTS)
    place.session.governing.set(SCOPE, link=[CHARTS])
    then = place.clock.now()
    place.session.governing.set(SCOPE, unlink=[CHARTS])
    pins = recorded(then)
    answer = place.session.search("tide", scopes=[SCOPE], policy="linked", pins=pins)
    assert answer.scopes == (SCOPE, CHARTS)


def test_a_policy_that_needs_scopes_or_none_says_so(place: Workplace) -> None:
    place.write("tide\n")
    for policy, scopes in (("linked", []), ("strict", []), ("global", [SCOPE]), ("wide", [SCOPE])):
        with pytest.raises(UsageError):
            place.session.search("tide", scopes=scopes, policy=policy)


def test_a_store_may_search_linked_by_default(place: Workplace) -> None:
    place.write("tide\n")
    place.write("tide\n", CHARTS)
    place.session.governing.set(SCOPE, link=[CHARTS])
    settings = place.path / "pcpfs.toml"
    settings.write_text(settings.read_text().replace('"global"', '"linked"'))
    again = place.reopened()
    assert found(again.session, None) == [SCOPE, CHARTS]
    again.close()


def test_a_cursor_goes_on_when_a_link_or_a_scope_comes_in_between(place: Workplace) -> None:
    for number in range(4):
        place.write(f"tide {number}\n")
    session = place.session
    for given in ({"scopes": [SCOPE], "policy": "linked"}, {}):
        first = session.search("tide", limit=2, **given)  # type: ignore[arg-type]
        new = f"project:charts{len(given)}"
        place.write("tide too\n", new)
        session.governing.set(SCOPE, link=[new])
        rest = session.search("tide", limit=20, cursor=first.cursor, **given)  # type: ignore[arg-type]
        pages = [hit.page_id for hit in (*first.results, *rest.results)]
        assert len(pages) == len(set(pages)) == len(session.search("tide", limit=20).results)


def test_a_link_lets_nobody_read_and_does_not_show_to_strangers(place: Workplace) -> None:
    place.write("tide\n")
    place.write("tide\n", HIDDEN)
    session = place.session
    session.governing.grant(SCOPE, BEN, ["read", "administer"])
    ben = Session(place.store, BEN)
    before = [document(x) for x in (ben.scopes(), ben.search("tide", scopes=[SCOPE]))]
    session.governing.set(SCOPE, link=[HIDDEN])
    after = [document(x) for x in (ben.scopes(), ben.search("tide", scopes=[SCOPE]))]
    assert after[1] == before[1]
    assert ben.scopes()[0].links == ben.governing.rules(SCOPE).links == ()
    assert found(ben) == [SCOPE]
    told = []
    for scope in (HIDDEN, "project:nowhere"):
        for deed in ({"link": [scope]}, {"unlink": [scope]}):
            with pytest.raises(NotFound) as refused:
                ben.governing.set(SCOPE, **deed)  # type: ignore[arg-type]
            told.append(refused.value.message.replace(scope, "S"))
    assert told[:2] == told[2:]
    session.governing.grant(HIDDEN, BEN, ["list"])
    assert ben.scopes()[0].links == (HIDDEN,)
    assert found(ben) == [SCOPE]
    session.governing.grant(HIDDEN, BEN, ["read"])
    assert found(ben) == [SCOPE, HIDDEN]


def test_linking_is_for_administrators(place: Workplace) -> None:
    place.write("tide\n")
    place.write("tide\n", CHARTS)
    for scope in (SCOPE, CHARTS):
        place.session.governing.grant(scope, BEN, ["read", "write", "link"])
    with pytest.raises(NotPermitted):
        Session(place.store, BEN).governing.set(SCOPE, link=[CHARTS])
    with pytest.raises(UsageError, match="covers itself"):
        place.session.governing.set(SCOPE, link=[SCOPE])


def test_of_a_link_and_an_unlink_in_two_clones_the_unlink_holds(
    empty_store: Path, tmp_path: Path
) -> None:
    family = Family(tmp_path, empty_store)
    (one,) = family.clones
    for scope in (SCOPE, CHARTS, HIDDEN):
        one.write("tide\n", scope)
    one.session.governing.set(SCOPE, link=[CHARTS, HIDDEN])
    push(one.store, ANNA)
    two = family.clone()
    one.session.governing.set(SCOPE, unlink=[CHARTS])
    two.session.governing.set(SCOPE, title="Tides", link=[CHARTS])
    push(one.store, ANNA)
    pull(two.store, ANNA)
    push(two.store, ANNA)
    pull(one.store, ANNA)
    for clone in family.clones:
        assert found(clone.session) == [SCOPE, HIDDEN]
        clone.store.reindex()
        assert clone.session.governing.rules(SCOPE).links == (HIDDEN,)
        clone.close()


def test_links_go_with_an_export_into_a_store_where_the_scope_is_new(
    place: Workplace, tmp_path: Path, empty_store: Path
) -> None:
    place.write("tide\n")
    place.write("tide\n", CHARTS)
    place.session.governing.set(SCOPE, link=[CHARTS])
    export(place.session, [SCOPE], tmp_path / "out")
    other = Workplace.at(tmp_path / "out")
    assert other.session.scopes()[0].links == ()  # the other scope stayed behind
    other.write("tide\n", CHARTS)
    assert found(other.session) == [SCOPE, CHARTS]
    other.session.governing.set(SCOPE, unlink=[CHARTS])
    import_store(other.session, place.path)
    assert found(other.session) == [SCOPE]
    other.close()
