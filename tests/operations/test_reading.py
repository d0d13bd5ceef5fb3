"""Lists in parts, relations as a graph, bundles (PCP ReadPages, PCP-S4, PCP-B1)."""

from __future__ import annotations

import pytest

from pcpfs.errors import Conflict, UsageError
from pcpfs.model.ids import Digest
from pcpfs.model.requests import PROJECTIONS
from tests.store.workplace import Workplace


def test_a_history_comes_in_parts_while_it_grows(place: Workplace) -> None:
    page = place.write("0").page_id
    for number in range(1, 6):
        place.revise(page, str(number))
    expected = [entry.revision_id for entry in place.session.log(page)]
    first = place.session.history(page, limit=2)
    place.revise(page, "later")
    rest, cursor = [], first.cursor
    while cursor:
        part = place.session.history(page, limit=2, cursor=cursor)
        rest += part.items
        cursor = part.cursor
    assert [entry.revision_id for entry in (*first.items, *rest)] == expected


def test_a_cursor_of_another_list_is_refused(place: Workplace) -> None:
    one, other = (place.write(name).page_id for name in "ab")
    for page in (one, other):
        place.revise(page, "more")
    cursor = place.session.history(one, limit=1).cursor
    with pytest.raises(UsageError):
        place.session.history(other, limit=1, cursor=cursor)


def test_relations_are_walked_both_ways_to_a_depth(place: Workplace) -> None:
    """PCP-L1, PCP-L2"""
    a, b, c = (place.write(name, path=f"{name}.md").page_id for name in "abc")
    place.session.link(a, "depends_on", b)
    place.session.link(c, "our.own:type", b)
    near = place.session.related(a).items
    assert [(n.page_id, n.depth) for n in near] == [(b, 1)]
    far = place.session.related(a, depth=2).items
    assert [(n.page_id, n.depth) for n in far] == [(b, 1), (c, 2)]
    assert [(v.relation.type, v.direction) for v in far[1].via] == [
        ("depends_on", "out"),
        ("our.own:type", "in"),
    ]
    assert place.session.related(a, direction="in").items == ()
    assert [n.page_id for n in place.session.related(b, types=["our.own:type"]).items] == [c]


def test_a_circle_of_relations_ends(place: Workplace) -> None:
    a, b = (place.write(name).page_id for name in "ab")
    place.session.link(a, "x", b)
    place.session.link(b, "x", a)
    place.session.link(a, "x", a)
    assert [n.page_id for n in place.session.related(a, depth=10).items] == [b]


def test_related_pages_come_in_parts(place: Workplace) -> None:
    hub = place.write("hub").page_id
    pages = [place.write(f"p{n}", relations=(("in", hub),)).page_id for n in range(5)]
    first = place.session.related(hub, limit=2)
    second = place.session.related(hub, limit=9, cursor=first.cursor)
    assert [n.page_id for n in (*first.items, *second.items)] == pages
    assert second.cursor is None


def test_a_bundle_keeps_ids_and_source_of_every_fragment(place: Workplace) -> None:
    """PCP-B1"""
    one = place.write("one\n", source_refs=("https://example.org/1",))
    two = place.write(b"\xff\x00binary")
    made = place.session.bundle([one.page_id, two.revision_id], PROJECTIONS)
    assert len(made.fragments) == 2 * len(PROJECTIONS)
    assert made.left_out == ()
    for fragment in made.fragments:
        which = one if fragment.page_id == one.page_id else two
        assert (fragment.page_id, fragment.revision_id) == (which.page_id, which.revision_id)
        assert fragment.source_refs == (("https://example.org/1",) if which is one else ())
    payloads = [f for f in made.fragments if f.projection == "payload"]
    assert payloads[0].text == "one\n"
    assert payloads[1].digest == Digest.of(b"\xff\x00binary")


@pytest.mark.parametrize("budget", [1, 5, 6, 7, 11, 12, 13, 400])
def test_a_bundle_stays_within_its_budget_and_names_what_is_left_out(
    place: Workplace, budget: int
) -> None:
    """PCP-S4"""
    pages = [place.write("line1\nline2\n").page_id, place.write("x" * 300).page_id]
    made = place.session.bundle([*pages, "missing.md"], budget=budget)
    assert made.size <= budget
    assert made.size == sum(len(f.text or "") for f in made.fragments)
    told = {(left.given, left.reason) for left in made.left_out}
    assert ("missing.md", "not_found") in told
    assert (("x" * 300) in [f.text for f in made.fragments]) != ((pages[1], "budget") in told)
    for fragment in made.fragments:
        assert fragment.bytes == (0, len(fragment.text or ""))
        assert fragment.text in ("line1\n", "line1\nline2\n", "x" * 300)


def test_limits_and_budgets_have_bounds(place: Workplace) -> None:
    page = place.write("x").page_id
    session = place.session
    for limit in (0, 201):
        for ask in (session.history, session.related):
            with pytest.raises(UsageError):
                ask(page, limit=limit)
    for budget in (0, 1 << 21):
        with pytest.raises(UsageError):
            session.bundle([page], budget=budget)
    with pytest.raises(UsageError):
        session.bundle([])


def test_a_cursor_after_something_that_is_gone_says_so(place: Workplace) -> None:
    a, b, c = (place.write(name).page_id for name in "abc")
    place.session.link(a, "x", b)
    place.session.link(a, "x", c)
    cursor = place.session.related(a, limit=1).cursor
    place.session.tombstone(b, "gone")
    place.session.related(a, cursor=cursor)
    from pcpfs.store.undo import undo  # noqa: PLC0415

    change = place.session.log(a)
    assert change
    rows = place.store.catalog.query("SELECT change_id FROM change WHERE operation = 'link'")
    undo(place.store, place.session.principal, sorted(rows)[0][0])
    undo(place.store, place.session.principal, sorted(rows)[1][0])
    with pytest.raises(Conflict, match="begin again"):
        place.session.related(a, cursor=cursor)
