"""Every list has an end (PCP-S4), and its cursor holds while others write."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import UsageError
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.sources.status import LISTS, status, status_list
from pcpfs.store.recommending import recommend_deletion
from tests.store.workplace import ANNA, Workplace, draft


def test_scopes_come_in_parts_whatever_is_made_in_between(place: Workplace) -> None:
    for name in "bdfh":
        place.write("x\n", f"project:{name}")
    first = place.session.list_scopes(limit=2)
    assert [view.scope for view in first.items] == ["project:b", "project:d"]
    place.write("x\n", "project:a")
    place.write("x\n", "project:e")
    rest = place.session.list_scopes(limit=10, cursor=first.cursor)
    assert [view.scope for view in rest.items] == ["project:e", "project:f", "project:h"]
    assert rest.cursor is None


def test_conflicts_are_resolved_while_they_are_paged_through(place: Workplace) -> None:
    """The item that the cursor follows is gone: that is what the list is for."""
    for number in range(5):
        page = place.write(f"{number}\n")
        place.revise(page.page_id, "here\n")
        place.revise(page.page_id, "there\n", branch=page.revision_id)
    everything = place.session.conflicts()
    given, cursor = [], None
    while True:
        part = place.session.list_conflicts(limit=2, cursor=cursor)
        for one in part.items:
            given.append(one)
            place.session.resolve_conflict(one.page_id, draft("one text\n"))
        cursor = part.cursor
        if cursor is None:
            break
    assert tuple(given) == everything
    assert place.session.conflicts() == ()


def test_a_cursor_is_of_its_own_list_and_no_text_of_ours(place: Workplace) -> None:
    for name in "abc":
        place.write("x\n", name)
    cursor = place.session.list_scopes(limit=1).cursor
    for wrong in (cursor, "AAAA", "no cursor"):
        with pytest.raises(UsageError):
            place.session.list_conflicts(cursor=wrong)
    for limit in (0, 201):
        with pytest.raises(UsageError, match="a limit is between"):
            place.session.list_scopes(limit=limit)


def test_suspect_pages_come_in_parts(place: Workplace, tmp_path: Path) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.py").write_text("def tide():\n    return 1\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(folder, Namespace("project:a"), "app"))
        (hit,) = place.session.symbol("tide").results
        for number in range(3):
            place.write(f"{number}\n", title=f"Note {number}", cites=(hit.frame_id,))
        (folder / "a.py").write_text("def tide():\n    return 2\n")
        sources.sync()
    first = place.session.list_suspects(limit=2)
    rest = place.session.list_suspects(limit=2, cursor=first.cursor)
    assert (*first.items, *rest.items) == place.session.suspects()
    assert (len(first.items), rest.cursor) == (2, None)


def test_status_tells_so_much_of_each_list_and_where_to_go_on(
    place: Workplace, tmp_path: Path
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.bin").write_bytes(b"\0\1")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(folder, Namespace("project:a"), "app"))
    for number in range(3):
        page = place.write(f"{number}\n", f"project:{number}").page_id
        recommend_deletion(place.session, page, f"why {number}")
    told = status(place.session, limit=2)
    assert {name: more.total for name, more in told.more.items()} == {
        "scopes": 4,
        "skipped": 5,
        "recommended": 3,
    }
    assert all(len(getattr(told, name)) <= 2 for name in LISTS)
    assert told.skipped_reasons == {"binary": 5}
    assert told.pages == 3
    for name, more in told.more.items():
        rest = status_list(place.session, name, cursor=more.cursor)
        assert len(getattr(told, name)) + len(rest.items) == more.total
        assert (*getattr(told, name), *rest.items) == getattr(status(place.session), name)
    with pytest.raises(UsageError, match="no list nothing"):
        status_list(place.session, "nothing")
