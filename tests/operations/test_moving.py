"""A page never changes its scope: `move` writes one that supersedes it, and tombstones the old."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.errors import Conflict, InvalidName, NotFound, NotPermitted, SecretFound, UsageError
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EventDraft
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.session import Session
from pcpfs.store.undo import undo
from pcpfs.store.upkeeping.fsck import fsck
from tests.access.world import BEN
from tests.secrets.test_writing import TOKEN
from tests.store.workplace import ANNA, SCOPE, Workplace

THERE = "project:charts"


def test_a_moved_page_says_the_same_elsewhere_and_supersedes_the_old(place: Workplace) -> None:
    about = place.write("# Datum\n", title="Datum", path="d.md").page_id
    page = place.write(
        "# Tides\n",
        title="Tides",
        path="notes/tides.md",
        tags=("sea",),
        summary="short",
        source_refs=("doi:1",),
        epistemic={"authority": "owner"},
        valid_from=Instant.read("2001-01-01"),
        relations=(("depends_on", about),),
    )
    before = place.session.manifest(page.page_id)
    written = place.session.move(page.page_id, THERE, "all use it")
    assert (written.scope, written.path) == (THERE, "scopes/project/charts/tree/notes/tides.md")
    assert written.page_id != page.page_id
    after = place.session.manifest(written.page_id)
    for name in ("payload", "facets", "epistemic", "source_refs", "valid_from", "valid_to"):
        assert getattr(after, name) == getattr(before, name), name
    assert [(how.operation, how.inputs) for how in after.provenance] == [
        ("derive", (page.revision_id,))
    ]
    out = place.session.relations(written.page_id, direction="out")
    assert {(v.relation.type, v.relation.to_page) for v in out} == {
        ("supersedes", page.page_id),
        ("depends_on", about),
    }
    old = place.session.manifest(page.page_id)
    assert old.lifecycle_status == "tombstoned"
    assert place.session.payload(page.page_id) == b"# Tides\n"  # for an audit
    assert [hit.page_id for hit in place.session.search("tides").results] == [written.page_id]
    assert "notes/tides.md" not in place.tree()
    assert place.tree(THERE) == {"notes/tides.md": b"# Tides\n"}
    assert place.git("status", "--porcelain") == ""
    place.store.reindex()
    assert place.session.manifest(written.page_id) == after
    assert fsck(place.store).ok


def test_a_move_is_undone_as_a_whole(place: Workplace) -> None:
    page = place.write("one\n").page_id
    new = place.session.move(page, THERE).page_id
    undo(place.store, ANNA)
    assert place.session.manifest(page).lifecycle_status == "active"
    assert place.session.manifest(new).lifecycle_status == "tombstoned"


def test_a_citation_stays_one_and_turns_suspect_with_its_symbol(
    place: Workplace, tmp_path: Path
) -> None:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.py").write_text("def tide():\n    return 1\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(folder, Namespace(SCOPE), "app"))
        (hit,) = place.session.symbol("tide").results
        page = place.write("cites\n", cites=(hit.frame_id,)).page_id
        new = place.session.move(page, THERE).page_id
        assert place.session.suspects() == ()
        (folder / "a.py").write_text("def tide():\n    return 2\n")
        sources.sync()
    assert [suspect.page_id for suspect in place.session.suspects()] == [new]
    with pytest.raises(UsageError, match="is a source"):
        place.session.move("a.py", THERE)


def test_what_cannot_be_moved_is_refused_and_stays(place: Workplace) -> None:
    page = place.write("one\n", path="x.md")
    place.write("there\n", THERE, path="y")
    (event,) = place.session.ingest(SCOPE, [EventDraft(b"said", "text/plain")])
    session = place.session
    with pytest.raises(UsageError, match="already"):
        session.move(page.page_id, SCOPE)
    with pytest.raises(UsageError, match="stays as it happened"):
        session.move(event.page_id, THERE)
    with pytest.raises(InvalidName, match="cannot be a file"):
        session.move(page.page_id, THERE, path="y/z.md")
    place.revise(page.page_id, "two\n")
    place.revise(page.page_id, "three\n", branch=page.revision_id)
    with pytest.raises(Conflict, match="resolve that first"):
        session.move(page.page_id, THERE)
    session.tombstone(page.page_id, "over")
    with pytest.raises(Conflict, match="tombstoned"):
        session.move(page.page_id, THERE)
    assert len([row for row in place.store.catalog.pages() if row.scope == THERE]) == 1


def test_a_secret_is_accepted_by_each_scope_for_itself(place: Workplace) -> None:
    page = place.write(f"{TOKEN}\n", allow_secret=True).page_id
    with pytest.raises(SecretFound):
        place.session.move(page, THERE)
    assert place.session.move(page, THERE, allow_secret=True).created


def test_moving_needs_tombstone_here_and_write_and_link_there(place: Workplace) -> None:
    page = place.write("one\n").page_id
    place.write("two\n", THERE)
    govern, ben = place.session.governing, Session(place.store, BEN)
    with pytest.raises(NotFound):
        ben.move(page, THERE)
    govern.grant(SCOPE, BEN, ["read"])
    govern.grant(THERE, BEN, ["write", "link"])
    with pytest.raises(NotPermitted, match="may not tombstone"):
        ben.move(page, THERE)
    govern.grant(SCOPE, BEN, ["tombstone"])
    for missing in ("write", "link"):
        govern.revoke(THERE, BEN, [missing])
        with pytest.raises(NotPermitted, match=f"may not {missing}"):
            ben.move(page, THERE)
        govern.grant(THERE, BEN, [missing])
    written = ben.move(page, THERE)
    assert (written.commit, written.scope) == (None, THERE)
    with pytest.raises(NotPermitted):
        ben.move(place.write("three\n").page_id, "project:new")
