"""Any row of operations: the store agrees with the store in memory, through reopening, crashes,
rebuilding, and clones that go their own way and are united again."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pcpfs_conformance.broken_disks import PowerCut, PowerWentOut
from pcpfs_conformance.memory_store import MemoryBackend
from pcpfs_conformance.stores import OWNER

from pcpfs.disk import Disk, SystemCalls
from pcpfs.errors import PcpfsError
from pcpfs.model.answers import Pins, Written
from pcpfs.model.instants import Instant
from pcpfs.model.pages import EPISTEMIC
from pcpfs.model.requests import Draft, EventDraft, Filters
from pcpfs.store.exchange import import_store
from pcpfs.store.fsck import fsck
from tests.store.workplace import Workplace

EXAMPLES, STEPS = 40, 200
PHASES = (Phase.generate, Phase.shrink)
WORDS = ("apple", "pear", "plum", "quince", "medlar")
SCOPES = ("project:a", "project:a:b", "thread:x")
TYPES = ("depends_on", "contradicts", "our.own:type")
INSTANTS = tuple(map(Instant.read, ("2001-01-01", "2002-01-01", "2003-01-01")))

places = st.integers(0, 10_000)
words = st.sampled_from(WORDS)
scopes = st.sampled_from(SCOPES)
drafts = st.builds(
    lambda word, title, tag, start, name: Draft(
        f"{word}\n".encode(),
        "text/plain",
        title=title,
        tags=(tag,) if tag else None,
        valid_from=start,
        epistemic={name: "told"} if name else None,
    ),
    words,
    st.sampled_from([None, "one", "two"]),
    st.sampled_from([None, "red"]),
    st.sampled_from([None, *INSTANTS[:2]]),
    st.sampled_from([None, *EPISTEMIC]),
)


class Operations(RuleBasedStateMachine):
    """Does the same to both, and asks both the same. Pages and revisions are known by number.

    What changes something costs a commit, and what opens the store anew much more: they come less
    often than questions.
    """

    template: Path
    folder: Path
    numbers = itertools.count()
    steps = 0

    @initialize()
    def begin(self) -> None:
        path = self.folder / f"store{next(self.numbers)}"
        shutil.copytree(self.template, path)
        self.place = Workplace.at(path)
        self.model = MemoryBackend().open(OWNER)
        self.pages: list[tuple[str, str]] = []
        self.revisions: list[tuple[str, str]] = []

    def teardown(self) -> None:
        if not hasattr(self, "place"):
            return
        self.compare_everything()
        shutil.rmtree(self.place.path / ".pcpfs")
        self.place = self.place.reopened()
        self.compare_everything()
        assert fsck(self.place.store).problems == ()
        assert self.place.git("status", "--porcelain") == ""
        self.place.close()
        shutil.rmtree(self.place.path)

    @invariant()
    def count(self) -> None:
        Operations.steps += 1
        self.now = getattr(self, "now", 0) + 1

    # what changes something

    @precondition(lambda self: self.now % 2)
    @rule(scope=scopes, draft=drafts, key=st.sampled_from([None, None, "k1", "k2"]))
    def write(self, scope: str, draft: Draft, key: str | None) -> None:
        number = next(self.numbers)
        self.both(
            lambda: self.place.session.write(scope, draft, key=key, path=f"{number}.txt"),
            lambda: self.model.write(scope, draft, key=key),
        )

    @precondition(lambda self: self.pages and self.now % 2)
    @rule(page=places, draft=drafts)
    def revise(self, page: int, draft: Draft) -> None:
        ours, theirs = self.page(page)
        heads = self.place.session.manifest(ours).heads
        self.both(
            lambda: self.place.session.revise(ours, draft, expect=heads),
            lambda: self.model.revise(theirs, draft, expect=[self.other(head) for head in heads]),
        )

    @precondition(lambda self: self.revisions and self.now % 2)
    @rule(revision=places, draft=drafts, expect=st.booleans())
    def revise_anything(self, revision: int, draft: Draft, expect: bool) -> None:
        """Beside a revision, or on it whether or not it is a head."""
        ours, theirs = self.revisions[revision % len(self.revisions)]
        page = self.place.session.manifest(ours).page_id
        other = self.other_page(page)
        how: Any = (lambda r: {"expect": [r]}) if expect else (lambda r: {"branch": r})
        self.both(
            lambda: self.place.session.revise(page, draft, **how(ours)),
            lambda: self.model.revise(other, draft, **how(theirs)),
        )

    @precondition(lambda self: self.pages and self.now % 2)
    @rule(page=places, state=st.sampled_from(["archive", "tombstone", "restore", "restore"]))
    def put_away(self, page: int, state: str) -> None:
        ours, theirs = self.page(page)
        self.both(
            lambda: getattr(self.place.session, state)(ours, "because"),
            lambda: getattr(self.model, state)(theirs, "because"),
        )

    @precondition(lambda self: self.pages and self.now % 2)
    @rule(page=places, at=st.sampled_from(INSTANTS))
    def close_at(self, page: int, at: Instant) -> None:
        ours, theirs = self.page(page)
        self.both(
            lambda: self.place.session.close_at(ours, at, "over"),
            lambda: self.model.close_at(theirs, at, "over"),
        )

    @precondition(lambda self: self.pages and self.now % 2)
    @rule(start=places, end=places, kind=st.sampled_from(TYPES))
    def link(self, start: int, end: int, kind: str) -> None:
        (ours, theirs), (our_end, their_end) = self.page(start), self.page(end)
        if self.place.session.manifest(ours).lifecycle_status == "tombstoned":
            with pytest.raises(PcpfsError):
                self.place.session.link(ours, kind, our_end)
            return
        self.place.session.link(ours, kind, our_end)
        self.model.link(theirs, kind, their_end)

    @precondition(lambda self: self.now % 2)
    @rule(scope=scopes, keys=st.lists(st.sampled_from(["e1", "e2", "e3", None]), max_size=3))
    def ingest(self, scope: str, keys: Sequence[str | None]) -> None:
        given = [EventDraft(f"plum {key}".encode(), "text/plain", key=key) for key in keys]
        ours = self.place.session.ingest(scope, given)
        for one, other in zip(ours, self.model.ingest(scope, given), strict=True):
            self.note(one, other)

    @precondition(lambda self: self.pages and self.now % 2)
    @rule(page=places, task=st.sampled_from(["t1", "t2"]))
    def suppress(self, page: int, task: str) -> None:
        ours, theirs = self.page(page)
        self.place.session.suppress(task, [ours], "seen")
        self.model.suppress(task, [theirs], "seen")

    # what changes nothing

    @precondition(lambda self: self.now % 9 == 0)
    @rule(how=st.sampled_from(["reopen", "flush", "rebuild", "reindex"]))
    def go_on(self, how: str) -> None:
        match how:
            case "flush":
                self.place.session.flush_indexes()
            case "reindex":
                self.place.store.reindex()
            case "rebuild":
                self.place.close()
                shutil.rmtree(self.place.path / ".pcpfs")
                self.place = Workplace.at(self.place.path, self.place.clock)
            case _:
                self.place = self.place.reopened()

    @precondition(lambda self: self.now % 9 == 0)
    @rule(at=st.integers(1, 40), scope=scopes, draft=drafts)
    def crash_and_try_again(self, at: int, scope: str, draft: Draft) -> None:
        """Whatever a power cut left: a retry with the same key makes one page."""
        key = f"crash {next(self.numbers)}"
        power = PowerCut(SystemCalls(), 1_000_000)
        self.place = self.place.reopened(disk=Disk(power))
        power.arm(at)
        with suppress(PowerWentOut):
            self.place.session.write(scope, draft, key=key, path=f"{key}.txt")
        power.arm(1_000_000)
        self.place = self.place.reopened()
        again = self.place.session.write(scope, draft, key=key, path=f"{key}.txt")
        self.note(again, self.model.write(scope, draft, key=key))

    @precondition(lambda self: self.pages and self.now % 9 == 0)
    @rule(page=places, here=drafts, there=drafts)
    def unite_with_a_clone(self, page: int, here: Draft, there: Draft) -> None:
        """A copy and this store both go on from one head, then this takes over the copy."""
        ours, theirs = self.page(page)
        shown = self.place.session.manifest(ours)
        if shown.lifecycle_status != "active" or shown.kind == "event" or len(shown.heads) > 1:
            return
        self.place.close()
        copy = self.place.path.with_name(self.place.path.name + "-copy")
        shutil.copytree(self.place.path, copy)
        clone = Workplace.at(copy, self.place.clock)
        self.place = Workplace.at(self.place.path, self.place.clock)
        other = self.other(shown.revision_id)
        first = clone.session.revise(ours, there, expect=shown.heads)
        clone.close()
        if first.created:
            self.note(first, self.model.revise(theirs, there, branch=other))
        second = self.place.session.revise(ours, here, expect=shown.heads)
        if second.created:
            self.note(second, self.model.revise(theirs, here, branch=other))
        import_store(self.place.session, copy)
        shutil.rmtree(copy)

    # what is asked

    @precondition(lambda self: self.pages)
    @rule(page=places)
    def read_a_page(self, page: int) -> None:
        self.compare_page(*self.page(page))

    read_page_2 = read_page_3 = read_page_4 = read_page_5 = read_a_page

    @precondition(lambda self: self.revisions)
    @rule(revision=places)
    def read_a_revision(self, revision: int) -> None:
        ours, theirs = self.revisions[revision % len(self.revisions)]
        assert self.place.session.payload(ours) == self.model.payload(theirs)
        assert self.place.session.facets(ours) == self.model.facets(theirs)

    read_revision_2 = read_revision_3 = read_revision_4 = read_revision_5 = read_a_revision

    @precondition(lambda self: self.pages)
    @rule(page=places, at=st.sampled_from(INSTANTS))
    def read_as_of(self, page: int, at: Instant) -> None:
        ours, theirs = self.page(page)
        answers: list[object] = []
        for session, name in ((self.place.session, ours), (self.model, theirs)):
            try:
                answers.append(session.payload(name, Pins(as_of=at)))
            except PcpfsError as error:
                answers.append(error.code)
        assert answers[0] == answers[1]

    read_as_of_2 = read_as_of_3 = read_as_of_4 = read_as_of

    @precondition(lambda self: self.pages)
    @rule(page=places, direction=st.sampled_from(["in", "out", "both"]))
    def follow(self, page: int, direction: str) -> None:
        ours, theirs = self.page(page)
        mine = {
            (v.relation.type, self.other(v.relation.from_revision), v.direction, v.status)
            for v in self.place.session.relations(ours, direction=direction)
        }
        assert mine == {
            (v.relation.type, v.relation.from_revision, v.direction, v.status)
            for v in self.model.relations(theirs, direction=direction)
            if direction != "both"
            or v.relation.to_page != theirs
            or v.from_page_id != theirs
            or v.direction == "out"
        }

    follow_2 = follow_3 = follow_4 = follow

    @precondition(lambda self: self.pages)
    @rule(page=places)
    def look_back(self, page: int) -> None:
        ours, theirs = self.page(page)
        mine = {self.other(entry.revision_id) for entry in self.place.session.log(ours)}
        assert mine == {entry.revision_id for entry in self.model.log(theirs)}

    look_back_2 = look_back_3 = look_back_4 = look_back

    @rule(
        word=words,
        mode=st.sampled_from(["text", "temporal", "exact"]),
        where=st.sampled_from([(), SCOPES[:1], SCOPES[1:]]),
        status=st.sampled_from([(), ("archived",), ("active", "tombstoned")]),
        task=st.sampled_from([None, "t1"]),
        limit=st.sampled_from([1, 3, 200]),
    )
    def search(  # noqa: PLR0917 - hypothesis gives them by name
        self,
        word: str,
        mode: str,
        where: tuple[str, ...],
        status: tuple[str, ...],
        task: str | None,
        limit: int,
    ) -> None:
        known = {view.scope for view in self.model.scopes()}
        asked: Any = {
            "mode": mode,
            "scopes": [scope for scope in where if scope in known],
            "filters": Filters(lifecycle=status),
            "task": task,
        }
        cursor, found = None, []
        while True:
            answer = self.place.session.search(word, limit=limit, cursor=cursor, **asked)
            found += [self.other_page(hit.page_id) for hit in answer.results]
            cursor = answer.cursor
            if cursor is None:
                break
        expected = [h.page_id for h in self.model.search(word, limit=200, **asked).results]
        assert sorted(found) == sorted(expected)

    search_again = search_once_more = search

    # inside

    def both(self, ours: Any, theirs: Any) -> None:
        """The same happens, or the same kind of error."""
        answers: list[Any] = []
        for act in (ours, theirs):
            try:
                answers.append(act())
            except PcpfsError as error:
                answers.append(error.code)
        if isinstance(answers[0], str) or isinstance(answers[1], str):
            assert answers[0] == answers[1]
            return
        assert answers[0].created == answers[1].created
        self.note(*answers)

    def note(self, ours: Written, theirs: Written) -> None:
        """These are the same page and revision."""
        pages, revisions = dict(self.pages), dict(self.revisions)
        page, revision = (ours.page_id, theirs.page_id), (ours.revision_id, theirs.revision_id)
        if pages.setdefault(*page) != page[1] or revisions.setdefault(*revision) != revision[1]:
            raise AssertionError(f"{ours} and {theirs} are not the same")
        self.pages, self.revisions = list(pages.items()), list(revisions.items())

    def page(self, number: int) -> tuple[str, str]:
        return self.pages[number % len(self.pages)]

    def other(self, revision: str) -> str:
        return dict(self.revisions)[revision]

    def other_page(self, page: str) -> str:
        return dict(self.pages)[page]

    def compare_everything(self) -> None:
        for ours, theirs in self.pages:
            self.compare_page(ours, theirs)
        for scope in SCOPES:
            rows = [page for page in self.model.kept.pages.values() if page.scope == scope]
            expected = [
                page.payloads[head]
                for page in rows
                if not page.is_event and page.lifecycle != "tombstoned"
                for head in page.heads
            ]
            assert sorted(self.place.tree(scope).values()) == sorted(expected)

    def compare_page(self, ours: str, theirs: str) -> None:
        mine, model = self.place.session.manifest(ours), self.model.manifest(theirs)
        assert {self.other(head) for head in mine.heads} == set(model.heads)
        for name in ("scope", "kind", "lifecycle_status", "facets", "epistemic", "source_refs"):
            if len(mine.heads) == 1 or name in ("scope", "kind", "lifecycle_status"):
                assert getattr(mine, name) == getattr(model, name), name
        if len(mine.heads) == 1:
            assert mine.payload == model.payload
            past = Instant.read("2030-01-01")
            for one, other in (
                (mine.valid_from, model.valid_from),
                (mine.valid_to, model.valid_to),
            ):
                if one is None or one < past or other is None or other < past:
                    assert one == other


def test_any_row_of_operations_agrees_with_the_model(empty_store: Path, tmp_path: Path) -> None:
    Operations.template, Operations.folder = empty_store, tmp_path
    run_state_machine_as_test(
        Operations,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            derandomize=True,
            phases=PHASES,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Operations.steps >= 5_000
