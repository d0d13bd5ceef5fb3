"""Recording what the git history of a source says: each file's bytes, since when, by which commit.

One stream of git tells what each commit on the first-parent line did; each distinct blob is read,
and parsed once; what a page gets is written as one change with many observations, in batches that
are durable each by itself. A walk that was cut short is taken up again: what a page has already is
not written twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcpfs.errors import NotFound, Unavailable
from pcpfs.git import CommitId, ObjectId, Repository, find_repository
from pcpfs.git.walk import CommitEdits, author_of, edits_between
from pcpfs.model.answers import HistoryReport
from pcpfs.model.changes import Closed, Observed, Retracted
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import unescaped
from pcpfs.model.roots import Walked
from pcpfs.ports import AdapterRegistry, Progress
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.past_apply import PastApplier, Writing, batches
from pcpfs.sources.past_plan import Contents, Held, Step, Told, blobs_of, told
from pcpfs.sources.past_route import Route, followed, route
from pcpfs.sources.past_rules import PastTree
from pcpfs.sources.reading import is_binary, too_large
from pcpfs.sources.roots import HistoryWish, Root
from pcpfs.sources.rulefiles import GIT_RULES, OUR_RULES, RulesUnreadable, excluded_by_git
from pcpfs.sources.scanned import Reason, Skipped
from pcpfs.sources.withholding import withheld_for
from pcpfs.store.folding.fold import in_order
from pcpfs.store.scopes.secrets import AllowList
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction

_HEAD = 8192
_FEW = 100
"""Of fewer commits git need not look for what is alike."""


@dataclass(slots=True)
class History:
    """Brings the recorded history of one root up to date, within a transaction of its caller.

    `flushed` is called whenever a part has become durable.
    """

    store: Store
    registry: AdapterRegistry
    pool: ExtractionPool
    transaction: Transaction
    root: Root
    flushed: Callable[[], None]
    progress: Progress | None = None

    def bring(self, wish: HistoryWish | None) -> HistoryReport | None:
        """Walk what is new. Without a wish: if the history of this root is recorded at all.

        NotFound if the root is in no git repository, or has no commit; Unavailable where git
        cannot tell its history.
        """
        known = self.root.walked
        if wish is None and known is None:
            return None
        top = find_repository(self.root.path)
        if top is None:
            raise NotFound(f"{self.root.path} is in no git repository; it has no history to record")
        repository = Repository.open(top)
        branch = followed(repository, known, anew=wish is not None)
        tip = repository.commit_of(branch) if branch else repository.head()
        if tip is None:
            raise NotFound(f"{top} has no commit yet; there is no history to record")
        since = wish.since if wish else known.since if known else None
        if known and (known.tip, known.branch, known.since) == (tip, branch, since):
            return _report(known, 0, None)
        way = route(repository, known, tip, since)
        mark = Walked(
            self.root.root_id,
            branch,
            way.tip,
            way.at[way.tip],
            way.start,
            way.start_at,
            way.cut,
            since,
        )
        steps, applier = self._walk(repository, way, mark)
        self.transaction.scope_change(self.root.namespace, mark)
        return _report(mark, len(steps), applier)

    def _walk(
        self, repository: Repository, way: Route, mark: Walked
    ) -> tuple[Sequence[Step], PastApplier]:
        root, transaction = self.root, self.transaction
        prefix = _prefix(root.path, repository.work_tree)
        steps = self._steps(repository, prefix, way.tip, way)
        contents = self._contents(repository, steps)
        said = told(steps, contents)
        for path in _once_erased(steps, root.options.exclusions):
            said.pop(path, None)
        pages = self._pages(repository, prefix, way, said)
        parts = list(batches(pages, contents))
        transaction.alike = len(steps) > _FEW
        if len(parts) > 1:  # so that a walk which is cut short is known to be
            transaction.scope_change(root.namespace, replace(mark, tip=None, tip_at=None))
        applier = PastApplier(self.registry, self.pool, transaction, self.store.catalog, root)
        for number, part in enumerate(parts, 1):
            applier.write(repository, part, contents)
            self._tell("recording the history of", number, len(parts))
            transaction.flush()
            self.flushed()
        applier.link(pages)
        return steps, applier

    def _tell(self, what: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress.step(f"{what} {self.root.name}", done, total)

    def _steps(self, repository: Repository, prefix: str, tip: CommitId, way: Route) -> list[Step]:
        """What each commit after the base means to the root; of a whole walk first all of that."""
        base = way.base
        tree = self._tree(repository, prefix)
        tree.fill(repository.ls_tree(base))
        steps = []
        if way.is_whole:
            states = {path: (None, state) for path, state in tree.states().items()}
            steps.append(Step(base, author_of(repository, base), way.at[base], states, {}))
        total = len(way.at)
        paths = _paths(prefix)
        for number, edits in enumerate(edits_between(repository, base, tip, paths), 1):
            at = way.at.get(edits.commit, way.start_at)
            steps.append(_step(edits, at, tree, prefix))
            if number % 500 == 0:
                self._tell("walking the history of", number, total)
        return steps

    def _tree(self, repository: Repository, prefix: str) -> PastTree:
        try:
            above = excluded_by_git(str(repository.work_tree))
        except RulesUnreadable as error:
            raise Unavailable(str(error)) from error

        is_partial = repository.is_partial()

        def read(blob: ObjectId) -> bytes | None:
            if is_partial and not repository.sizes([blob]):
                raise Unavailable(
                    f"{repository.work_tree} is a partial clone that lacks {blob}, "
                    "which says what belongs to a commit; git fetch --refetch --no-filter brings it"
                )
            return next(repository.show_blobs([blob]))

        return PastTree(prefix, self.root.options, above, read)

    def _contents(self, repository: Repository, steps: Iterable[Step]) -> Contents:
        """What the blobs hold that the steps speak of, each read once."""
        wanted = blobs_of(steps)
        sizes = {ObjectId(blob): size for blob, size in repository.sizes(wanted).items()}
        limit = self.root.options.max_size
        found: dict[ObjectId, Held | Skipped] = {
            blob: too_large(wanted[blob], size, limit)
            for blob, size in sizes.items()
            if size > limit
        }
        to_read = [blob for blob in wanted if sizes.get(blob, limit + 1) <= limit]
        allowed = AllowList.of(self.store.catalog, self.root.namespace)
        for number, (blob, raw) in enumerate(
            zip(to_read, repository.show_blobs(to_read), strict=True)
        ):
            if raw is not None:
                found[blob] = _content(wanted[blob], raw, allowed)
            if number % 1000 == 0:
                self._tell("reading the history of", number, len(to_read))
        return found

    def _pages(
        self, repository: Repository, prefix: str, way: Route, said: Mapping[str, list[Told]]
    ) -> list[Writing]:
        """What is to be written of each path, by path: what is not recorded yet, and what is and no
        longer counts."""
        paths = set(said)
        if way.is_whole:
            paths |= self._paths_with_history()
        elif way.left_tip is not None:
            before = self._steps(repository, prefix, way.left_tip, way)
            paths |= {path for step in before for path in step.states}
        pages = (self._page(path, said.get(path, []), way) for path in sorted(paths))
        return [page for page in pages if page.said or page.retracted]

    def _page(self, path: str, said: list[Told], way: Route) -> Writing:
        page = PageId.of_source(self.root.namespace, self.root.root_id, path)
        recorded, revision = self._recorded(page)
        lost = [commit for commit in recorded if self._is_lost(commit, recorded[commit], way)]
        kept = [commit for commit in recorded if commit not in lost]
        if way.is_whole:
            wanted = [t.step.commit for t in said]
            kept = [commit for commit in kept if commit in way.at or commit in way.on_line]
            if kept != wanted[: len(kept)]:
                lost, kept, revision = [*lost, *kept], [], None
            said = said[len(kept) :]
        else:
            said = [t for t in said if t.step.commit not in kept]
        return Writing(path, page, tuple(said), tuple(lost), revision)

    def _is_lost(self, commit: str, at: Instant, way: Route) -> bool:
        if not way.is_whole:
            return commit in way.left
        if commit in way.on_line:
            return False
        return way.before_line is None or at >= way.before_line

    def _recorded(self, page: PageId) -> tuple[dict[str, Instant], RevisionId | None]:
        """The commits that a page has something of, in their order, with since when; and the last
        revision that one of them gave it."""
        if self.store.catalog.page(page) is None:
            return {}, None
        found: dict[str, Instant] = {}
        revision = None
        changes = self.store.objects.page_changes(self.root.namespace, page)
        for _, body in in_order(changes)[0]:
            for event in body.events:
                if isinstance(event, Observed | Closed) and event.commit:
                    at = event.valid_from if isinstance(event, Observed) else event.valid_to
                    found[event.commit] = at
                    revision = event.revision
                elif isinstance(event, Retracted):
                    for commit in event.commits:
                        found.pop(commit, None)
        return found, revision

    def _paths_with_history(self) -> set[str]:
        rows = self.store.catalog.query(
            "SELECT path FROM page WHERE root_id = ? AND (page_id IN "
            "(SELECT page_id FROM span WHERE commit_id IS NOT NULL) OR page_id IN "
            "(SELECT page_id FROM closing WHERE commit_id IS NOT NULL))",
            (self.root.root_id,),
        )
        return {unescaped(path) for (path,) in rows}


def _once_erased(steps: Sequence[Step], exclusions: Container[str]) -> set[str]:
    """The other names, before and after, of files whose pages were erased."""
    names = [pair for step in steps for pair in step.renames.items()]
    found = {path for pair in names for path in pair if path in exclusions}
    while more := {p for pair in names if not found.isdisjoint(pair) for p in pair} - found:
        found |= more
    return found


def _report(mark: Walked, steps: int, applier: PastApplier | None) -> HistoryReport:
    return HistoryReport(
        branch=mark.branch,
        tip=mark.tip or "",
        commits=steps,
        start=mark.start or "",
        start_at=mark.start_at,
        cut=mark.cut or None,
        observed=applier.observed if applier else 0,
        closed=applier.closed if applier else 0,
        retracted=len(applier.retracted) if applier else 0,
    )


def _prefix(root: Path, top: Path) -> str:
    """Where a root lies in its repository; empty for its top."""
    prefix = os.path.relpath(os.path.realpath(root), os.path.realpath(top))
    return "" if prefix == "." else prefix


def _step(edits: CommitEdits, at: Instant, tree: PastTree, prefix: str) -> Step:
    states = tree.change((edit.path, edit.after) for edit in edits.edits)
    cut = len(prefix) + 1 if prefix else 0
    renames = {
        edit.renamed_from[cut:]: edit.path[cut:]
        for edit in edits.edits
        if edit.renamed_from is not None
    }
    return Step(edits.commit, edits.author, at, states, renames)


def _paths(prefix: str) -> tuple[str, ...]:
    """What of a repository says something of a root: its files, and the rules above it."""
    if not prefix:
        return ()
    above = ["", *(prefix[:n] + "/" for n, c in enumerate(prefix) if c == "/")]
    return (prefix, *(folder + name for folder in above for name in (GIT_RULES, OUR_RULES)))


def _content(path: str, raw: bytes, allowed: AllowList) -> Held | Skipped:
    """As `read_stable` and `without_secrets` judge a file."""
    if is_binary(raw[:_HEAD]):
        return Skipped(path, Reason.BINARY)
    return withheld_for(path, raw, allowed) or Held(Digest.of(raw), len(raw))
