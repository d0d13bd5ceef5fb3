"""Random clones, operations and merges converge: nothing is lost, the same state everywhere."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from pcpfs.model.ids import PageId
from pcpfs.store.store import Store
from tests.merge.clones import WAYS, Clone, Family, agree, check_all_alike, push
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START, draft

MOST_CLONES = 3
PATHS = ("x.md", "notes/x.md", "notes/y.md", "X.md")
WORDS = ("one", "two", "line", "text")

which = st.integers(0, 100)
ways = st.sampled_from(sorted(WAYS))


class Merging(RuleBasedStateMachine):
    """Clones around a hub; at the end all take over all, in random ways."""

    @initialize()
    def found(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="pcpfs-merge-")
        template = Path(self.folder.name, "template")
        Store.init(
            template, owner=ANNA, clock=SteppingClock(START), entropy=CountingEntropy()
        ).close()
        self.family = Family(Path(self.folder.name), template)
        self.written: set[bytes] = set()
        self.texts = 0

    @rule(at=which, path=st.sampled_from(PATHS))
    def write(self, at: int, path: str) -> None:
        self.clone(at).write(self.text(), path=path)

    @rule(at=which, of=which, branch=st.booleans())
    def revise(self, at: int, of: int, branch: bool) -> None:
        clone = self.clone(at)
        page = self.page(clone, of)
        if page is None:
            return
        heads = clone.session.manifest(page).heads
        expect, beside = ((), heads[0]) if branch else (heads, None)
        clone.revise(page, self.text(), *expect, branch=beside)

    @rule(at=which, of=which, path=st.sampled_from(PATHS))
    def rename(self, at: int, of: int, path: str) -> None:
        clone = self.clone(at)
        page = self.page(clone, of)
        if page is not None:
            clone.rename(page, path)

    @rule(at=which, of=which, operation=st.sampled_from(("tombstone", "archive", "restore")))
    def put_away(self, at: int, of: int, operation: str) -> None:
        clone = self.clone(at)
        page = self.page(clone, of)
        if page is not None:
            getattr(clone.session, operation)(page, "why")

    @rule(at=which, of=which, to=which)
    def link(self, at: int, of: int, to: int) -> None:
        clone = self.clone(at)
        page, other = self.page(clone, of), self.page(clone, to)
        if page is not None and other is not None:
            clone.session.link(page, "supports", other)

    @rule(at=which, of=which)
    def resolve(self, at: int, of: int) -> None:
        clone = self.clone(at)
        found = clone.session.conflicts()
        if found and found[of % len(found)].kind == "heads":
            clone.session.resolve_conflict(found[of % len(found)].page_id, draft(self.text()))

    @rule()
    def clone_the_hub(self) -> None:
        if len(self.family.clones) < MOST_CLONES:
            self.family.clone()

    @rule(at=which, way=ways)
    def merge(self, at: int, way: str) -> None:
        clone = self.clone(at)
        WAYS[way](clone)
        push(clone)

    @rule(at=which)
    def forget(self, at: int) -> None:
        """`rm -rf .pcpfs`: everything is built anew."""
        self.clone(at).store.reindex()

    def teardown(self) -> None:
        if not hasattr(self, "family"):
            return
        try:
            clones = self.family.clones
            if len(clones) == 1:
                push(clones[0])
                self.family.clone()
            agree(clones, WAYS[sorted(WAYS)[self.texts % len(WAYS)]])
            check_all_alike(clones)
            held = {
                file.read_bytes()
                for file in (clones[0].path / "scopes").rglob("payloads/*/*/*")
                if file.is_file()
            }
            assert held >= self.written
        finally:
            self.family.close()
            self.folder.cleanup()

    def clone(self, at: int) -> Clone:
        return self.family.clones[at % len(self.family.clones)]

    def page(self, clone: Clone, of: int) -> PageId | None:
        """A page that can be changed."""
        clone.session.scopes()
        rows = clone.store.catalog.pages("lifecycle <> 'tombstoned'")
        return PageId(rows[of % len(rows)].page_id) if rows else None

    def text(self) -> bytes:
        """A text that nobody has written, alike to all others, so that git sees moved files."""
        self.texts += 1
        lines = [f"a line of text {n} that every page holds\n" for n in range(12)]
        lines[self.texts % 12] = f"one line, number {self.texts}\n"
        text = "".join(lines).encode()
        self.written.add(text)
        return text


TestMerging = Merging.TestCase
TestMerging.settings = settings(
    max_examples=10,
    stateful_step_count=14,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
