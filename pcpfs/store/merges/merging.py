"""After git has moved: merges are concluded, their mistakes put right, and `tree/` laid anew.

Everything here can be cut short at any moment and done again: a merge waits until its commit is
there, and the commit at which `tree/` was last settled moves on at the very end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from pcpfs.errors import Unavailable
from pcpfs.git import CommitId, Content, LogEntry, Stored
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, with_mark
from pcpfs.store import layout
from pcpfs.store.catalogs.refresh import catch_up, refold_paths
from pcpfs.store.config import generated_files
from pcpfs.store.folding.kinds import Kind, kind_of
from pcpfs.store.local import Base
from pcpfs.store.merges.fresh_clone import checked_out, every_page
from pcpfs.store.merges.restoring import MOST_MERGES, Restoring
from pcpfs.store.merges.union import Union, union
from pcpfs.store.trees.judging import (
    OPERATION,
    Judge,
    Sides,
    claims_at,
    persons_paths,
    text_at,
    wanted_of,
)
from pcpfs.store.trees.tree import Laid
from pcpfs.store.workshop import Workshop, refold


class Waits(Unavailable):
    """A merge that a person has to conclude."""

    code = "merge_waits"


PULL = "pcpfs pull"
"""How the message of a merge begins that we ourselves began."""


@dataclass(slots=True)
class Settling:
    """Settles one store once."""

    shop: Workshop
    at: Instant
    edits: list[str] = field(default_factory=list)

    def conclude(self) -> None:
        """Make the merge that waits."""
        git, ours = self.shop.git, self.shop.git.head()
        theirs = [c for c in git.merge_heads() if ours and not git.is_ancestor(c, ours)]
        if ours is None or not theirs:
            git.forget_merge()
            return
        is_pull = git.merge_message().startswith(PULL)
        both = union(git, ours, theirs)
        unmerged = git.unmerged()
        self._refuse(both, unmerged, is_pull)
        others = self._others(both, unmerged, is_pull)
        truth = Restoring(self.shop).put_in_place(both.truth)
        candidates = both.tree | {path for path in unmerged if kind_of(path) is Kind.TREE}
        judge = self._judge_of_merge(ours, theirs, unmerged)
        laid, edits = self._lay(truth, truth, candidates, judge)
        changes: dict[str, Content] = {**truth, **others, **self._tree(laid, candidates, edits)}
        self._keep_texts(ours, theirs, judge.persons, changes)
        if len(theirs) == 1 and git.is_ancestor(ours, theirs[0]):
            self._fast_forward(ours, theirs[0])
        else:
            self._commit_merge(changes, unmerged | {c.path for c in git.staged()}, theirs)

    def follow(self, head: CommitId) -> None:
        """Bring `tree/` up to date with what others than us made of HEAD."""
        git, local = self.shop.git, self.shop.tree.local
        before = self._known(local.settled())
        restoring = Restoring(self.shop)
        restored = restoring.put_in_place(restoring.mistakes(before, head))
        since = [before] if before else git.with_trailer(OPERATION, head, MOST_MERGES)
        judge = self._judge_of_history(since, head, is_new=before is None)
        if before is None:
            touched, (candidates, pages) = set(restored), checked_out(self.shop, head)
        else:
            touched = {c.path for c in git.diff_tree(before, head)} | set(restored)
            candidates, pages = {path for path in touched if kind_of(path) is Kind.TREE}, set()
        laid, edits = self._lay(touched, restored, candidates, judge, pages)
        wanted = {**restored, **self._tree(laid, candidates, edits)}
        self._keep_dropped(since, head, judge.persons, wanted)
        self._keep_rebased(before, head, wanted)
        changes = git.not_in_head(wanted)
        if changes:
            message = f"tree: laid anew after git moved\n\n{OPERATION}: lay\n"
            head = git.commit(changes.items(), message, self.at)
            catch_up(self.shop)
        local.set_settled(head)

    def _known(self, commit: str | None) -> CommitId | None:
        """A commit, if it is still at hand."""
        if commit is None:
            return None
        found = CommitId(commit)
        return found if self.shop.git.is_ancestor(found, found) else None

    def _refuse(self, both: Union, unmerged: Iterable[str], is_pull: bool) -> None:
        """Unavailable for what only a person can merge."""
        waiting = {path for path in unmerged if kind_of(path) is Kind.OTHER}
        waiting |= both.clashes if is_pull else set()
        if waiting:
            names = ", ".join(sorted(waiting))
            raise Waits(
                f"a merge waits for you, because both sides changed {names}: edit, then "
                "`git add` and `git commit`; pcpfs does the rest",
                paths=sorted(waiting),
            )

    def _others(self, both: Union, unmerged: Iterable[str], is_pull: bool) -> dict[str, Content]:
        """What the merge holds besides the truth and `tree/`: what git and the person staged, or,
        where we began it, what only their side changed. Generated files in doubt are made anew."""
        made = generated_files()
        found: dict[str, Content] = {}
        if is_pull:
            found.update(both.others)
            self._check_out(both.others)
        else:
            for change in self.shop.git.staged():
                if kind_of(change.path) in (Kind.OTHER, Kind.GENERATED) and change.status != "U":
                    found[change.path] = change.stored
        for path in (path for path in unmerged if kind_of(path) is Kind.GENERATED):
            found[path] = made[path]
            self.shop.disk.write(self.shop.root / path, made[path])
        return found

    def _check_out(self, others: Mapping[str, Stored | None]) -> None:
        """Put other files into the work tree, unless a person has changed one meanwhile."""
        git, head, names = self.shop.git, self.shop.git.head(), list(others)
        had = git.contents(git.blobs_at(head, names)) if head else iter([None] * len(names))
        now = git.contents([stored.blob if stored else None for stored in others.values()])
        wanted = dict(zip(names, now, strict=True))
        for path, old in zip(names, had, strict=True):
            if self._there(path) not in (old, wanted[path]):
                raise Waits(f"{path} holds an edit of yours; commit it, or take it back")
        for path, content in wanted.items():
            if content is None:
                self.shop.disk.remove(self.shop.root / path)
            else:
                self.shop.disk.write(self.shop.root / path, content)

    def _there(self, path: str) -> bytes | None:
        try:
            return self.shop.disk.read(self.shop.root / path)
        except FileNotFoundError:
            return None

    def _fast_forward(self, ours: CommitId, theirs: CommitId) -> None:
        """Go on to their commit; where it holds another `tree/` than is laid, `follow` commits."""
        git = self.shop.git
        changes = [(change.path, change.stored) for change in git.diff_tree(ours, theirs)]
        if not git.advance(theirs, changes):
            raise Unavailable("the branch moved meanwhile; try again")
        git.forget_merge()
        catch_up(self.shop)

    def _lay(
        self,
        touched: Iterable[str],
        stale: Iterable[str],
        candidates: set[str],
        judge: Judge,
        more: set[PageId] | None = None,
    ) -> tuple[Laid, tuple[str, ...]]:
        """Fold what is stale, look at what git did to `tree/`, and lay the pages touched, and
        `more` (else, in a clone that is new to us, all)."""
        catalog, tree = self.shop.catalog, self.shop.tree
        claims = {*self._fold(stale), *claims_at(candidates)}
        if more is None:
            more = every_page(self.shop) if tree.local.settled() is None else set()
        pages = more | {of[1] for path in touched if (of := layout.page_of(path))}
        pages |= {base.page_id for path in candidates if (base := tree.local.base(path))}
        for scope, claim in claims:
            rows = catalog.pages("scope = ? AND claim = ?", (scope, claim))
            pages |= {PageId(row.page_id) for row in rows}
        wanted = wanted_of(self.shop, pages)
        verdict = judge.verdict(candidates | set(wanted), wanted)
        self.edits += verdict.edits
        tree.local.note_undone(path for path in verdict.seen.bases if path in judge.persons)
        laid = tree.lay(catalog, pages, claims, verdict.seen, moved=True)
        gone = [b for p in candidates if (b := tree.local.base(p)) and not catalog.page(b.page_id)]
        tree.local.set_bases((), [b.path for b in gone if tree.state(b.path) is None])
        return laid, verdict.edits

    def _fold(self, touched: Iterable[str]) -> list[tuple[str, str]]:
        """Fold what these files belong to, and pages that could not be read without them."""
        catalog = self.shop.catalog
        damaged = {
            PageId(damage.page_id): Namespace(damage.scope)
            for damage in catalog.damages()
            if PageId.pattern.fullmatch(damage.page_id)
        }
        with catalog.writing():
            claims = refold_paths(self.shop, list(touched))
            return [*claims, *refold(self.shop, damaged.items())]

    def _tree(
        self, laid: Laid, candidates: Iterable[str], edits: Sequence[str]
    ) -> dict[str, Content]:
        """What to commit of `tree/`: what was laid, and that nothing is where nothing is wanted;
        edits are left to `sync`."""
        changes: dict[str, Content] = {**laid.written, **dict.fromkeys(laid.removed)}
        left = {*edits, *laid.left, *laid.missing}
        for path in candidates:
            if path not in changes and path not in left and self.shop.tree.state(path) is None:
                changes[path] = None
        return changes

    def _judge_of_merge(
        self, ours: CommitId, theirs: Sequence[CommitId], unmerged: set[str]
    ) -> Judge:
        git = self.shop.git
        bases = [git.merge_base(ours, other) for other in theirs]
        commits = [entry for other in theirs for entry in git.between([ours], other)]
        commits += git.between(theirs, ours)
        return Judge(
            self.shop,
            (ours, *theirs, *bases),
            persons_paths(git, commits),
            unmerged,
            partial(self._sides, [(base, ours, *theirs[:1]) for base in bases[:1] if base]),
        )

    def _judge_of_history(
        self, since: Sequence[CommitId], head: CommitId, *, is_new: bool
    ) -> Judge:
        """`since` are the commits up to which `tree/` is settled: in a clone that is new to us what
        went before a commit of ours was settled elsewhere."""
        git = self.shop.git
        merges = git.merges(since, head, MOST_MERGES)
        persons = persons_paths(git, git.between(since, head))
        sides: list[tuple[CommitId, ...]] = []
        for merge in merges:
            base = git.merge_base(*merge.parents[:2])
            sides += [(base, *merge.parents[:2])] if base else []
        judge = Judge(
            self.shop, (head,), persons, set(),
            partial(self._sides, sides), not is_new,
        )  # fmt: skip
        persons |= self._persons_merges(judge, merges)
        return judge

    def _persons_merges(self, judge: Judge, merges: Sequence[LogEntry]) -> set[str]:
        """Files of `tree/` that a merge holds otherwise than all of its parents: git's blend, or
        what a person made of it."""
        git = self.shop.git
        found: set[str] = set()
        for merge in merges:
            if OPERATION in merge.trailers:
                continue
            differ = [
                {c.path for c in git.diff_tree(parent, merge.commit)} for parent in merge.parents
            ]
            mine = set.intersection(*differ) if differ else set()
            found |= {path for path in mine if kind_of(path) is Kind.TREE}
        return found

    def _sides(self, of: Iterable[tuple[CommitId, ...]], path: str) -> Iterable[Sides]:
        for commits in of:
            texts = text_at(self.shop.git, commits, path)
            base, one, other = [text or b"" for text in texts]
            if one and other and len({base, one, other}) == 3:
                yield base, one, other

    def _keep_texts(
        self,
        ours: CommitId,
        theirs: Sequence[CommitId],
        persons: Iterable[str],
        changes: dict[str, Content],
    ) -> None:
        """What a person committed without us, on either side, is in no revision yet: it stays in
        `tree/`, as the file itself or (where that holds other news) beside it, for `sync`."""
        git = self.shop.git
        for path in sorted(persons):
            for other in theirs:
                base = git.merge_base(ours, other)
                old, *texts = text_at(git, (base, ours, other), path)
                for text in dict.fromkeys(texts):
                    if text != old:
                        self._keep(path, old, text, changes)

    def _keep_dropped(
        self,
        since: Sequence[CommitId],
        head: CommitId,
        persons: Iterable[str],
        changes: dict[str, Content],
    ) -> None:
        """The same for merges that git made, and dropped or blended such a text."""
        git = self.shop.git
        paths = sorted(persons)
        merges = git.merges(since, head, MOST_MERGES) if paths else []
        for merge in (merge for merge in merges if OPERATION not in merge.trailers):
            base = git.merge_base(*merge.parents[:2])
            for path in paths:
                old, held = text_at(git, (base, merge.commit), path)
                for text in text_at(git, merge.parents, path):
                    if text not in (old, held):
                        self._keep(path, old, text, changes)

    def _keep_rebased(
        self, before: CommitId | None, head: CommitId, changes: dict[str, Content]
    ) -> None:
        """The same for rebases, where our driver keeps what is upstream and drops the commit."""
        git = self.shop.git
        for tip in git.rebased(before, MOST_MERGES):
            if git.is_ancestor(tip, head) or (base := git.merge_base(tip, head)) is None:
                continue
            for path in sorted(persons_paths(git, git.between([head], tip))):
                old, text = text_at(git, (base, tip), path)
                if text != old and not self._is_there(path, text, old):
                    self._keep(path, old, text, changes)

    def _is_there(self, path: str, text: bytes | None, old: bytes | None) -> bool:
        """Whether a file in the work tree holds all that a text changed."""
        there = self._there(path)
        return there is not None and self.shop.git.blend(old or b"", there, text or b"") == there

    def _keep(
        self, path: str, old: bytes | None, text: bytes | None, changes: dict[str, Content]
    ) -> None:
        """Leave a text in place of what we laid, based on the revision that it goes on from; beside
        it, if a person has another edit there."""
        if text is None or self._revisions(text):
            return
        there = self._there(path)
        if there is None or there == text or self._revisions(there):
            known = self._revisions(old) if old is not None else []
            laid = self.shop.tree.local.base(path)
            base = next((b for b in known if laid and b[0] == laid.page_id), None)
            if base is not None and old is not None:
                page, revision = PageId(base[0]), RevisionId(base[1])
                self.shop.tree.local.set_bases([Base(path, page, Digest.of(old), revision)], ())
            place = path
        else:
            place = with_mark(path, str(self.shop.git.name_of(text))[:8])
        self.shop.disk.write(self.shop.root / place, text)
        changes[place] = text
        self.edits.append(place)

    def _revisions(self, text: bytes) -> list[tuple[str, str]]:
        """Pages and their revisions that hold a text."""
        rows = self.shop.catalog.query(
            "SELECT revision.page_id, revision.revision_id FROM revision "
            "JOIN page USING (page_id) WHERE revision.digest = ? AND NOT is_source ORDER BY 1, 2",
            (Digest.of(text),),
        )
        return [(page, revision) for page, revision in rows]

    def _commit_merge(
        self,
        changes: dict[str, Content],
        staged: Iterable[str],
        theirs: Sequence[CommitId],
    ) -> None:
        git = self.shop.git
        rest = [path for path in staged if path not in changes]
        message = git.merge_message() or "merge"
        trailers = f"\n\n{OPERATION}: merge\n"
        news = git.not_in_head(changes)
        commit = git.commit(news.items(), message + trailers, self.at, merged=theirs)
        git.refresh_index([*rest, *changes])
        git.forget_merge()
        catch_up(self.shop)
        self.shop.tree.local.set_settled(commit)
