"""Importers: chat transcripts, and folders of Markdown with links."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pcpfs_adapters.importers.chat import ChatImporter
from pcpfs_adapters.importers.markdown_folder import MarkdownImporter

from pcpfs.errors import UsageError
from pcpfs.model.instants import Instant
from pcpfs.store.exchanges.importing import Imported, take_in
from tests.store.workplace import Workplace

MESSAGES: list[Any] = [
    {"role": "user", "content": "When is high water?", "timestamp": "2026-03-01T12:00:00+01:00"},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "At noon."}],
        "created_at": 1772366400,
    },
    {"role": "tool", "content": {"call": "tide", "ok": True}},
    {"sender": "human", "text": "Thanks."},
]


def chat(place: Workplace, file: Path, whole: object, scope: str | None = None) -> Imported:
    if file.suffix == ".jsonl":
        assert isinstance(whole, list)
        file.write_text("\n".join(map(json.dumps, whole)) + "\n\n")
    else:
        file.write_text(json.dumps(whole))
    assert ChatImporter().recognises(file)
    return take_in(place.session, ChatImporter().read(file), scope)


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("tides.json", MESSAGES),
        ("tides.jsonl", MESSAGES),
        ("x.json", {"id": "tides", "messages": MESSAGES}),
        ("x.json", [{"uuid": "tides", "chat_messages": MESSAGES}]),
        ("x.jsonl", [{"conversation_id": "tides", "messages": MESSAGES}]),
    ],
)
def test_a_transcript_is_one_event_page_a_message(
    place: Workplace, tmp_path: Path, name: str, whole: object
) -> None:
    """PCP-A1: each message has a stable ref, whatever the form."""
    done = chat(place, tmp_path / name, whole)
    assert (done.events, done.unread, done.scopes) == (4, (), ("conversation:tides",))
    rows = place.store.catalog.pages("scope = 'conversation:tides'")
    found = {
        manifest.source_refs[0]: manifest
        for manifest in (place.session.manifest(row.page_id) for row in rows)
    }
    assert sorted(found) == [f"conversation:tides#message-{n}" for n in range(1, 5)]
    first = found["conversation:tides#message-1"]
    assert first.kind == "event"
    assert first.observed_at == Instant.read("2026-03-01T11:00:00Z")
    assert found["conversation:tides#message-2"].observed_at == Instant.read("2026-03-01T12:00:00Z")
    texts = [place.session.payload(found[ref].page_id) for ref in sorted(found)]
    assert texts[:2] == [b"When is high water?", b"At noon."]
    assert json.loads(texts[2]) == MESSAGES[2]["content"]
    again = chat(place, tmp_path / name, whole)
    assert (again.events, again.unchanged) == (0, 4)


def test_a_transcript_goes_on(place: Workplace, tmp_path: Path) -> None:
    chat(place, tmp_path / "c.jsonl", MESSAGES[:2])
    more = chat(place, tmp_path / "c.jsonl", MESSAGES)
    assert (more.events, more.unchanged) == (2, 2)


def test_what_is_no_message_is_named_and_the_rest_is_taken(
    place: Workplace, tmp_path: Path
) -> None:
    odd = [
        *MESSAGES,
        "text",
        {"role": "user"},
        {"content": "x", "timestamp": "2026-03-01T12:00:00"},
    ]
    done = chat(place, tmp_path / "c.json", odd)
    assert done.events == 4
    assert [left.path for left in done.unread] == [f"c.json#message-{n}" for n in (5, 6, 7)]
    assert "time zone" in done.unread[2].reason


@pytest.mark.parametrize("raw", [b"{", b"{}", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_transcript_is_refused(place: Workplace, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "c.json").write_bytes(raw)
    with pytest.raises(UsageError):
        take_in(place.session, ChatImporter().read(tmp_path / "c.json"))


def test_a_message_that_changed_is_told(place: Workplace, tmp_path: Path) -> None:
    chat(place, tmp_path / "c.json", MESSAGES)
    done = chat(place, tmp_path / "c.json", [{"role": "user", "content": "other"}])
    assert [left.path for left in done.unread] == ["conversation:c"]


BASIC_MEMORY = """---
title: Coffee Brewing
type: note
permalink: coffee/brewing
tags: [coffee, method]
---

# Coffee Brewing

## Observations
- [method] Pour over gives more clarity #brewing (learned)
- [ ] not an observation but a task
- [tip] Water at 94 degrees #heat

## Relations
- relates_to [[Coffee Beans]]
- Inspired By [[tea/Tea|tea]]
- [[Nowhere]]

See [[Coffee Beans#Roast|the beans]] and ![[diagram]].

```
- fake [[Code]]
```
"""
VAULT = {
    "Coffee Brewing.md": BASIC_MEMORY,
    "Coffee Beans.md": "---\naliases:\n  - beans\n---\nBeans, see [[coffee/brewing]].\n",
    "tea/Tea.md": "# Tea\r\nNot [[beans]].\r\n",
    "one/Same.md": "[[Same]]\n",
    "two/Same.md": "[[one/Same]]\n",
    ".obsidian/x.md": "hidden",
    ".trash/y.md": "hidden",
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, text in VAULT.items():
        file = tmp_path / "vault" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return tmp_path / "vault"


def bring(place: Workplace, vault: Path) -> Imported:
    return take_in(place.session, MarkdownImporter().read(vault), "notes:vault")


def test_a_vault_keeps_bytes_names_observations_and_relations(
    place: Workplace, vault: Path
) -> None:
    done = bring(place, vault)
    assert (done.created, done.revised, done.unread) == (5, 0, ())
    assert place.tree("notes:vault") == {
        name: text.encode() for name, text in VAULT.items() if not name.startswith(".")
    }
    page = place.session.manifest("Coffee Brewing.md")
    assert page.title == "Coffee Brewing"
    assert page.facets.tags == ("coffee", "method", "brewing", "heat")
    assert page.facets.anchors == (
        "[method] Pour over gives more clarity #brewing (learned)",
        "[tip] Water at 94 degrees #heat",
    )
    assert "permalink:coffee/brewing" in page.source_refs
    edges = {
        (view.relation.type, view.title)
        for view in place.session.relations(page.page_id, direction="out")
    }
    assert edges == {
        ("relates_to", "Coffee Beans"),
        ("inspired_by", "Tea"),
        ("links_to", "Coffee Beans"),
    }
    assert set(done.unresolved) == {
        ("Coffee Brewing.md", "links_to", "Nowhere"),
        ("Coffee Brewing.md", "embeds", "diagram"),
        ("one/Same.md", "links_to", "Same"),
    }
    back = place.session.relations("Coffee Beans.md", direction="out")
    assert [view.relation.to_page for view in back] == [page.page_id]


def test_a_second_import_of_a_vault_changes_nothing(place: Workplace, vault: Path) -> None:
    bring(place, vault)
    commits = place.commits()
    again = bring(place, vault)
    assert (again.created, again.revised, again.links, again.unchanged) == (0, 0, 0, 5)
    assert place.commits() == commits


def test_what_changed_in_the_vault_revises_its_page(place: Workplace, vault: Path) -> None:
    bring(place, vault)
    (vault / "tea/Tea.md").write_text("# Tea\nGreen. [[beans]] [[coffee/brewing]]\n")
    done = bring(place, vault)
    assert (done.revised, done.conflicts, done.links) == (1, (), 1)
    assert place.session.payload("tea/Tea.md").startswith(b"# Tea\nGreen")


def test_what_changed_on_both_sides_has_two_heads(place: Workplace, vault: Path) -> None:
    bring(place, vault)
    place.revise("tea/Tea.md", "ours\n")
    assert bring(place, vault).unchanged == 5, "an edit here is no change there"
    (vault / "tea/Tea.md").write_text("theirs\n")
    done = bring(place, vault)
    assert [path for _, path in done.conflicts] == ["tea/Tea.md"]
    heads = place.session.manifest("tea/Tea.md").heads
    assert {place.session.payload(head) for head in heads} == {b"ours\n", b"theirs\n"}


def test_links_out_of_the_vault_and_odd_files_are_left(
    place: Workplace, vault: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("secret")
    (vault / "link.md").symlink_to(tmp_path / "secret.md")
    (vault / "latin.md").write_bytes(b"caf\xe9")
    os.mkfifo(vault / "pipe.md")  # opened, it would wait for ever
    done = bring(place, vault)
    assert {left.path: left.reason for left in done.unread} == {
        "link.md": "a link",
        "latin.md": "no UTF-8",
        "pipe.md": "no regular file",
    }
    assert place.session.search("secret").results == ()


def test_what_was_erased_here_does_not_come_back(
    place: Workplace, vault: Path, tmp_path: Path
) -> None:
    """The leak is still in the vault and in the transcript; the rest is taken in as ever."""
    pages = bring(place, vault).created
    chat(place, tmp_path / "tides.json", MESSAGES)
    (note,) = (row for row in place.store.catalog.pages() if row.path == "tea/Tea.md")
    event = place.store.catalog.pages("is_event")[0]
    for page in (note.page_id, event.page_id):
        place.session.delete(page, "it leaked")
    (vault / "tea/Tea.md").write_text("it leaked again\n")
    again = bring(place, vault)
    assert (again.created, again.revised, again.unchanged) == (0, 0, pages - 1)
    assert [(u.path, u.reason) for u in again.unread if "erased" in u.reason] == [
        ("tea/Tea.md", "erased here, and not taken in again")
    ]
    done = chat(place, tmp_path / "tides.json", MESSAGES)
    assert done.events == 0
    assert done.unchanged == len(MESSAGES) - 1
    assert "1 of its messages" in done.unread[0].reason
