"""Any row of operations: the store agrees with a model that holds everything in a few dicts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pcpfs.errors import Conflict
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace

WORDS = ("apple", "pear", "plum", "quince")
SCOPES = ("project:a", "project:a:b", "thread:x")
PATHS = ("x.md", "X.md", "notes/y.md", "z")


@dataclass
class Page:
    """What a page has been told: each revision's word and parents, and its state."""

    scope: str
    path: str
    words: dict[str, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    state: str = "active"

    @property
    def heads(self) -> set[str]:
        older = {parent for parents in self.parents.values() for parent in parents}
        return set(self.words) - older


class Operations(RuleBasedStateMachine):
    """Writes, revises, branches and withdraws pages; reopens, rebuilds and flushes in between."""

    pages = Bundle("pages")
    template: Path
    folder: Path

    @initialize()
    def begin(self) -> None:
        path = self.folder / f"store{len(list(self.folder.iterdir()))}"
        shutil.copytree(self.template, path)
        self.place = Workplace.at(path)
        self.known: dict[str, Page] = {}

    def teardown(self) -> None:
        assert fsck(self.place.store).problems == ()
        assert self.place.git("status", "--porcelain") == ""
        self.place.close()

    @rule(
        target=pages,
        word=st.sampled_from(WORDS),
        scope=st.sampled_from(SCOPES),
        path=st.sampled_from(PATHS),
    )
    def write(self, word: str, scope: str, path: str) -> str:
        written = self.place.write(f"{word}\n", scope=scope, path=path)
        page = Page(scope, path, {written.revision_id: word}, {written.revision_id: ()})
        self.known[written.page_id] = page
        return written.page_id

    @rule(page=pages, word=st.sampled_from(WORDS))
    def revise(self, page: str, word: str) -> None:
        known = self.known[page]
        heads = set(self.place.session.manifest(page).heads)
        if known.state == "tombstoned":
            with pytest.raises(Conflict):
                self.place.revise(page, f"{word}\n", *heads)
            return
        written = self.place.revise(page, f"{word}\n", *heads)
        if written.created:
            known.words[written.revision_id] = word
            known.parents[written.revision_id] = tuple(known.heads - {written.revision_id})
        else:
            assert {known.words[head] for head in known.heads} == {word}

    @rule(page=pages, word=st.sampled_from(WORDS), data=st.data())
    def branch(self, page: str, word: str, data: st.DataObject) -> None:
        known = self.known[page]
        start = data.draw(st.sampled_from(sorted(known.words)))
        if known.state == "tombstoned" or (start in known.heads and known.words[start] == word):
            return
        written = self.place.revise(page, f"{word}\n", branch=start)
        known.words[written.revision_id] = word
        known.parents[written.revision_id] = (start,)

    @rule(page=pages, state=st.sampled_from(["archived", "tombstoned", "active"]))
    def move_on(self, page: str, state: str) -> None:
        session = self.place.session
        act = {"archived": session.archive, "tombstoned": session.tombstone}.get(
            state, session.restore
        )
        assert act(page, "because").created == (self.known[page].state != state)
        self.known[page].state = state

    @rule()
    def flush(self) -> None:
        self.place.session.flush_indexes()

    @rule()
    def reopen(self) -> None:
        self.place = self.place.reopened()

    @rule()
    def rebuild(self) -> None:
        self.place.close()
        shutil.rmtree(self.place.path / ".pcpfs")
        self.place = self.place.reopened()

    @precondition(lambda self: self.known)
    @invariant()
    def pages_say_what_they_were_told(self) -> None:
        for page, known in self.known.items():
            manifest = self.place.session.manifest(page)
            words = sorted(known.words[head] for head in manifest.heads)
            assert words == sorted({known.words[head] for head in known.heads})
            for revision, word in known.words.items():
                assert self.place.session.payload(revision) == f"{word}\n".encode()

    @precondition(lambda self: self.known)
    @invariant()
    def tree_holds_the_heads(self) -> None:
        for scope in SCOPES:
            expected = sorted(
                f"{word}\n".encode()
                for known in self.known.values()
                if known.scope == scope and known.state != "tombstoned"
                for word in {known.words[head] for head in known.heads}
            )
            assert sorted(self.place.tree(scope).values()) == expected

    @precondition(lambda self: self.known)
    @invariant()
    def search_finds_the_heads_of_active_pages(self) -> None:
        for word in WORDS:
            expected = {
                page
                for page, known in self.known.items()
                if known.state == "active" and word in {known.words[head] for head in known.heads}
            }
            answer = self.place.session.search(word, limit=100)
            assert {hit.page_id for hit in answer.results} == expected


def test_any_row_of_operations_leaves_store_tree_and_search_as_told(
    empty_store: Path, tmp_path: Path
) -> None:
    Operations.template, Operations.folder = empty_store, tmp_path
    run_state_machine_as_test(
        Operations,
        settings=settings(
            max_examples=6,
            stateful_step_count=10,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
