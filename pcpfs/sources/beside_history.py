"""Recording what the branches of a source did beside the line that decides what holds.

Each commit that a branch has and the line has not is told once, however many branches have it:
what it did to which file, against its first parent. Which branches have it is said apart, so that a
branch which is renamed, removed or moved back costs nothing but that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pcpfs.git import CommitId, TreeChange, TreeEntry
from pcpfs.git.walk import CommitEdits, branch_tips, edits_of, first_parents
from pcpfs.model.branches import Branches, Line
from pcpfs.model.ids import PageId
from pcpfs.model.names import escaped
from pcpfs.model.roots import Walked
from pcpfs.ports import AdapterRegistry
from pcpfs.sources.beside_apply import BesideApplier
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.past_apply import FEW, Writing, batches
from pcpfs.sources.past_branches import Known, Piece, branches_of, without
from pcpfs.sources.past_plan import Step, Told
from pcpfs.sources.past_reading import PastReading
from pcpfs.sources.past_rules import PastTree
from pcpfs.store.branches import recorded_branches
from pcpfs.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class BesideReport:
    """What has changed of the branches, how many there are, and how many commits were walked."""

    change: Branches
    branches: int
    commits: int


@dataclass(slots=True)
class BesideHistory:
    """Brings the branches of one root up to date, within a transaction of its caller."""

    reading: PastReading
    registry: AdapterRegistry
    pool: ExtractionPool
    transaction: Transaction
    flushed: Callable[[], None]

    def bring(self, mark: Walked) -> BesideReport:
        """Walk what is new beside the line as it is recorded by `mark`; no branch is known any more
        where they are not followed."""
        catalog, repository = self.reading.store.catalog, self.reading.repository
        recorded = recorded_branches(catalog, self.reading.root.root_id)
        if not mark.all_branches:
            return BesideReport(recorded.to(Branches()), 0, 0)
        tips = branch_tips(repository)
        tips.pop(mark.branch or "", None)
        line = Line(mark.tip or "", mark.since)
        if recorded.line == line and recorded.tips == {escaped(r): t for r, t in tips.items()}:
            return BesideReport(Branches(), len(tips), 0)
        line_tip = CommitId(line.tip)
        parents = first_parents(repository, [line_tip, *tips.values()])
        shallow = repository.shallow_commits()
        found, pieces = branches_of(Known(tips, line_tip, parents, shallow, mark.since))
        found = replace(found, line=line)
        pieces = without(pieces, recorded.commits)
        steps = self._steps(pieces, found)
        if steps:
            self._write(steps)
        return BesideReport(recorded.to(found), len(tips), len(steps))

    def _steps(self, pieces: Sequence[Piece], found: Branches) -> list[Step]:
        """What each commit means to the root."""
        reading = self.reading
        commits = [commit for piece in pieces for commit in piece.commits]
        edits = {}
        if commits:
            edits = {e.commit: e for e in edits_of(reading.repository, commits, reading.paths)}
        steps: list[Step] = []
        there = _There(reading)
        for piece in pieces:
            tree = there.at(piece.base)
            for commit in piece.commits:
                said = edits.get(commit, CommitEdits(commit, "", ()))
                steps.append(reading.step(said, found.commits[commit].at, tree))
                there.commit = commit
            reading.tell("walking the branches of", len(steps), len(commits))
        return steps

    def _write(self, steps: Sequence[Step]) -> None:
        reading, root, transaction = self.reading, self.reading.root, self.transaction
        said, contents = reading.said(steps)
        pages = [page for path in sorted(said) if (page := self._page(path, said[path])).said]
        transaction.alike = transaction.alike or len(steps) > FEW
        applier = BesideApplier(self.registry, self.pool, transaction, reading.store.catalog, root)
        parts = list(batches(pages, contents))
        applier.write_parts(reading, parts, contents, "branches", self.flushed)

    def _page(self, path: str, said: Sequence[Told]) -> Writing:
        """What is to be written of a path: not what a walk that was cut short has written."""
        root, catalog = self.reading.root, self.reading.store.catalog
        page = PageId.of_source(root.namespace, root.root_id, path)
        known = {row.commit_id for row in catalog.besides("page_id = ?", (page,))}
        return Writing(path, page, tuple(t for t in said if t.step.commit not in known))


@dataclass(slots=True)
class _There:
    """A tree that goes from commit to commit."""

    reading: PastReading
    commit: CommitId | None = None
    _tree: PastTree | None = None

    def at(self, commit: CommitId | None) -> PastTree:
        """The tree at a commit; None: without files."""
        repository = self.reading.repository
        if self._tree is None or self.commit is None or commit is None:
            self._tree = self.reading.tree()
            self._tree.fill(repository.ls_tree(commit) if commit else ())
        elif commit != self.commit:
            self._tree.change(map(_edit, repository.diff_tree(self.commit, commit)))
        self.commit = commit
        return self._tree


def _edit(found: TreeChange) -> tuple[str, TreeEntry | None]:
    entry = TreeEntry(found.path, found.mode, found.after) if found.after else None
    return found.path, entry
