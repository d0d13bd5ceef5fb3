"""A rebase (`git pull --rebase`) that stopped only on what can be made anew is brought to its end.

What waits is replayed as files of the truth, commit by commit, so history stays a line; `tree/` is
laid once, with the last. What only a person can merge, or asked for (`edit`, `exec`, …), is left
to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.git import (
    CommitId,
    Content,
    Rebase,
    Stored,
    end_rebase,
    forget_rebase,
    replay,
    waiting_rebase,
)
from pcpfs.store.folding.kinds import Kind, kind_of
from pcpfs.store.merges.merging import Settling, Waits
from pcpfs.store.merges.restoring import Restoring
from pcpfs.store.merges.union import Contents, erased_pages, may_go

_HINT = "edit, `git add`, then `git rebase --continue` (or `git rebase --abort`)"


@dataclass(slots=True)
class Rebasing(Settling):
    """Ends one rebase."""

    def end(self) -> None:
        """Replay what waits; Waits for what a person has to do."""
        git = self.shop.git
        rebase = waiting_rebase(git)
        if rebase is not None and rebase.has_ended:
            self._agree()
            return
        onto = git.head()
        unmerged = git.unmerged()
        clashes = sorted(path for path in unmerged if kind_of(path) is Kind.OTHER)
        if clashes:
            raise Waits(f"a rebase waits for you at {', '.join(clashes)}: {_HINT}", paths=clashes)
        if rebase is None or not rebase.is_plain or onto is None:
            raise Waits(f"a rebase waits for you: {_HINT}")
        steps = [self._step(onto, commit) for commit in rebase.waiting]
        truth = Restoring(self.shop).put_in_place(
            {path: to for step in steps for path, to in step.items() if kind_of(path) is Kind.TRUTH}
        )
        tree = self._laid(onto, rebase, unmerged, truth)
        end_rebase(git, rebase, self._replayed(onto, rebase, steps, truth, tree))
        self._agree()

    def _agree(self) -> None:
        """Let the index say what HEAD holds, but for what a person staged; then git forgets."""
        git = self.shop.git
        touched = {change.path for change in git.staged()} | git.unmerged()
        git.refresh_index(path for path in touched if kind_of(path) is not Kind.OTHER)
        forget_rebase(git)

    def _step(self, onto: CommitId, commit: CommitId) -> dict[str, Stored | None]:
        """What one commit adds: its files of the truth, and others that only it changed."""
        git = self.shop.git
        parent = git.ref(f"{commit}^")
        changes = git.diff_tree(parent, commit)
        held = git.blobs_at(onto, [change.path for change in changes])
        erased = erased_pages(changes)
        found: dict[str, Stored | None] = {}
        for change, blob in zip(changes, held, strict=True):
            kind = kind_of(change.path)
            if kind is Kind.TREE or blob == change.after:
                continue
            if kind is Kind.TRUTH and change.after is not None and blob is None:
                found[change.path] = change.stored
            elif kind is Kind.TRUTH and change.after is None and may_go(change.path, erased):
                found[change.path] = None
            elif kind is Kind.OTHER and blob != change.before:
                raise Waits(f"a rebase waits for you at {change.path}: {_HINT}")
            elif kind is not Kind.TRUTH and blob == change.before:
                found[change.path] = change.stored
        return found

    def _laid(
        self, onto: CommitId, rebase: Rebase, unmerged: set[str], truth: dict[str, Content]
    ) -> dict[str, Content]:
        """Lay `tree/` over whatever git left there when it stopped."""
        git = self.shop.git
        changed = (*git.diff_tree(rebase.before, onto), *git.staged())
        paths = {change.path for change in changed} | unmerged
        candidates = {path for path in paths if kind_of(path) is Kind.TREE}
        judge = self._judge_of_merge(onto, [rebase.before], unmerged)
        touched = {*truth, *(change.path for change in changed)}
        laid, edits = self._lay(touched, touched, candidates, judge)
        found = self._tree(laid, candidates, edits)
        self._keep_texts(onto, [rebase.before], judge.persons, found)
        return found

    def _replayed(
        self,
        onto: CommitId,
        rebase: Rebase,
        steps: Sequence[Contents],
        truth: dict[str, Content],
        tree: dict[str, Content],
    ) -> CommitId:
        """The new line of commits; the last one holds `tree/`."""
        tip = onto
        for number, (commit, step) in enumerate(zip(rebase.waiting, steps, strict=True)):
            content: dict[str, Content] = {path: truth.get(path, to) for path, to in step.items()}
            if number == len(steps) - 1:
                content |= tree
            if content:
                tip = replay(self.shop.git, tip, commit, content.items(), self.at)
        return tip
