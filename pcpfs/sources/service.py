"""Source trees in a store: taking them in, bringing them up to date, checking them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pcpfs.errors import NotFound, Unavailable
from pcpfs.git import find_repository, renames
from pcpfs.model.answers import HistoryReport, RootReport, Skipped
from pcpfs.model.ids import RootId
from pcpfs.model.pages import Principal
from pcpfs.ports import AdapterRegistry, Progress
from pcpfs.sources.accepting import accept
from pcpfs.sources.applied import BATCH_BYTES, BATCH_FILES, Applied
from pcpfs.sources.comparing import known_pages, settled
from pcpfs.sources.moved_away import without_erased
from pcpfs.sources.plan import GONE, Known, Novelty, Plan, plan
from pcpfs.sources.roots import HistoryWish, Root, Roots, Wanted
from pcpfs.sources.scan import scan, scan_paths
from pcpfs.sources.scanned import Prefixes, Reason, Scan
from pcpfs.sources.statcache import StatCache
from pcpfs.sources.synced import Done, Refused, SyncReport, subject, touched, unbound, unobserved
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.searches.index_process import IndexBeside
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.take_edits import EditTaker, TreeReport

if TYPE_CHECKING:
    from pcpfs.sources.apply import Applier
    from pcpfs.sources.extraction_pool import ExtractionPool
    from pcpfs.sources.reextract import ReextractReport

_MOST_RENAMES = 400
"""More vanished or new files than this are paired by equal bytes only."""


class Sources:
    """The sources of one store, for its owner. Only the clone that observes a root writes of it.

    Holds worker processes: close it. Of a large tree every `batch_files` files become durable (and
    are kept, whatever happens) by themselves.
    """

    def __init__(self, store: Store, actor: Principal, *, batch_files: int = BATCH_FILES) -> None:
        Authority(store, actor).require_owner("take sources in")
        self._batch_files = batch_files
        self.store = store
        self.actor = actor
        self.roots = Roots(store)
        self.edits = EditTaker(store, actor)
        self._pools: list[ExtractionPool] = []
        self._indexer = IndexBeside(store.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        for pool in self._pools:
            pool.close()
        self._indexer.finish()

    @cached_property
    def registry(self) -> AdapterRegistry:
        """The adapters; not looked for where nothing has to be read."""
        from pcpfs.store.registry import installed_registry  # noqa: PLC0415

        return installed_registry()

    @cached_property
    def _pool(self) -> ExtractionPool:
        from pcpfs.sources.extraction_pool import ExtractionPool  # noqa: PLC0415 (see `registry`)
        from pcpfs.store.registry import installed_registry  # noqa: PLC0415

        self._pools.append(ExtractionPool(installed_registry))
        return self._pools[0]

    def warm(self) -> None:
        """Start the workers now, for those who watch."""
        self._pool.warm()

    def add(self, wanted: Wanted, progress: Progress | None = None) -> SyncReport:
        """Take a source tree in; a root that is bound already is brought up to date.

        NotFound if the path is no folder; Conflict if its name is another root's, or another clone
        observes it.
        """
        with self.store.writing("add", self.actor) as transaction:
            transaction.ensure_scope(wanted.namespace, str(wanted.namespace))
            root = self.roots.bind(transaction, wanted)
            done = self._bring(transaction, root, wanted.history, progress)
            if done.refused is not None:
                raise done.refused
            report = self._finish(transaction, [done])
        self._index(progress)
        return report

    def sync(
        self,
        names: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        accept_removals: bool = False,
        allow_secrets: Sequence[str] = (),
        history: HistoryWish | None = None,
    ) -> SyncReport:
        """Take the edits in `tree/`, and bring roots up to date with their files (none named: all);
        NotFound for no root. What holds a secret is left, but for `allow_secrets`: files of `tree/`
        or of a source. With `history` that of the roots is recorded, from now on by every sync;
        without names that of those in git repositories. Where that cannot be it is `refused`, and
        the rest is done; NotFound or Unavailable if that is so of all."""
        self.roots.named(names)
        wishes = self._wishes(names, history) if history else {}
        accept(self.store, self.actor, allow_secrets)
        taken = self.edits.take(accept_removals=accept_removals)
        with self.store.writing("sync", self.actor) as transaction:
            done = [
                self._bring(transaction, root, wishes.get(root.root_id), progress)
                if root.is_observer
                else unobserved(root)
                for root in self.roots.named(names)
            ]
            refused = tuple(Refused(d.root.name, d.refused) for d in done if d.refused)
            if refused and len(refused) == len(wishes):
                raise refused[0].error
            report = self._finish(transaction, done)
        self._index(progress)
        return replace(
            report,
            tree=taken.report,
            commit=report.commit or taken.commit,
            warnings=(*taken.warnings, *report.warnings),
            unbound=() if names else tuple(map(unbound, self.roots.unbound())),
            refused=refused,
        )

    def reextract(self, progress: Progress | None = None) -> ReextractReport:
        """Look at the bytes in the store again with newer adapters."""
        from pcpfs.sources.reextract import reextract  # noqa: PLC0415 (a rare thing to do)

        return reextract(self.store, self.actor, self.registry, self._pool, progress)

    def look(self, root: Root, paths: Iterable[str] | None) -> tuple[Done, tuple[str, ...]]:
        """Bring some paths of one root up to date (None: all, and the history where that is
        recorded), as `watch` does, and warnings.

        Of a few files the next search reads what is new in memory; many are indexed beside.
        """
        with self.store.writing("sync", self.actor) as transaction:
            if paths is None:
                done = self._bring(transaction, self.roots.now(root), None, None)
            else:
                done = self._look(transaction, root, paths, None)
            warnings = self._commit(transaction, [done])[1]
        if self._is_much_pending():
            self._indexer.look()
        return done, (*done.warnings, *warnings)

    def rest(self) -> None:
        """Nothing happens for now, says who watches."""
        self._indexer.rest()

    def _wishes(self, names: Sequence[str], history: HistoryWish) -> dict[RootId, HistoryWish]:
        """Of which roots the history is wished for."""
        roots = self.roots.named(names)
        found = [root for root in roots if names or find_repository(root.path)]
        if not found:
            raise NotFound("no source is in a git repository; there is no history to record")
        return {root.root_id: history for root in found}

    def _bring(
        self,
        transaction: Transaction,
        root: Root,
        wish: HistoryWish | None,
        progress: Progress | None,
    ) -> Done:
        """First the history, where that is recorded, then the files: what is there now is what
        holds now, whatever the commits say."""
        told, failed = None, None
        if wish is not None or root.walked is not None:
            try:
                told = self._bring_past(transaction, root, wish, progress)
            except (NotFound, Unavailable) as error:
                failed = error
        done = self._look(transaction, root, None, progress)
        done = replace(done, report=replace(done.report, history=told))
        if failed is None:
            return done
        told_why = (f"the history of {root.name} was left alone: {failed.message}",)
        return replace(done, warnings=told_why, refused=failed if wish is not None else None)

    def _bring_past(
        self,
        transaction: Transaction,
        root: Root,
        wish: HistoryWish | None,
        progress: Progress | None,
    ) -> HistoryReport | None:
        from pcpfs.sources.history import History  # noqa: PLC0415 (mostly none is recorded)

        flushed = self._indexer.look
        past = History(self.store, self.registry, self._pool, transaction, root, flushed, progress)
        return past.bring(wish)

    def _look(
        self,
        transaction: Transaction,
        root: Root,
        paths: Iterable[str] | None,
        progress: Progress | None,
    ) -> Done:
        root = self.roots.without_erased(root)
        cache = self.roots.cache(root)
        started = self.store.clock.now()
        found = (
            scan(root.path, root.options, cache)
            if paths is None
            else scan_paths(root.path, root.options, cache, paths)
        )
        if len(found.to_read) > BATCH_FILES:  # much to parse and to index, most likely
            self._pool.warm()
            self._indexer.look()
        found = without_erased(self.store, transaction, root, found)
        seen, contents = settled(self.store, root, found, BATCH_BYTES)
        todo = self._planned(root, known_pages(self.store, root, seen), seen, contents)
        applied = Applied()
        if todo.observe or todo.close:
            applier = self._applier(transaction, root, cache)
            applied = applier.apply(todo, contents, progress)
        missed = {skip.path for skip in applied.skipped if not skip.reason.is_taken_in}
        remembered = _without(seen, missed)
        report = self._report(root, seen, todo, applied)
        scanned = started if paths is None else None
        return Done(root, applied, report, cache.after(remembered, started), scanned)

    def _applier(self, transaction: Transaction, root: Root, cache: StatCache) -> Applier:
        from pcpfs.sources.apply import Applier  # noqa: PLC0415 (mostly nothing has changed)

        return Applier(
            self.store,
            self.registry,
            self._pool,
            transaction,
            root,
            cache,
            self.roots.last_scan(root),
            self._indexer.look,
            self._batch_files,
        )

    def _planned(
        self,
        root: Root,
        known: Mapping[str, Known],
        found: Scan,
        contents: Mapping[str, bytes],
    ) -> Plan:
        """The plan; where files vanished and others came, with what git says of them."""
        first = plan(known, found)
        gone = [close for close in first.close if close.reason == GONE]
        new = [o for o in first.observe if o.novelty is not Novelty.CHANGED and not o.moved_from]
        if not (gone and new) or max(len(gone), len(new)) > _MOST_RENAMES or root.kind != "git":
            return first
        before = {
            close.path: self.store.objects.payload(root.namespace, digest)
            for close in gone
            if (digest := known[close.path].digest)
        }
        after = {o.file.path: contents[o.file.path] for o in new if o.file.path in contents}
        return plan(known, found, dict(renames(before, after)))

    def _finish(self, transaction: Transaction, done: Sequence[Done]) -> SyncReport:
        commit, warnings = self._commit(transaction, done)
        reports = tuple(self._counted(item) for item in done)
        told = tuple(warning for item in done for warning in item.warnings)
        return SyncReport(reports, TreeReport(), commit, (*told, *warnings))

    def _commit(
        self, transaction: Transaction, done: Sequence[Done]
    ) -> tuple[str | None, tuple[str, ...]]:
        """Commit what was done, if anything was, and remember it; the commit, and warnings."""
        commit, warnings = None, tuple[str, ...]()
        if not transaction.is_empty:
            committed = transaction.commit(
                subject(transaction.operation, done),
                (
                    ("Pcpfs-Operation", transaction.operation),
                    *(("Pcpfs-Root", item.root.name) for item in done),
                    ("Pcpfs-Files", str(sum(touched(item.applied) for item in done))),
                    ("Pcpfs-Actor", str(self.actor)),
                ),
                catalogued=self._indexer.look_if_there,
            )
            commit, warnings = committed.commit, committed.warnings
        with suppress(Unavailable):  # what is lost of it is found out at the next look
            self._remember(done)
        return commit, warnings

    def _remember(self, done: Sequence[Done]) -> None:
        """What this machine knows of the files, once the store has it."""
        now = self.store.clock.now()
        for item in done:
            if item.cache is not None:
                self.roots.keep_cache(item.root, item.cache)
            if item.report.state == "ok":
                self.roots.note_sync(item.root, now, item.report.skipped, item.scanned)

    def _report(self, root: Root, found: Scan, todo: Plan, applied: Applied) -> RootReport:
        missing = any(skip.path == "" for skip in found.unreadable)
        return RootReport(
            root=root.name,
            scope=root.namespace,
            files=0,
            symbols=0,
            opened=applied.opened,
            closed=applied.closed,
            unchanged=len(todo.unchanged),
            changed=applied.changed,
            added=applied.added,
            removed=applied.removed,
            renamed=applied.renamed,
            skipped=self._skipped(root, found, todo, applied),
            state="unavailable" if missing else "ok",
        )

    def _skipped(
        self, root: Root, found: Scan, todo: Plan, applied: Applied
    ) -> tuple[Skipped, ...]:
        """What is left out now: what this look found, and what it did not look at."""
        covered, unchanged = Prefixes(found.covered), set(todo.unchanged)
        shown = {
            skip.path: skip
            for skip in self.roots.skipped(root)
            if skip.path not in covered
            or (Reason(skip.reason).is_taken_in and skip.path in unchanged)
        }
        for skip in (*found.skipped, *applied.skipped):
            detail = skip.detail or None
            shown[skip.path] = Skipped(skip.path, skip.reason.value, root.name, detail)
        return tuple(shown[path] for path in sorted(shown))

    def _counted(self, item: Done) -> RootReport:
        files, symbols = self.roots.counts(item.root.root_id)
        return replace(item.report, files=files, symbols=symbols)

    def _is_much_pending(self) -> bool:
        """More than a search would read in memory."""
        from pcpfs.store.searches.text_indexes import OVERLAID  # noqa: PLC0415 (only `look` needs it)

        query = "SELECT count(*) FROM (SELECT 1 FROM pending LIMIT ?)"
        ((count,),) = self.store.catalog.query(query, (OVERLAID + 1,))
        return bool(count > OVERLAID)

    def _index(self, progress: Progress | None) -> None:
        """Take what waits into the text indexes, so that the next search need not."""
        self._indexer.finish()
        if self.store.catalog.query("SELECT 1 FROM pending LIMIT 1"):
            with closing(Session(self.store, self.actor)) as session, suppress(Unavailable):
                session.flush_indexes(progress)


def _without(found: Scan, paths: Container[str]) -> Scan:
    """The scan without files that were not taken in after all: they are looked at again."""
    return replace(found, files=tuple(file for file in found.files if file.path not in paths))
