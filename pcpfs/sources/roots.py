"""Roots: source trees that feed a scope, and where they lie on this machine."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import Conflict, NotFound, PcpfsError, UsageError
from pcpfs.git import Repository, find_repository
from pcpfs.model.answers import Skipped
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import CloneId, PageId, RootId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, escaped, refuse_traversal
from pcpfs.model.roots import RootAdded, Walked
from pcpfs.sources.dating import LastScan
from pcpfs.sources.scanned import ScanOptions
from pcpfs.sources.statcache import StatCache
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import RootRow
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Root:
    """A root that is bound on this machine. `path` is absolute; it may not be there now."""

    root_id: RootId
    namespace: Namespace
    name: str
    kind: str
    path: Path
    options: ScanOptions
    is_observer: bool
    walked: Walked | None = None


@dataclass(frozen=True, slots=True)
class ErasedPaths:
    """The paths of a root whose pages were erased: nothing but a receipt says which they are."""

    namespace: Namespace
    root_id: str
    pages: frozenset[str]

    def __contains__(self, path: object) -> bool:
        if not self.pages or not isinstance(path, str):
            return False
        return PageId.of_source(self.namespace, self.root_id, path) in self.pages


DEFAULTS = ScanOptions()


@dataclass(frozen=True, slots=True)
class HistoryWish:
    """What was asked of a root's history: to record the branch that is checked out now, with what
    held at `since` and later (None: all); and what the other branches did, if `all_branches` (None:
    as before)."""

    since: Instant | None = None
    all_branches: bool | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What `add` was asked for; without a name the folder's own is taken."""

    path: Path
    namespace: Namespace
    name: str | None = None
    options: ScanOptions = DEFAULTS
    take_over: bool = False
    history: HistoryWish | None = None


class Roots:
    """The roots of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> tuple[Root, ...]:
        """Bound roots, by scope and name. An unbound one is never scanned and never "deleted"."""
        bound = self._store.local.roots()
        return tuple(
            self._root(row, Path(bound[RootId(row.root_id)].path))
            for row in self._store.catalog.roots()
            if RootId(row.root_id) in bound
        )

    def without_erased(self, root: Root) -> Root:
        """A root as it is to be scanned now: a watcher may know it from before an erasure."""
        exclusions = self._erased(root.namespace, root.root_id)
        return replace(root, options=replace(root.options, exclusions=exclusions))

    def now(self, root: Root) -> Root:
        """A root as the store knows it now: another process may have recorded its history."""
        return next((known for known in self.all() if known.root_id == root.root_id), root)

    def unbound(self) -> tuple[RootRow, ...]:
        """Roots that lie nowhere on this machine, as far as this clone knows."""
        bound = self._store.local.roots()
        rows = self._store.catalog.roots()
        return tuple(row for row in rows if RootId(row.root_id) not in bound)

    def named(self, names: Sequence[str]) -> tuple[Root, ...]:
        """The roots of these names (none: all); NotFound for a name that is none."""
        roots = self.all()
        if not names:
            return roots
        unknown = sorted(set(names) - {root.name for root in roots})
        if unknown:
            raise NotFound(f"there is no source {unknown[0]!r} here; see pcpfs status")
        return tuple(root for root in roots if root.name in names)

    def bind(self, transaction: Transaction, wanted: Wanted) -> Root:
        """Record a root for a path, or find the one that is bound there already.

        CASES: the same real path is the known root (with the new options); the same name with
        another path is a Conflict. So is a root that another clone observes, unless taken over.
        """
        real = self._real(wanted.path)
        known = self._known(real, wanted)
        options = wanted.options
        if known is not None and known.is_observer and options in (known.options, DEFAULTS):
            return known
        event = RootAdded(
            root_id=known.root_id if known else self._new_id(),
            name=known.name if known else self._free_name(wanted.name or _name_of(real)),
            kind="git" if find_repository(real) else "folder",
            observer=self._store.local.clone,
            fingerprint=fingerprint(real),
            include=options.include,
            max_bytes=options.max_size,
        )
        transaction.scope_change(wanted.namespace, event)
        self._store.local.bind_root(event.root_id, str(real))
        kind = event.kind
        options = replace(options, exclusions=self._erased(wanted.namespace, event.root_id))
        walked = known.walked if known else None
        return Root(event.root_id, wanted.namespace, event.name, kind, real, options, True, walked)

    def _real(self, path: Path) -> Path:
        real = Path(os.path.realpath(path))
        if not real.is_dir():
            raise NotFound(f"{path} is no folder; add takes a folder of sources")
        store = Path(os.path.realpath(self._store.path))
        if real == store or store in real.parents:
            raise UsageError(f"{path} lies in the store itself; add a folder outside of it")
        return real

    def _new_id(self) -> RootId:
        return RootId("root_" + base32(self._store.entropy.random(16)))

    def cache_file(self, root: Root) -> Path:
        return self._store.disposable / f"stat-{root.root_id}"

    def cache(self, root: Root) -> StatCache:
        """What is remembered of the files of a root; empty where that is lost, or where a secret
        that was accepted is one again, so that files must be looked through anew."""
        try:
            stamp, raw = self._stamp(root), Disk().read(self.cache_file(root))
            return StatCache.from_bytes(raw.removeprefix(stamp) if raw.startswith(stamp) else b"")
        except (FileNotFoundError, PcpfsError):
            return StatCache()

    def keep_cache(self, root: Root, cache: StatCache) -> None:
        stamp, file = self._stamp(root), self.cache_file(root)
        cache.save(lambda raw: self._store.disk.write_volatile(file, stamp + raw))

    def _stamp(self, root: Root) -> bytes:
        """What was taken back of the secrets that were accepted in the scope; mostly nothing."""
        taken_back = self._store.catalog.query(
            "SELECT salt FROM accepted WHERE scope = ? AND is_over ORDER BY salt", (root.namespace,)
        )
        salts = "".join(f"{salt}\n" for (salt,) in taken_back)
        return hashlib.sha256(salts.encode()).digest() if salts else b""

    def counts(self, root_id: str) -> tuple[int, int]:
        """How many files and symbols of a root hold now, whoever observes it."""
        query = self._store.catalog.query
        ((files,),) = query("SELECT count(*) FROM page WHERE root_id = ? AND is_open", (root_id,))
        ((symbols,),) = query(
            "SELECT count(*) FROM page JOIN frame USING (page_id) "
            "WHERE page.root_id = ? AND frame.valid_to IS NULL AND frame.kind <> ?",
            (root_id, FILE_KIND),
        )
        return files, symbols

    def skipped(self, root: Root) -> tuple[Skipped, ...]:
        """What the last looks left out, by path."""
        bound = self._store.local.roots()[root.root_id]
        return tuple(
            Skipped(p, reason, root.name, detail or None) for p, reason, detail in bound.skipped
        )

    def note_sync(
        self, root: Root, at: Instant, skipped: Iterable[Skipped], scanned: Instant | None
    ) -> None:
        """Remember when a root was looked at, what was left out, and (None: not now) when a look at
        all of it began."""
        rows = [(skip.path, skip.reason, skip.detail or "") for skip in skipped]
        self._store.local.note_sync(root.root_id, at.microseconds, rows)
        if scanned is not None:
            self._store.local.note_scan(root.root_id, scanned.microseconds)

    def last_scan(self, root: Root) -> LastScan:
        at = self._store.local.scanned_at(root.root_id)
        return LastScan(None if at is None else Instant(at), self.skipped(root))

    def _known(self, real: Path, wanted: Wanted) -> Root | None:
        """The root that is meant, if it is known: by its path, else an unbound one by its name."""
        roots = self.all()
        for root in roots:
            if Path(os.path.realpath(root.path)) == real:
                return self._usable(root, wanted)
        same = next((root for root in roots if root.name == wanted.name), None)
        if same is not None:
            raise Conflict(
                f"the source {same.name!r} is {same.path}; choose another name with --root"
            )
        name = wanted.name or _name_of(real)
        bound = {root.root_id for root in roots}
        rows = [row for row in self._store.catalog.roots() if row.root_id not in bound]
        unbound = [row for row in rows if row.name == name and row.scope == wanted.namespace]
        return self._usable(self._root(unbound[0], real), wanted) if unbound else None

    def _usable(self, root: Root, wanted: Wanted) -> Root:
        if root.namespace != wanted.namespace:
            raise Conflict(
                f"{root.name} feeds the scope {root.namespace} already; a source has one scope"
            )
        if not root.is_observer and not wanted.take_over:
            raise Conflict(
                f"another clone of this store observes {root.name}; to do it from here from now "
                "on: --take-over"
            )
        return root

    def _free_name(self, name: str) -> str:
        refuse_traversal(name, "root name")
        if any(row.name == name for row in self._store.catalog.roots()):
            raise Conflict(f"there is a source {name!r} already; choose another name with --root")
        return name

    def _erased(self, namespace: Namespace, root_id: str) -> ErasedPaths:
        return ErasedPaths(namespace, root_id, self._store.catalog.excluded_pages(namespace))

    def _root(self, row: RootRow, path: Path) -> Root:
        return Root(
            RootId(row.root_id),
            Namespace(row.scope),
            row.name,
            row.kind,
            path,
            ScanOptions(
                tuple(decode_list(row.include)),
                self._erased(Namespace(row.scope), row.root_id),
                row.max_bytes,
            ),
            CloneId(row.observer) == self._store.local.clone,
            Walked.from_json(json.loads(row.walked)) if row.walked else None,
        )


def at_or_below(path: str) -> Sequence[tuple[str, tuple[str, ...]]]:
    """Conditions that together say that the column `path` is this path or lies below it.

    One question for each: SQLite would answer both at once by looking at every file of the root.
    """
    if not path:
        return (("1", ()),)
    path = escaped(path)
    return (("path = ?", (path,)), ("path > ? AND path < ?", (path + "/", path + "0")))


def fingerprint(path: Path) -> str:
    """The first commit of the source's history; empty where it has none that we may read."""
    repository = find_repository(path)
    if repository is None:
        return ""
    try:
        return Repository.open(repository).first_commit() or ""
    except PcpfsError:
        return ""


def _name_of(real: Path) -> str:
    """A folder's name; bytes that are no UTF-8 become replacement characters."""
    return os.fsencode(real.name or "root").decode("utf-8", "replace")
