"""Events on their way in: what is written, and what a retry answers."""

from __future__ import annotations

import hashlib
import json

import pytest

from pcpfs.errors import InvalidName, KeyReused, UsageError
from pcpfs.model.events import INLINE, EventLine
from pcpfs.model.requests import EventDraft
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace, as_of, draft, paths_of, recorded, truth

CHAT = "conversation:c1"


def said(text: str, **given: object) -> EventDraft:
    return EventDraft(text.encode(), media_type="text/plain", **given)  # type: ignore[arg-type]


def test_an_event_is_a_page_that_can_be_shown_searched_and_logged(place: Workplace) -> None:
    ref = "conversation:c1#message-1"
    (written,) = place.session.ingest(CHAT, [said("The tide turns at noon.", source_refs=(ref,))])
    manifest = place.session.manifest(written.page_id)
    assert (manifest.kind, manifest.title) == ("event", "The tide turns at noon.")
    assert manifest.source_refs == (ref,)
    assert manifest.path == written.path
    assert place.session.payload(written.revision_id) == b"The tide turns at noon."
    assert [entry.operation for entry in place.session.log(written.page_id)] == ["event"]
    (hit,) = place.session.search("tide").results
    assert (hit.kind, hit.page_id, hit.revision_id) == ("event", *_ids(written))
    assert fsck(place.store).problems == ()


def _ids(written: object) -> tuple[str, str]:
    return written.page_id, written.revision_id  # type: ignore[attr-defined]


def test_a_batch_is_one_segment_and_one_commit(place: Workplace) -> None:
    before = place.commits()
    written = place.session.ingest(CHAT, [said(f"message {n}") for n in range(20)])
    assert place.commits() == before + 1
    assert len({w.page_id for w in written}) == 20
    (segment,) = paths_of(place.path, "*.jsonl")
    assert segment.stem == hashlib.sha256(segment.read_bytes()).hexdigest()
    assert segment.parent.name == segment.stem[2]
    assert segment.parent.parent.name == segment.stem[:2]
    assert place.git("status", "--porcelain") == ""


def test_each_line_is_compact_canonical_json_that_proves_itself(place: Workplace) -> None:
    (written,) = place.session.ingest(CHAT, [said("數據 ☃ \u2028 end")])
    (segment,) = paths_of(place.path, "*.jsonl")
    raw = segment.read_bytes()[:-1]
    value = json.loads(raw)
    assert (
        raw == json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    )
    found = EventLine.decode(raw, "line")
    assert found.revision_id == written.revision_id
    assert "rev_" + hashlib.sha256(found.revision.encode()).hexdigest() == written.revision_id
    assert value["text"] == "數據 ☃ \u2028 end"


def test_each_event_follows_the_one_before(place: Workplace) -> None:
    first = place.session.ingest(CHAT, [said("one"), said("two")])
    second = place.session.ingest(CHAT, [said("three")])
    bodies = [
        place.store.objects.revision(w.scope, w.page_id, w.revision_id)  # type: ignore[arg-type]
        for w in (*first, *second)
    ]
    ids = [w.revision_id for w in (*first, *second)]
    assert [b.event and list(b.event.after) for b in bodies] == [[], ids[:1], ids[1:2]]


def test_a_retry_with_the_same_key_writes_nothing(place: Workplace) -> None:
    (first,) = place.session.ingest(CHAT, [said("one", key="m1")])
    files, commits = truth(place.path), place.commits()
    (again,) = place.session.ingest(CHAT, [said("one", key="m1")])
    assert _ids(again) == _ids(first)
    assert (again.created, again.path) == (False, first.path)
    assert (truth(place.path), place.commits()) == (files, commits)


def test_of_a_batch_that_is_sent_again_only_what_is_new_is_written(place: Workplace) -> None:
    first = place.session.ingest(CHAT, [said("one", key="1"), said("two", key="2")])
    again = place.session.ingest(
        CHAT, [said(t, key=k) for t, k in zip(["one", "two", "three"], "123", strict=True)]
    )
    assert [w.created for w in again] == [False, False, True]
    assert [w.page_id for w in again[:2]] == [w.page_id for w in first]


def test_a_key_that_names_other_bytes_refuses_the_whole_batch(place: Workplace) -> None:
    place.session.ingest(CHAT, [said("one", key="1")])
    files = truth(place.path)
    with pytest.raises(KeyReused):
        place.session.ingest(CHAT, [said("new"), said("other", key="1")])
    with pytest.raises(KeyReused):
        place.session.ingest(CHAT, [said("a", key="2"), said("b", key="2")])
    assert truth(place.path) == files


def test_one_key_twice_in_a_batch_is_one_event(place: Workplace) -> None:
    first, second = place.session.ingest(CHAT, [said("one", key="1"), said("one", key="1")])
    assert _ids(first) == _ids(second)
    assert [first.created, second.created] == [True, False]


@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe\x00", b"a\r\nb", bytes(range(256)), b"x" * (INLINE + 1)]
)
def test_any_bytes_come_back_as_they_were(raw: bytes, place: Workplace) -> None:
    (written,) = place.session.ingest(CHAT, [EventDraft(raw)])
    assert place.session.payload(written.page_id) == raw
    again = place.reopened()
    assert again.session.payload(written.page_id) == raw
    assert fsck(again.store).problems == ()
    again.close()


def test_an_event_stays_as_it_happened(place: Workplace) -> None:
    (written,) = place.session.ingest(CHAT, [said("one")])
    with pytest.raises(UsageError, match="stays as it happened"):
        place.session.revise(written.page_id, draft("two"), expect=[written.revision_id])


def test_an_event_can_be_withdrawn_linked_and_restored(place: Workplace) -> None:
    one, two = place.session.ingest(CHAT, [said("first word"), said("second word")])
    place.session.link(two.page_id, "answers", one.page_id)
    place.session.tombstone(one.page_id, "said in error")
    assert [hit.page_id for hit in place.session.search("word").results] == [two.page_id]
    assert place.session.manifest(one.page_id).lifecycle_status == "tombstoned"
    assert [r.relation.type for r in place.session.relations(one.page_id)] == ["answers"]
    assert place.session.payload(one.page_id) == b"first word"
    place.session.restore(one.page_id, "it was right")
    assert len(place.session.search("word").results) == 2
    assert fsck(place.store).problems == ()
    place.store.reindex()
    assert len(place.session.search("word").results) == 2


def test_time_pins_hold_for_events(place: Workplace) -> None:
    (written,) = place.session.ingest(CHAT, [said("one")])
    moment = place.session.manifest(written.page_id).created_at
    place.session.tombstone(written.page_id, "wrong")
    assert place.session.manifest(written.page_id, recorded(moment)).lifecycle_status == "active"
    assert place.session.payload(written.page_id, as_of(moment)) == b"one"
    before = as_of("2039-01-01")
    assert place.session.search("one", pins=before).results == ()
    assert place.session.search("one", pins=recorded("2039-01-01")).results == ()


def test_what_cannot_be_shown_is_refused_and_nothing_is_written(place: Workplace) -> None:
    files = truth(place.path)
    for wrong in (
        said("x", title="a\x00b"),
        said("x", about={"source": ""}),
        said("x", tags=("\n",)),
    ):
        with pytest.raises(InvalidName):
            place.session.ingest(CHAT, [said("sound"), wrong])
    with pytest.raises(UsageError):
        place.session.ingest(CHAT, [said("x", key="")])
    assert truth(place.path) == files
    assert place.session.ingest(CHAT, []) == ()


def test_secrets_are_withheld_and_the_rest_is_kept(place: Workplace) -> None:
    token = "ghp_" + "a1B2" * 9
    (written,) = place.session.ingest(
        CHAT, [said(f"use {token} now", title=f"log in with {token}")]
    )
    assert place.session.payload(written.page_id) == b"use [withheld: github-token] now"
    assert token not in (place.path / (written.path or "")).read_text()
    assert place.session.manifest(written.page_id).title == "log in with [withheld: github-token]"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_a_secret_is_withheld_in_the_encoding_of_the_event(place: Workplace, encoding: str) -> None:
    token = "ghp_" + "a1B2" * 9
    event = EventDraft(
        f"é {token}é".encode(encoding),
        media_type=f"text/{token}",
        epistemic={"authority": f"bot {token}"},
    )
    (written,) = place.session.ingest(CHAT, [event])
    kept = place.session.payload(written.page_id)
    assert kept == "é [withheld: github-token]é".encode(encoding)
    assert token not in (place.path / (written.path or "")).read_text()


def test_binary_events_without_secrets_stay_byte_for_byte(place: Workplace) -> None:
    for raw in (bytes(range(256)), b"\xff\xfe\x00", b"\xfe\xff" + b"\xd8\x00" * 3):
        (written,) = place.session.ingest(CHAT, [EventDraft(raw)])
        assert place.session.payload(written.page_id) == raw
