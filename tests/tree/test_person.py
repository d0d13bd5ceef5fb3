"""A person at work, at random: whatever they do, nothing that they wrote is lost, an edit goes on
from what its editor had, and in the end store and files agree."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pcpfs.model.ids import Digest
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.store import Store
from pcpfs.store.trees import tree_edits
from pcpfs.store.trees.take_edits import TreeReport
from pcpfs.store.trees.tree import all_wanted
from pcpfs.store.upkeeping.fsck import fsck
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START, Workplace, draft
from tests.tree.hands import TREE, Hands

NAMES = ("a.md", "b.md", "notes/c.md", "notes/A.md")
PICK = st.integers(0, 1000)


@cache
def template() -> Path:
    """An empty store, closed."""
    path = Path(tempfile.mkdtemp(prefix="pcpfs-person-")) / "store"
    Store.init(path, owner=ANNA, clock=SteppingClock(START), entropy=CountingEntropy()).close()
    return path


class Person(RuleBasedStateMachine):
    """`buffers` are, by file, the texts that it held since the person last saved it: an editor may
    still show any of them. `expected` are texts saved since, with what their editor had before."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="pcpfs-person-"))
        shutil.copytree(template(), self.folder / "store")
        self.place = Workplace.at(self.folder / "store")
        self.hands = Hands(self.place)
        self.numbers = itertools.count()
        self.buffers: dict[str, list[bytes]] = {}
        self.expected: dict[str, tuple[bytes, bytes]] = {}
        self.stashed = False

    def teardown(self) -> None:
        self.sync()
        assert fsck(self.place.store).ok
        self.place.close()
        shutil.rmtree(self.folder)

    def line(self) -> bytes:
        return b"line %d\n" % next(self.numbers)

    def files(self) -> dict[str, bytes]:
        return self.place.tree()

    def chosen(self, pick: int) -> str:
        names = sorted(self.files())
        return names[pick % len(names)]

    def saved(self, name: str, before: bytes, text: bytes) -> None:
        self.hands.save(name, text)
        if before in self.buffers.get(name, ()):
            self.expected[name] = (before, text)
        else:
            self.forget(name)

    def forget(self, name: str) -> None:
        """What editors have of this file is anybody's guess."""
        self.buffers.pop(name, None)
        self.expected.pop(name, None)

    @initialize()
    def begin(self) -> None:
        for name in NAMES[:3]:
            self.hands.save(name, b"".join(self.line() for _ in range(4)))
        self.sync()

    @rule(name=st.sampled_from(NAMES))
    def create(self, name: str) -> None:
        if name not in self.files():
            self.hands.save(name, b"".join(self.line() for _ in range(4)))
            self.forget(name)

    @precondition(lambda self: self.files())
    @rule(pick=PICK, meanwhile=st.booleans(), replaces=st.booleans())
    def edit(self, pick: int, meanwhile: bool, replaces: bool) -> None:
        """Open a file, and save it; an agent may revise its page in between."""
        name = self.chosen(pick)
        base = self.place.store.local.base(f"{TREE}{name}")
        if name not in self.expected:
            text = self.files()[name]
            if meanwhile and base is not None:
                self.revise(base.page_id, replaces=replaces)
            self.saved(name, text, text + self.line())

    @precondition(lambda self: self.behind())
    @rule(pick=PICK, age=PICK)
    def save_from_an_old_buffer(self, pick: int, age: int) -> None:
        name = self.behind()[pick % len(self.behind())]
        text = self.buffers[name][age % len(self.buffers[name])]
        self.saved(name, text, text + self.line())

    def behind(self) -> list[str]:
        """Files that changed while somebody may have had them open."""
        known = self.buffers.items()
        return [name for name, texts in known if len(texts) > 1 and name not in self.expected]

    @precondition(lambda self: self.files())
    @rule(pick=PICK, name=st.sampled_from(NAMES))
    def move(self, pick: int, name: str) -> None:
        old = self.chosen(pick)
        self.hands.move(old, name)
        self.forget(old)
        self.forget(name)

    @precondition(lambda self: self.files())
    @rule(pick=PICK)
    def remove(self, pick: int) -> None:
        name = self.chosen(pick)
        self.hands.remove(name)
        self.forget(name)

    @rule(pick=PICK, replaces=st.booleans())
    def an_agent_revises(self, pick: int, replaces: bool) -> None:
        pages = self.place.store.catalog.pages("lifecycle = 'active'")
        if pages:
            self.revise(pages[pick % len(pages)].page_id, replaces=replaces)

    def revise(self, page: str, *, replaces: bool) -> None:
        """Add a line to what speaks for a page, perhaps in place of the first one."""
        row = self.place.store.catalog.page(page)
        if row is not None and row.lifecycle == "active":
            lines = self.place.session.payload(page).splitlines(keepends=True)
            text = b"".join(lines[1:] if replaces else lines) + self.line()
            self.place.session.revise(page, draft(text), expect=[row.revision_id])
            self.note_buffers()

    def note_buffers(self) -> None:
        """Whoever looks at a file now has this text."""
        for name, text in self.files().items():
            known = self.buffers.get(name)
            if known and name not in self.expected and text != known[-1]:
                known.append(text)

    @rule()
    def commit(self) -> None:
        self.hands.git("commit", "-qam", "by hand")

    @rule()
    def stash_or_pop(self) -> None:
        if self.stashed:
            self.stashed = not self.hands.git("stash", "pop", "-q")
        else:
            self.hands.git("stash", "-q")
            self.stashed = self.place.git("stash", "list") != ""
        self.expected = {}

    @precondition(lambda self: self.files())
    @rule(pick=PICK, back=st.integers(1, 3))
    def check_out_an_older_file(self, pick: int, back: int) -> None:
        name = self.chosen(pick)
        self.hands.git("checkout", "-q", f"HEAD~{back}", "--", f"{TREE}{name}")
        self.forget(name)

    @rule(notes=st.booleans())
    def lose(self, notes: bool) -> None:
        """The catalog, and perhaps what we know of the files."""
        self.place.close()
        shutil.rmtree(self.place.path / ".pcpfs")
        if notes:
            shutil.rmtree(self.place.path / ".git/pcpfs")
            self.buffers = {name: texts[-1:] for name, texts in self.buffers.items()}
            self.expected = {
                name: (before, text)
                for name, (before, text) in self.expected.items()
                if before in self.buffers[name]
            }
        self.place = self.place.reopened()
        self.hands = Hands(self.place)

    @rule()
    def sync(self) -> None:
        before = self.files()
        first = self.hands.taken(accept_removals=True).report
        assert first.left == ()
        assert self.hands.taken().report == TreeReport()
        known = {
            digest for (digest,) in self.place.store.catalog.query("SELECT digest FROM revision")
        }
        lost = [name for name, text in before.items() if Digest.of(text) not in known]
        assert lost == []
        self.check_agreement()
        self.check_parents()
        self.expected = {}
        self.buffers = {name: [text] for name, text in self.files().items()}

    def check_agreement(self) -> None:
        wanted = all_wanted(self.place.store.catalog)
        names = {path.removeprefix(TREE): goal.digest for path, goal in wanted.items()}
        assert {name: Digest.of(text) for name, text in self.files().items()} == names
        unmerged = self.place.git("ls-files", "-u")
        assert unmerged or self.place.git("status", "--porcelain") == ""

    def check_parents(self) -> None:
        for name, (before, text) in self.expected.items():
            parents = self.parents_of(text)
            assert parents == {Digest.of(before)}, name

    def parents_of(self, text: bytes) -> set[Digest]:
        """The texts that a text goes on from."""
        query = self.place.store.catalog.query
        rows = query(
            "SELECT parents FROM span JOIN revision USING (revision_id) WHERE digest = ?",
            (Digest.of(text),),
        )
        found = [parent for (parents,) in rows for parent in decode_list(parents)]
        one = "SELECT digest FROM revision WHERE revision_id = ?"
        return {Digest(query(one, (parent,))[0][0]) for parent in found}


SETTINGS = settings(
    max_examples=10,
    stateful_step_count=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestPerson: Callable[..., None] = Person.TestCase
TestPerson.settings = SETTINGS  # type: ignore[attr-defined]


def test_somebody_who_forgot_old_buffers_would_be_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A mutant: every edit goes on from what was laid last."""
    monkeypatch.setattr(tree_edits._Planner, "in_buffer", lambda _, __, base, ___: base.revision)
    once = settings(SETTINGS, phases=[Phase.generate], report_multiple_bugs=False)
    with pytest.raises(AssertionError, match="Extra items in the left set"):
        run_state_machine_as_test(Person, settings=once)  # type: ignore[no-untyped-call]
