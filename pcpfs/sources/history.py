"""Recording what the git history of a source says: each file's bytes, since when, by which commit.

One stream of git tells what each commit on the first-parent line did; each distinct blob is read,
and parsed once; what a page gets is written as one change with many observations, in batches that
are durable each by itself. A walk that was cut short is taken up again: what a page has already is
not written twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pcpfs.errors import NotFound
from pcpfs.git import CommitId, Repository, find_repository
from pcpfs.git.walk import author_of, edits_between
from pcpfs.model.answers import HistoryReport
from pcpfs.model.branches import Branches
from pcpfs.model.changes import Closed, Observed, Retracted
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import unescaped
from pcpfs.model.roots import Walked
from pcpfs.ports import AdapterRegistry, Progress
from pcpfs.sources.beside_history import BesideHistory
from pcpfs.sources.extraction_pool import ExtractionPool
from pcpfs.sources.past_apply import FEW, PastApplier, Writing, batches
from pcpfs.sources.past_plan import Step, Told
from pcpfs.sources.past_reading import PastReading
from pcpfs.sources.past_route import Route, followed, route
from pcpfs.sources.roots import HistoryWish, Root
from pcpfs.sources.scanned import Reason
from pcpfs.store.folding.fold import in_order
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction


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
        wanted = wish.all_branches if wish else None
        follows = bool(known and known.all_branches) if wanted is None else wanted
        reading = PastReading(self.store, self.root, repository, self.progress)
        if wish is not None and known is not None and self._lacked():
            known = replace(known, tip=None, tip_at=None)  # git may have it by now
        is_done = known and (known.tip, known.branch, known.since) == (tip, branch, since)
        if known and is_done and not (known.cut == "shallow" and not repository.shallow_commits()):
            mark, steps, applier = replace(known, all_branches=follows), 0, None
        else:
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
                follows,
            )
            steps, applier = self._walk(reading, way, mark)
            self.transaction.scope_change(self.root.namespace, mark)
        report = _report(mark, steps, applier)
        if not follows and not (known and known.all_branches):
            return replace(report, lacking=len(reading.lacking))
        beside = BesideHistory(
            reading, self.registry, self.pool, self.transaction, self.flushed
        ).bring(mark)
        if beside.change != Branches() or (known and known.all_branches != follows):
            mark = replace(mark, branches=beside.change)
            self.transaction.scope_change(self.root.namespace, mark)
        return replace(
            report,
            branches=beside.branches,
            beside=beside.commits,
            lacking=len(reading.lacking),
        )

    def _walk(self, reading: PastReading, way: Route, mark: Walked) -> tuple[int, PastApplier]:
        root, transaction = self.root, self.transaction
        steps = self._steps(reading, way.tip, way)
        said, contents = reading.said(steps)
        pages = self._pages(reading, way, said)
        parts = list(batches(pages, contents))
        transaction.alike = len(steps) > FEW
        if len(parts) > 1:  # so that a walk which is cut short is known to be
            transaction.scope_change(root.namespace, replace(mark, tip=None, tip_at=None))
        applier = PastApplier(self.registry, self.pool, transaction, self.store.catalog, root)
        applier.write_parts(reading, parts, contents, "history", self.flushed)
        applier.link(pages)
        return len(steps), applier

    def _steps(self, reading: PastReading, tip: CommitId, way: Route) -> list[Step]:
        """What each commit after the base means to the root; of a whole walk first all of that."""
        repository, base = reading.repository, way.base
        tree = reading.tree()
        tree.fill(repository.ls_tree(base))
        steps = []
        if way.is_whole:
            states = {path: (None, state) for path, state in tree.states().items()}
            steps.append(Step(base, author_of(repository, base), way.at[base], states, {}))
        total = len(way.at)
        for number, edits in enumerate(edits_between(repository, base, tip, reading.paths), 1):
            at = way.at.get(edits.commit, way.start_at)
            steps.append(reading.step(edits, at, tree))
            if number % 500 == 0:
                reading.tell("walking the history of", number, total)
        return steps

    def _pages(
        self, reading: PastReading, way: Route, said: Mapping[str, list[Told]]
    ) -> list[Writing]:
        """What is to be written of each path, by path: what is not recorded yet, and what is and no
        longer counts."""
        paths = set(said)
        if way.is_whole:
            paths |= self._paths_with_history()
        elif way.left_tip is not None:
            before = self._steps(reading, way.left_tip, way)
            paths |= {path for step in before for path in step.states}
        pages = (self._page(path, said.get(path, []), way) for path in sorted(paths))
        return [page for page in pages if page.said or page.retracted]

    def _page(self, path: str, said: list[Told], way: Route) -> Writing:
        page = PageId.of_source(self.root.namespace, self.root.root_id, path)
        recorded, lacked, revision = self._recorded(page)
        lost = [commit for commit in recorded if self._is_lost(commit, recorded[commit], way)]
        kept = [commit for commit in recorded if commit not in lost]
        if way.is_whole:
            wanted = [t.step.commit for t in said]
            kept = [commit for commit in kept if commit in way.at or commit in way.on_line]
            has_now = any(t.blob and t.step.commit in lacked for t in said)
            if has_now or kept != wanted[: len(kept)]:
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

    def _recorded(self, page: PageId) -> tuple[dict[str, Instant], set[str], RevisionId | None]:
        """The commits that a page has something of, in their order, with since when; those of them
        whose bytes git lacked; and the last revision that one of them gave it."""
        found: dict[str, Instant] = {}
        lacked = set[str]()
        if self.store.catalog.page(page) is None:
            return found, lacked, None
        revision = None
        changes = self.store.objects.page_changes(self.root.namespace, page)
        for _, body in in_order(changes)[0]:
            for event in body.events:
                if isinstance(event, Observed | Closed) and event.commit:
                    at = event.valid_from if isinstance(event, Observed) else event.valid_to
                    found[event.commit] = at
                    if isinstance(event, Closed) and event.reason == Reason.LACKING:
                        lacked.add(event.commit)
                    revision = event.revision
                elif isinstance(event, Retracted):
                    for commit in event.commits:
                        found.pop(commit, None)
        return found, lacked, revision

    def _lacked(self) -> bool:
        """Whether git did not have all that was to be recorded."""
        rows = self.store.catalog.query(
            "SELECT 1 FROM closing JOIN page USING (page_id) "
            "WHERE root_id = ? AND closing.reason = ? AND commit_id IS NOT NULL LIMIT 1",
            (self.root.root_id, Reason.LACKING),
        )
        return bool(rows)

    def _paths_with_history(self) -> set[str]:
        rows = self.store.catalog.query(
            "SELECT path FROM page WHERE root_id = ? AND (page_id IN "
            "(SELECT page_id FROM span WHERE commit_id IS NOT NULL) OR page_id IN "
            "(SELECT page_id FROM closing WHERE commit_id IS NOT NULL))",
            (self.root.root_id,),
        )
        return {unescaped(path) for (path,) in rows}


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
