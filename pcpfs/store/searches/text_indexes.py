"""The text indexes of a store: one for the current documents of each scope, one for the past ones.

They are disposable. A write never opens them: it leaves pending rows in the catalog, which a search
reads in memory, and which are flushed in batches.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, cached_property
from importlib.metadata import entry_points
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Busy, Corrupt, PcpfsError, ReadOnly, Unavailable
from pcpfs.ports import (
    POSTING_BYTES,
    AnalysedDocument,
    DocumentTable,
    Expunging,
    Postings,
    Progress,
    SearchEngine,
    SearchIndex,
)
from pcpfs.search.analysis import Analyser, Document, index_version
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import Pending
from pcpfs.store.searches.index_seal import is_sealed, seal

OVERLAID = 48
"""So many pending documents are read in memory by each search; more are flushed first."""

_OWNER = "owner"


@cache
def engine_named(name: str) -> SearchEngine:
    """The installed engine of that name."""
    for point in entry_points(group="pcpfs.indexes"):
        if point.name == name:
            engine: SearchEngine = point.load()
            return engine
    raise Unavailable(f"no search engine {name!r} is installed; set index in pcpfs.toml")


class TextIndexes:
    """Opens, flushes and overlays the indexes below one folder.

    `documents` gives the texts of the keys of a scope, without those of which nothing can be
    read. `secret` is known to this machine's user only: an index without the stamp that it makes
    is never opened. Whoever writes an index holds `lock`, which lies where nobody removes it.
    """

    def __init__(
        self,
        folder: Path,
        engine: str,
        disk: Disk,
        *,
        lock: Path,
        wait: float,
        secret: Callable[[], bytes],
        documents: Callable[[str, Iterable[str]], Iterable[Document]],
    ) -> None:
        self._folder = folder
        self._lock = lock
        self._wait = wait
        self._engine_name = engine
        self._disk = disk
        self._secret = secret
        self._documents = documents
        self._analyser = Analyser()
        self._open: dict[tuple[str, int], tuple[SearchIndex, str]] = {}
        self._overlaid: dict[tuple[str, int], tuple[object, list[SearchIndex]]] = {}

    @cached_property
    def _engine(self) -> SearchEngine:
        return engine_named(self._engine_name)

    def close(self) -> None:
        for index, _ in self._open.values():
            index.close()
        self._open.clear()
        self._overlaid.clear()

    def readers(
        self, catalog: Catalog, scope: str, past: int, progress: Progress | None = None
    ) -> list[SearchIndex]:
        """Indexes that together hold exactly the documents of a scope as the catalog has them."""
        self._index(catalog, scope, past)  # for a new one all documents are pending
        if len(catalog.pending(scope, past)) > OVERLAID:
            self.flush(catalog, scope, past, progress)
        while True:
            index = self._index(catalog, scope, past)
            with catalog.snapshot():
                flushed = _flushed(catalog, scope, past)
                pending = catalog.pending(scope, past)
            if index is None:
                return [self._overlay(scope, _all_documents(catalog, scope, past), progress)]
            if self._open[scope, past][1] == flushed:
                break  # else somebody has flushed since it was opened
        if not pending:
            return [index]
        state = (index, flushed, tuple(pending))
        if self._overlaid.get((scope, past), (None,))[0] != state:
            masked = Masked(index, frozenset(row.key for row in pending))
            overlay = self._overlay(scope, pending, progress)
            self._overlaid[scope, past] = (state, [masked, overlay])
        return self._overlaid[scope, past][1]

    def backlog(self, catalog: Catalog, scope: str, past: int) -> int:
        """How many documents the next search in a scope would have to take in first."""
        if (scope, past) not in self._open and self._is_lost(catalog, scope, past):
            return len(_all_documents(catalog, scope, past))
        waiting = len(catalog.pending(scope, past))
        return waiting if waiting > OVERLAID else 0

    def _is_lost(self, catalog: Catalog, scope: str, past: int) -> bool:
        """Whether there is no index to trust; one that somebody writes just now has no seal."""
        flushed = _flushed(catalog, scope, past)
        index = self._usable(catalog, scope, past)
        if index is None:
            try:
                with self._disk.lock(self._lock, 0):
                    flushed = _flushed(catalog, scope, past)
                    index = self._usable(catalog, scope, past)
            except Busy:
                return False
            except ReadOnly:
                return True
        if index is not None:
            self._open[scope, past] = (index, flushed)
        return index is None

    def flush(
        self, catalog: Catalog, scope: str, past: int, progress: Progress | None
    ) -> list[Pending]:
        """Take all pending documents in; what is left if somebody else is at it."""
        try:
            with self._disk.lock(self._lock, 0):
                try:
                    self._flush(catalog, scope, past, progress)
                except Corrupt:
                    self._discard(scope, past)
                    self._flush(catalog, scope, past, progress)
        except (Busy, ReadOnly):
            pass  # others see the same rows in memory
        return catalog.pending(scope, past)

    def discard(self, scope: str, past: int) -> None:
        """Throw a damaged index away; it is built anew when it is next opened."""
        with self._disk.lock(self._lock, self._wait):
            self._discard(scope, past)

    def _discard(self, scope: str, past: int) -> None:
        if (scope, past) in self._open:
            self._open.pop((scope, past))[0].close()
        self._disk.remove_tree(self._folder_of(scope, past))

    def expunge(self, catalog: Catalog, scope: str) -> None:
        """Leave nothing of what the catalog has forgotten in any file of a scope's indexes; under
        the lock. Whoever has one open sees that it was replaced. One that cannot do it, or is not
        to be trusted, is thrown away, and the next search makes a new one."""
        for past in (0, 1):
            removed = [row for row in catalog.pending(scope, past) if row.removed]
            if self._is_expunged(catalog, scope, past, [row.key for row in removed]):
                with catalog.writing():
                    _note_flush(catalog, scope, past)
                    _forget_pending(catalog, removed)
            else:
                with catalog.writing():
                    catalog.db.execute("DELETE FROM meta WHERE key = ?", (_mark(scope, past),))
                    _forget_pending(catalog, catalog.pending(scope, past))
                self._discard(scope, past)

    def _is_expunged(self, catalog: Catalog, scope: str, past: int, keys: list[str]) -> bool:
        index = self._usable(catalog, scope, past)
        if index is None:
            return False
        try:
            if not isinstance(index, Expunging):
                return False
            index.expunge(keys, _stamp(catalog))
        except Corrupt:
            return False
        finally:
            index.close()
        seal(self._folder_of(scope, past), self._disk)
        return True

    def _folder_of(self, scope: str, past: int) -> Path:
        return index_folder(self._folder, scope, past)

    def _flush(self, catalog: Catalog, scope: str, past: int, progress: Progress | None) -> None:
        """Under the lock. The index is durable and sealed before the catalog forgets."""
        index = self._index(catalog, scope, past, locked=True)
        pending = catalog.pending(scope, past)
        if index is None or not pending:
            return
        removed = [row.key for row in pending if row.removed]
        added = [row for row in pending if not row.removed]
        index.update(self._analysed(scope, added, progress), removed, _stamp(catalog))
        seal(self._folder_of(scope, past), self._disk)
        with catalog.writing():
            self._open[scope, past] = (index, _note_flush(catalog, scope, past))
            _forget_pending(catalog, pending)

    def _analysed(
        self, scope: str, rows: Sequence[Pending], progress: Progress | None
    ) -> Iterator[AnalysedDocument]:
        found = self._documents(scope, [row.key for row in rows])
        for number, document in enumerate(found):
            yield self._analyser.analyse(document)
            if progress is not None and number % 500 == 0:
                progress.step("index", number, len(rows))
        if progress is not None and rows:
            progress.step("index", len(rows), len(rows))

    def _overlay(
        self, scope: str, rows: Iterable[Pending], progress: Progress | None
    ) -> SearchIndex:
        added = [row for row in rows if not row.removed]
        index = engine_named("memory").open(self._folder)
        index.update(self._analysed(scope, added, progress), (), "")
        return index

    def _index(
        self, catalog: Catalog, scope: str, past: int, *, locked: bool = False
    ) -> SearchIndex | None:
        """The index on disk, a new one where there is none to trust; None if nobody may write, or
        another process is at it for long.

        A reader is kept as long as nobody has flushed since it was opened.
        """
        key, flushed = (scope, past), _flushed(catalog, scope, past)
        if key in self._open and self._open[key][1] != flushed:
            self._open.pop(key)[0].close()
        if key not in self._open:
            index = self._usable(catalog, scope, past)
            try:
                if index is None:
                    index, flushed = self._made(catalog, scope, past, locked=locked)
            except (Busy, ReadOnly):
                return None
            self._open[key] = (index, flushed)
        return self._open[key][0]

    def _made(
        self, catalog: Catalog, scope: str, past: int, *, locked: bool
    ) -> tuple[SearchIndex, str]:
        """A new index and its mark in the catalog; what somebody else made while we waited."""
        with nullcontext() if locked else self._disk.lock(self._lock, self._wait):
            flushed = _flushed(catalog, scope, past)
            found = self._usable(catalog, scope, past)
            return (found, flushed) if found else self._make(catalog, scope, past)

    def _make(self, catalog: Catalog, scope: str, past: int) -> tuple[SearchIndex, str]:
        folder = self._folder_of(scope, past)
        self._disk.remove_tree(folder)
        self._disk.make_folders(folder)
        self._disk.write(folder / _OWNER, self._owner_stamp(folder))
        with catalog.writing():
            flushed = _note_flush(catalog, scope, past)
            catalog.db.execute(
                "INSERT OR REPLACE INTO pending "
                "SELECT scope, past, key, 0 FROM document WHERE scope = ? AND past = ?",
                (scope, past),
            )
        index = self._engine.open(folder)
        index.update((), (), _stamp(catalog))
        seal(folder, self._disk)
        return index, flushed

    def _usable(self, catalog: Catalog, scope: str, past: int) -> SearchIndex | None:
        """The index of this catalog on the disk, whole."""
        index = self._trusted(self._folder_of(scope, past))
        if index is None or index.stamp() == _stamp(catalog):
            return index
        index.close()
        return None

    def _trusted(self, folder: Path) -> SearchIndex | None:
        """The index in a folder that we made ourselves; None for any other or a damaged one. If it
        cannot be used, somebody may be throwing it away just now: then it is looked for again."""
        for is_last in (False, False, True):
            try:
                whole = self._is_ours(folder) and is_sealed(folder, self._disk)
                return self._engine.open(folder) if whole else None
            except Corrupt:
                return None
            except Unavailable:
                if is_last:
                    raise
        return None

    def _is_ours(self, folder: Path) -> bool:
        try:
            return hmac.compare_digest(self._disk.read(folder / _OWNER), self._owner_stamp(folder))
        except (FileNotFoundError, PcpfsError):
            return False

    def _owner_stamp(self, folder: Path) -> bytes:
        """Bound to this user, this folder and this version: a copied folder has no valid one."""
        about = folder.stat()
        text = f"{index_version(self._engine)}\n{folder}\n{about.st_dev}:{about.st_ino}"
        return hmac.new(self._secret(), os.fsencode(text), "sha256").hexdigest().encode()


def index_folder(folder: Path, scope: str, past: int) -> Path:
    """Where the index of one scope lies."""
    return folder / f"{hashlib.sha256(scope.encode()).hexdigest()[:16]}-{past}"


def _stamp(catalog: Catalog) -> str:
    return catalog.meta("catalog_id") or ""


def _flushed(catalog: Catalog, scope: str, past: int) -> str:
    """When the index was last flushed or made; differs after each time."""
    return catalog.meta(_mark(scope, past)) or ""


def _mark(scope: str, past: int) -> str:
    return f"flushed {past} {scope}"


def _forget_pending(catalog: Catalog, rows: Iterable[Pending]) -> None:
    catalog.db.executemany(
        "DELETE FROM pending WHERE scope = ? AND past = ? AND key = ? AND removed = ?", rows
    )


def _note_flush(catalog: Catalog, scope: str, past: int) -> str:
    """Within a writing: a mark that no other flush has, of this catalog or another one."""
    mark = f"{_stamp(catalog)} {catalog.generation}"
    catalog.set_meta(_mark(scope, past), mark)
    return mark


def _all_documents(catalog: Catalog, scope: str, past: int) -> list[Pending]:
    rows = catalog.query(
        "SELECT scope, past, key, 0 FROM document WHERE scope = ? AND past = ? "
        "ORDER BY page_id, key",
        (scope, past),
    )
    return [Pending(*row) for row in rows]


class Masked:
    """An index without some of its documents, with exact statistics of the rest."""

    def __init__(self, index: SearchIndex, hidden: frozenset[str]) -> None:
        self._index = index
        table = index.documents()
        numbered = enumerate(table.keys)
        self._hidden = frozenset(n for n, key in numbered if key in hidden) - table.dead
        self._table = self._without(table)

    def stamp(self) -> str:
        return self._index.stamp()

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        raise NotImplementedError("a masked index is only read")

    def documents(self) -> DocumentTable:
        return self._table

    def postings(self, term: str) -> Postings:
        found = self._index.postings(term)
        if not self._hidden.intersection(found.documents):
            return found
        kept = [n for n, number in enumerate(found.documents) if number not in self._hidden]
        size = POSTING_BYTES
        counts = b"".join(found.counts[n * size : (n + 1) * size] for n in kept)
        return Postings([found.documents[n] for n in kept], counts)

    def terms_from(self, prefix: str) -> Iterator[str]:
        return self._index.terms_from(prefix)

    def close(self) -> None:
        """The index itself stays open."""

    def _without(self, table: DocumentTable) -> DocumentTable:
        holders, totals = list(table.holders), list(table.totals)
        for number in self._hidden:
            for field, lengths in enumerate(table.lengths):
                holders[field] -= lengths[number] > 0
                totals[field] -= lengths[number]
        return DocumentTable(
            table.keys,
            table.factors,
            table.lengths,
            table.dead | self._hidden,
            table.count - len(self._hidden),
            tuple(holders),
            tuple(totals),
        )
