"""Segments: merged by union, found again from the files alone, and damaged one line at a time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.events import EventLine, segment
from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.model.requests import EventDraft
from pcpfs.store.events.event_lines import event_places, latest_events
from pcpfs.store.events.event_segments import without
from pcpfs.store.layout import segment_file
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, paths_of

SCOPE = Namespace("thread:t")


def said(text: str, key: str | None = None) -> EventDraft:
    return EventDraft(text.encode(), media_type="text/plain", key=key)


def cloned(place: Workplace, folder: Path) -> Workplace:
    subprocess.run(["git", "clone", "-q", str(place.path), str(folder)], check=True)
    return Workplace.at(folder, place.clock)


def pull(place: Workplace, other: Workplace, *how: str) -> None:
    """A person's own git, in a clone that knows nothing of us."""
    person = ("-c", "user.name=P", "-c", "user.email=p@x", "-c", "commit.gpgsign=false")
    place.git(
        *person, "pull", "-q", *(how or ("--no-rebase", "--no-edit")), str(other.path), "main"
    )


def texts(place: Workplace) -> list[str]:
    rows = event_places(place.store.catalog, "scope = ?", SCOPE)
    return sorted(place.session.payload(row.revision_id).decode() for row in rows)


def committed(place: Workplace, message: str) -> None:
    """What a person's hands did to the files, as a commit of theirs."""
    place.git("add", "-A")
    place.git("-c", "user.name=P", "-c", "user.email=p@x", "commit", "-q", "-m", message)


@pytest.mark.parametrize("how", [(), ("--rebase",)], ids=["merge", "rebase"])
def test_clones_that_both_took_events_in_hold_all_after_a_pull(
    how: tuple[str, ...], place: Workplace, tmp_path: Path
) -> None:
    place.session.ingest(SCOPE, [said("start")])
    other = cloned(place, tmp_path / "other")
    place.session.ingest(SCOPE, [said("a1"), said("a2")])
    other.session.ingest(SCOPE, [said("b1")])
    pull(other, place, *how)
    assert other.session.search("a2").results
    assert texts(other) == ["a1", "a2", "b1", "start"]
    pull(place, other)
    assert place.session.search("b1").results
    assert texts(place) == texts(other)
    assert len(list(latest_events(place.store.catalog, SCOPE))) == 2
    assert fsck(place.store).problems == ()
    place.session.ingest(SCOPE, [said("joined")])
    assert len(list(latest_events(place.store.catalog, SCOPE))) == 1
    other.close()


def test_one_key_in_two_clones_is_one_head_of_equal_bytes_and_two_of_others(
    place: Workplace, tmp_path: Path
) -> None:
    place.session.ingest(SCOPE, [said("start")])
    other = cloned(place, tmp_path / "other")
    for one in (place, other):
        one.session.ingest(SCOPE, [said("equal", key="e")])
    (mine,) = place.session.ingest(SCOPE, [said("mine", key="d")])
    other.session.ingest(SCOPE, [said("theirs", key="d")])
    pull(place, other)
    (equal,) = place.session.ingest(SCOPE, [said("equal", key="e")])
    assert not equal.created
    assert len(place.session.manifest(equal.page_id).heads) == 1
    assert len(place.session.manifest(mine.page_id).heads) == 2
    assert texts(place) == ["equal", "equal", "mine", "start", "theirs"]
    chosen = place.revise(mine.page_id, "both")
    assert place.session.manifest(mine.page_id).heads == (chosen.revision_id,)
    assert fsck(place.store).problems == ()
    other.close()


def test_an_event_in_two_segments_is_one(place: Workplace) -> None:
    one, two = place.session.ingest(SCOPE, [said("one"), said("two")])
    (file,) = paths_of(place.path, "*.jsonl")
    raw = file.read_bytes().splitlines(keepends=True)[1]
    copy = place.path / segment_file(SCOPE, Digest.of(raw))
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(raw)
    committed(place, "a copy of the second event")
    assert len(place.session.search("two").results) == 1
    assert len(place.session.log(two.page_id)) == 1
    assert fsck(place.store).problems == ()
    file.unlink()
    committed(place, "only the copy is left")
    assert place.session.payload(two.page_id) == b"two"
    assert place.session.search("one").results == ()
    with pytest.raises(NotFound):
        place.session.payload(one.page_id)


def test_the_catalog_built_anew_says_the_same(place: Workplace) -> None:
    written = place.session.ingest(SCOPE, [said(f"event {n}") for n in range(30)])
    place.session.tombstone(written[3].page_id, "wrong")
    before = [place.session.manifest(w.page_id) for w in written]
    latest = list(latest_events(place.store.catalog, SCOPE))
    shutil.rmtree(place.path / ".pcpfs")
    again = place.reopened()
    assert [again.session.manifest(w.page_id) for w in written] == before
    assert list(latest_events(again.store.catalog, SCOPE)) == latest
    assert len(again.session.search("event", limit=50).results) == 29
    again.close()


@pytest.mark.parametrize("damage", ["flipped", "torn", "garbage", "forged"])
def test_a_damaged_line_is_named_and_costs_only_itself(damage: str, place: Workplace) -> None:
    written = place.session.ingest(SCOPE, [said(f"event {n}") for n in range(5)])
    (file,) = paths_of(place.path, "*.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    lines[2] = {
        "flipped": lines[2].replace(b"event 2", b"event X"),
        "torn": lines[2][:40] + b"\n",
        "garbage": b"\xff\x00[[[[\n",
        "forged": lines[2].replace(b'"size":7', b'"size":8'),
    }[damage]
    file.write_bytes(b"".join(lines))
    report = fsck(place.store)
    relative = file.relative_to(place.path).as_posix()
    assert any("line 3" in p.message and p.path == relative for p in report.problems)
    shutil.rmtree(place.path / ".pcpfs")
    again = place.reopened()
    kept = [n for n in range(5) if n != 2]
    assert [again.session.payload(written[n].page_id) for n in kept] == [
        f"event {n}".encode() for n in kept
    ]
    assert len(again.session.search("event").results) == 4
    assert any("line 3" in d.message for d in again.session.damages())
    with pytest.raises((NotFound, Corrupt)):
        again.session.payload(written[2].page_id)
    again.git("checkout", "-q", "--", relative)
    again.store.reindex()
    assert again.session.payload(written[2].page_id) == b"event 2"
    assert again.session.damages() == ()
    again.close()


def test_a_segment_cut_short_loses_only_what_was_cut(place: Workplace) -> None:
    written = place.session.ingest(SCOPE, [said("one"), said("two")])
    (file,) = paths_of(place.path, "*.jsonl")
    file.write_bytes(file.read_bytes()[:-30])
    place.store.reindex()
    assert place.session.payload(written[0].page_id) == b"one"
    assert place.session.damages()


def test_an_event_of_another_scope_is_not_taken_over(place: Workplace) -> None:
    place.session.ingest("project:secret", [said("hidden")])
    place.session.ingest(SCOPE, [said("open")])
    (foreign,) = (p for p in paths_of(place.path, "*.jsonl") if "secret" in str(p))
    raw = foreign.read_bytes()
    planted = place.path / segment_file(SCOPE, Digest.of(raw))
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_bytes(raw)
    committed(place, "planted")
    assert place.session.search("hidden", scopes=[SCOPE]).results == ()
    assert any("belongs to the scope" in p.message for p in fsck(place.store).problems)


def test_a_segment_without_an_event_holds_the_others(place: Workplace) -> None:
    one, two = place.session.ingest(SCOPE, [said("one"), said("two")])
    (file,) = paths_of(place.path, "*.jsonl")
    raw = file.read_bytes()
    rest = without(raw, file.relative_to(place.path).as_posix(), SCOPE, [one.revision_id])
    assert rest == raw.splitlines(keepends=True)[1]
    assert EventLine.decode(rest[:-1], "rest").revision_id == two.revision_id
    assert segment([EventLine.decode(rest[:-1], "rest")]) == rest
