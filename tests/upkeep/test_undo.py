"""An undo is a change that says the opposite; nothing is lost, and nobody else's work is undone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import Conflict, NotFound, PcpfsError, UsageError
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.feed import Cursor, Feed
from pcpfs.store.session import Session
from pcpfs.store.undo import UndoReport, undo
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import ANNA, SCOPE, Workplace, draft

BEN = Principal("user:ben")


def undone(place: Workplace, change: str | None = None, actor: Principal = ANNA) -> UndoReport:
    return undo(place.store, actor, change)


def changes(place: Workplace) -> list[str]:
    """The changes of pages, oldest first."""
    entries = Feed(place.store).since(Cursor(None))
    return [entry.change_id for entry in entries if entry.page_id]


def lifecycle(place: Workplace, page: str) -> str:
    row = place.store.catalog.page(page)
    assert row is not None
    return row.lifecycle


def test_undoing_a_revision_writes_what_its_parent_said(place: Workplace) -> None:
    page = place.write("one\n", path="x.md", title="First", tags=("a",))
    place.revise(page.page_id, "two\n", title="Second", tags=("b",))
    commits = place.commits()
    (item,) = undone(place).undone
    manifest = place.session.manifest(page.page_id)
    assert place.session.payload(page.page_id) == b"one\n"
    assert (manifest.title, place.session.facets(page.page_id).tags) == ("First", ("a",))
    assert item.revision_id == manifest.revision_id != page.revision_id
    assert len(place.session.log(page.page_id)) == 3
    assert place.tree() == {"x.md": b"one\n"}
    assert place.commits() == commits + 1
    assert fsck(place.store).ok


def test_undoing_twice_redoes(place: Workplace) -> None:
    page = place.write("one\n", path="x.md")
    place.revise(page.page_id, "two\n")
    undone(place)
    undone(place)
    assert place.session.payload(page.page_id) == b"two\n"
    undone(place)
    assert place.session.payload(page.page_id) == b"one\n"


def test_undoing_a_first_write_withdraws_the_page_and_undoing_that_brings_it_back(
    place: Workplace,
) -> None:
    page = place.write("one\n", path="x.md")
    undone(place)
    assert lifecycle(place, page.page_id) == "tombstoned"
    assert place.tree() == {}
    undone(place)
    assert lifecycle(place, page.page_id) == "active"
    assert place.tree() == {"x.md": b"one\n"}


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        (["archive"], "active"),
        (["tombstone"], "active"),
        (["archive", "tombstone"], "archived"),
        (["archive", "restore"], "archived"),
    ],
)
def test_undoing_a_change_of_the_lifecycle(place: Workplace, steps: list[str], after: str) -> None:
    page = place.write("one\n", path="x.md").page_id
    for step in steps:
        getattr(place.session, step)(page, "because")
    undone(place)
    assert lifecycle(place, page) == after


def test_undoing_a_link_takes_it_away_and_again_brings_it_back(place: Workplace) -> None:
    one, two = place.write("one\n", path="x.md"), place.write("two\n", path="y.md")
    relation = place.session.link(one.page_id, "supports", two.page_id).relation
    undone(place)
    assert place.session.relations(one.page_id) == ()
    undone(place)
    assert [r.relation for r in place.session.relations(one.page_id)] == [relation]


def test_undoing_a_revision_takes_its_links_back_too(place: Workplace) -> None:
    first, page = place.write("base\n", path="b.md"), place.write("one\n", path="x.md")
    place.revise(page.page_id, "two\n", derived_from=(first.revision_id,))
    assert len(place.session.relations(page.page_id)) == 1
    undone(place)
    assert place.session.relations(page.page_id) == ()


def test_a_named_change_is_undone_while_nothing_builds_on_it(place: Workplace) -> None:
    one = place.write("one\n", path="x.md")
    place.revise(one.page_id, "two\n")
    other = place.write("other\n", path="y.md")
    first, second, third = changes(place)
    undone(place, second[:14])
    assert place.session.payload(one.page_id) == b"one\n"
    assert place.session.payload(other.page_id) == b"other\n"
    with pytest.raises(Conflict, match="revised since"):
        undone(place, first)
    with pytest.raises(Conflict, match="not the head"):
        undone(place, second)
    undone(place, third)
    assert lifecycle(place, other.page_id) == "tombstoned"


def test_a_refused_undo_writes_nothing(place: Workplace) -> None:
    page = place.write("one\n", path="x.md")
    place.revise(page.page_id, "two\n")
    place.session.archive(page.page_id, "old")
    place.session.restore(page.page_id, "new")
    _, _, archived, _ = changes(place)
    commits, known = place.commits(), changes(place)
    with pytest.raises(Conflict, match="is active since"):
        undone(place, archived)
    assert (place.commits(), changes(place)) == (commits, known)
    assert place.reopened().session.payload(page.page_id) == b"two\n"


def test_each_undoes_their_own_last_operation(place: Workplace) -> None:
    ours = place.write("ours\n", path="x.md")
    place.session.governing.grant(SCOPE, BEN, ["read", "write"])
    theirs = Session(place.store, BEN).write(SCOPE, draft("theirs\n"), path="y.md")
    undone(place)
    assert lifecycle(place, ours.page_id) == "tombstoned"
    assert lifecycle(place, theirs.page_id) == "active"
    with pytest.raises(NotFound, match="changed nothing in this clone"):
        undone(place, actor=Principal("user:carl"))


def test_another_clone_has_nothing_of_ours_to_undo(place: Workplace, tmp_path: Path) -> None:
    place.write("ours\n", path="x.md")
    subprocess.run(["git", "clone", "-q", str(place.path), str(tmp_path / "other")], check=True)
    other = Workplace.at(tmp_path / "other")
    with pytest.raises(NotFound, match="in this clone"):
        undone(other)
    undone(other, changes(other)[0])
    other.close()


def test_undoing_a_second_head_leaves_the_first_one(place: Workplace) -> None:
    page = place.write("one\n", path="x.md")
    place.revise(page.page_id, "two\n")
    place.revise(page.page_id, "beside\n", branch=page.revision_id)
    assert len(place.session.conflicts()) == 1
    undone(place)
    assert place.session.conflicts() == ()
    assert place.tree() == {"x.md": b"two\n"}


def test_what_a_source_holds_cannot_be_undone(place: Workplace, tmp_path: Path) -> None:
    page = place.write("one\n", path="x.md")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): pass\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(tmp_path / "code", Namespace(SCOPE)))
    with pytest.raises(UsageError, match=r"a\.py holds.*change the file") as refused:
        undone(place)
    (hint,) = [word for word in refused.value.message.split() if word.startswith("chg_")]
    undone(place, hint)
    assert lifecycle(place, page.page_id) == "tombstoned"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("chg_", UsageError),
        ("rev_" + "0" * 64, UsageError),
        ("../../x", UsageError),
        ("chg_%%%%%%", NotFound),
        ("chg_" + "0" * 32, NotFound),
    ],
)
def test_what_names_no_change_is_an_error(
    place: Workplace, given: str, error: type[PcpfsError]
) -> None:
    place.write("one\n", path="x.md")
    with pytest.raises(error):
        undone(place, given)


STEPS = ("write", "revise", "archive", "restore", "tombstone")


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=4))
def test_an_undo_brings_back_what_readers_saw_before(place: Workplace, steps: list[str]) -> None:
    page = place.write("start\n").page_id
    seen = [_seen(place, page)]
    for number, step in enumerate(steps):
        before = _seen(place, page)
        done = place.commits()
        _do(place, page, step, number)
        if place.commits() == done:
            continue
        undone(place)
        assert _seen(place, page) == before
        undone(place)
        seen.append(_seen(place, page))
    assert fsck(place.store).ok


def _do(place: Workplace, page: str, step: str, number: int) -> None:
    if step == "write":
        place.write(f"other {number}\n")
    elif step == "revise":
        if lifecycle(place, page) != "tombstoned":
            place.revise(page, f"text {number}\n")
    else:
        getattr(place.session, step)(page, "because")


def _seen(place: Workplace, page: str) -> tuple[object, ...]:
    found = place.session.search("start text other", limit=200).results
    texts = {place.session.payload(hit.page_id) for hit in found}
    return lifecycle(place, page), place.session.payload(page), place.tree(), texts


def test_a_page_whose_close_was_undone_can_be_tombstoned(place: Workplace) -> None:
    """Through a change that was taken back, what came before it is known all the same."""
    page = place.write("one\n").page_id
    place.session.close_at(page, Instant.read("2041-01-01"), "over")
    undo(place.store, ANNA)
    place.session.tombstone(page, "wrong")
    row = place.store.catalog.page(page)
    assert row is not None
    assert (row.lifecycle, row.disputes) == ("tombstoned", "[]")
