"""A store: opening, locking, catching up with its files, and building the catalog anew.

The library entry is `Store.open(path)` (or `Store.init`), then `store.session(principal)`.
"""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from pcpfs.clock import SystemClock, SystemEntropy
from pcpfs.disk import Disk
from pcpfs.errors import Busy, NotFound, PcpfsError, ReadOnly, Unavailable
from pcpfs.git import Git
from pcpfs.git.late_index import LateGit, lags
from pcpfs.model.ids import StoreId, base32
from pcpfs.model.pages import Principal
from pcpfs.ports import Clock, Entropy, Progress
from pcpfs.store import founding, layout
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.catalog_file import BUILD_LOCK, CatalogFile
from pcpfs.store.catalogs.refresh import catch_up, rebuild
from pcpfs.store.config import FORMAT, LOCAL_ATTRIBUTES, Config, generated_files
from pcpfs.store.events.event_lines import EventLines
from pcpfs.store.intents import INTENT, Intent, recover
from pcpfs.store.local import LocalState
from pcpfs.store.merges.index_lag import settle_index
from pcpfs.store.merges.settling import needs_settling, settle
from pcpfs.store.nested import nearest_store
from pcpfs.store.objects import Objects
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.tree import Tree
from pcpfs.store.workshop import Workshop

if TYPE_CHECKING:
    from pcpfs.search.analysis import Document
    from pcpfs.store.searches.text_indexes import TextIndexes

_log = logging.getLogger(__name__)
LOCK = "lock"
INDEX_LOCK = "index-lock"


class Store:
    """An open store. Not safe to share between threads: open one for each."""

    def __init__(
        self,
        path: Path,
        config: Config,
        clock: Clock,
        entropy: Entropy,
        *,
        disk: Disk,
        wait: float,
    ) -> None:
        self.path = path
        self.config = config
        self.clock = clock
        self.entropy = entropy
        self.wait = wait
        self._told: set[str] = set()
        self.disk = disk
        self.git = Git.open(path)
        self.local_folder = self.git.common_dir / layout.LOCAL
        self.disposable = path / layout.DISPOSABLE
        self.objects = Objects(path, self.disk, EventLines(path, lambda: self.catalog))
        self._open_local()
        laying = disk.staged_in(self.local_folder)
        self.tree = Tree(path, laying, self.local, self.objects.payload)
        self.catalog = Catalog.create(Path(":memory:"))
        self._catalog_file = CatalogFile(
            self.disposable, self.local_folder / BUILD_LOCK, disk, entropy, wait
        )

    @classmethod
    def init(
        cls,
        path: Path,
        *,
        owner: Principal,
        nested: bool = False,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        disk: Disk | None = None,
    ) -> Self:
        """Make a store in a new or empty folder; with `nested` also inside another repository,
        which is told to ignore it. Conflict if the folder holds anything."""
        clock, entropy, disk = clock or SystemClock(), entropy or SystemEntropy(), disk or Disk()
        path = Path(os.path.abspath(path))
        founding.begin(path, disk, nested=nested)
        config = Config(StoreId("st_" + base32(entropy.random(16))), owner)
        store = cls(path, config, clock, entropy, disk=disk, wait=30.0)
        try:
            with store.writing("init", owner) as transaction:
                files = generated_files() | {layout.CONFIG: config.encode()}
                transaction.commit(f"init: {path.name}", [("Pcpfs-Operation", "init")], files)
        except BaseException:
            store.close()
            raise
        founding.end(path, disk)
        return store

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        disk: Disk | None = None,
        wait: float = 30.0,
    ) -> Self:
        """Open the store in a folder, recover from a crash, and catch up with its files.

        NotFound if there is none, Corrupt if `pcpfs.toml` cannot be used. `wait` is how many
        seconds a writer waits for another one.
        """
        path, disk = Path(os.path.abspath(path)), disk or Disk()
        file = path / layout.CONFIG
        try:
            config = Config.decode(disk.read(file), os.fspath(file))
        except FileNotFoundError as error:
            raise NotFound(f"{path} is no pcpfs store; make one with: pcpfs init DIR") from error
        clock, entropy = clock or SystemClock(), entropy or SystemEntropy()
        store = cls(path, config, clock, entropy, disk=disk, wait=wait)
        store.refresh()
        return store

    @staticmethod
    def find(start: Path) -> Path | None:
        """The nearest folder, from `start` upwards, that is a store or a project with a nested
        one: the store."""
        return nearest_store(start)

    @property
    def store_id(self) -> StoreId:
        return self.config.store_id

    @property
    def format(self) -> int:
        return FORMAT

    @property
    def owner(self) -> Principal:
        return self.config.owner

    def commit_late(self) -> None:
        """Let git's index lag behind the commits of this process, for one that makes many (FACTS:
        the index is the part of a commit that grows with the store). `close` and `settle_index`
        bring it up to date; if neither comes, the next writer does."""
        self.git = LateGit.open(self.path)

    def settle_index(self) -> None:
        """Bring git's index up to date, if it lags; Busy after the waiting time."""
        if lags(self.git):
            with self.disk.lock(self.local_folder / LOCK, self.wait):
                settle_index(self.workshop, self.clock.now(), now=True)

    def close(self) -> None:
        if isinstance(self.git, LateGit):
            with suppress(Unavailable):  # the next writer does it
                self.settle_index()
        self.catalog.close()
        self.local.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def writing(self, operation: str, actor: Principal) -> Iterator[Transaction]:
        """Hold the writer lock and see the newest state; Busy after the waiting time."""
        with self.disk.lock(self.local_folder / LOCK, self.wait):
            settle_index(self.workshop, self.clock.now(), now=False)
            self.refresh(locked=True)
            transaction = Transaction(self.workshop, operation, actor, self.clock.now())
            transaction.carry_on(Intent.read(self.workshop))
            yield transaction

    def refresh(self, *, locked: bool = False) -> None:
        """See what other processes, git or a crash have done to the files since the last look.

        One `stat` and one small file where nothing happened. An unfinished transaction is finished
        if its writer is gone.
        """
        self._open_catalog()
        catch_up(self.workshop)
        if self._is_unfinished() or needs_settling(self.workshop) or self.catalog.has_residue():
            self._recover(locked)

    def look(self) -> None:
        """See what other processes put into the catalog, for doors that must not hang: nobody is
        waited for, nothing is caught up with; somebody else has to `refresh`. Busy while there is
        no catalog."""
        if self.catalog.is_in_memory:
            self.refresh()
        elif not self._catalog_file.is_current():
            found = self._catalog_file.opened()
            if found is None:
                raise Busy("the catalog is being built; try again in a moment")
            self.catalog = found
            self.objects.forget()

    def edits(self) -> tuple[str, ...]:
        """Files in `tree/` that somebody changed since we laid them, by path in the store."""
        return self.tree.edits()

    def reindex(self, progress: Progress | None = None) -> int:
        """Build the catalog anew from the files alone; the number of pages. The text indexes are
        then built at the next search."""
        with self.disk.lock(self.local_folder / LOCK, self.wait):
            self._build_catalog(progress, anew=True)
            with self.disk.lock(self.local_folder / INDEX_LOCK, self.wait):
                self.disk.remove_tree(self.disposable / "index")
            self.disk.remove_tree(self.path / layout.KEPT_THREADS)
            return len(self.catalog.pages("NOT is_beside"))

    @property
    def workshop(self) -> Workshop:
        """What transactions and pinned catalogs work with."""
        return Workshop(
            self.path,
            self.local_folder,
            self.disk,
            self.git,
            self.objects,
            self.catalog,
            self.tree,
            self.local.clone,
        )

    def text_indexes(
        self, documents: Callable[[str, Iterable[str]], Iterable[Document]]
    ) -> TextIndexes:
        """The text indexes, with whoever knows what the documents of a scope say."""
        from pcpfs.machine import user_secret  # noqa: PLC0415 (a write needs neither)
        from pcpfs.store.searches.text_indexes import TextIndexes  # noqa: PLC0415

        return TextIndexes(
            self.disposable / "index",
            self.config.index,
            self.disk,
            lock=self.local_folder / INDEX_LOCK,
            wait=self.wait,
            secret=lambda: user_secret(self.disk, self.entropy),
            documents=documents,
        )

    def renew_caches(self, scopes: Iterable[str]) -> Workshop:
        """Leave nothing of what the catalog has forgotten, nor of these scopes' text indexes, in
        any file or in memory."""
        indexes = self.text_indexes(lambda scope, keys: ())
        with self.disk.lock(self.local_folder / INDEX_LOCK, self.wait):
            self.disk.sweep(self.disposable / "index")
            for scope in scopes:
                indexes.expunge(self.catalog, scope)
            self.catalog = self._catalog_file.copied(self.catalog)
        with self.disk.lock(self.local_folder / layout.LEDGER_LOCK, self.wait):
            self.disk.remove_tree(self.path / layout.KEPT_THREADS)
        for folder in (self.disposable, self.disposable / "index"):
            if folder.is_dir():
                self.disk.sync(folder)  # a power cut brings nothing back
        self.objects.forget()
        return self.workshop

    def let_go(self) -> bool:
        """Open the catalog anew if somebody replaced it, for processes that idle; whether that was
        so."""
        if self._catalog_file.is_current():
            return False
        self._open_catalog()
        return True

    def shorten_logs(self) -> None:
        """Give back what the logs of catalog and local state take, for processes that idle."""
        self.catalog.shorten_log()
        self.local.shorten_log()

    def _recover(self, locked: bool) -> None:
        if locked:
            self._finish_erasure()
            self._settle()
            self._sweep_up()
            intent = Intent.read(self.workshop)
            if intent is not None:
                self._finish(intent)
            return
        try:
            with self.disk.lock(self.local_folder / LOCK, 0):
                self._recover(locked=True)
        except (Busy, ReadOnly):
            return  # its writer is alive, or nobody may write here: readers see what is there

    def _settle(self) -> None:
        """Conclude a merge and lay `tree/` after git moved; where that fails readers go on."""
        if needs_settling(self.workshop):
            try:
                settle(self.workshop, self.clock.now())
            except PcpfsError as error:
                self._warn_once(error.message)
            catch_up(self.workshop)

    def _is_unfinished(self) -> bool:
        waiting = (INTENT, layout.ERASING)
        return any((self.local_folder / name).exists() for name in waiting)

    def _finish_erasure(self) -> None:
        """Finish an erasure that was cut short; where that fails readers go on without those
        pages, and the next command tries again."""
        if not (self.local_folder / layout.ERASING).exists():
            return
        from pcpfs.store.erasure.erase_job import resume  # noqa: PLC0415 (hardly ever needed)

        try:
            if resume(self.workshop, self.renew_caches):
                catch_up(self.workshop)
        except PcpfsError as error:
            self._warn_once(f"an erasure is not finished: {error.message}")

    def _sweep_up(self) -> None:
        """Remove what came back of erased pages; nobody reads it meanwhile."""
        if not self.catalog.has_residue() or self.git.unfinished() is not None:
            return
        from pcpfs.store.erasure.residues import sweep_up  # noqa: PLC0415 (hardly ever needed)

        try:
            sweep_up(self.workshop, self.renew_caches, self.clock.now())
        except PcpfsError as error:
            self._warn_once(f"something of an erased page is still here: {error.message}")

    def _warn_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            _log.warning("%s", message)

    def _finish(self, intent: Intent) -> None:
        """Finish a crashed transaction; where that fails readers go on, and the next write tries
        again."""
        try:
            self.disk.sweep(self.local_folder)
            done = recover(self.workshop, intent, self.clock.now())
        except PcpfsError as error:
            self._warn_once(f"an unfinished operation waits: {error.message}")
        else:
            for warning in done.warnings:
                self._warn_once(warning)

    def _open_local(self) -> None:
        with suppress(ReadOnly):  # then others have laid them, or nobody ever writes here
            self.disk.make_folders(self.local_folder)
            self.git.lay_info(self.disk, "attributes", LOCAL_ATTRIBUTES.decode())
        with suppress(Unavailable):  # another process does it now, or a later one will
            self.git.keep_ours_in_merges()
        file = self.local_folder / "local.sqlite"
        self.local = LocalState(file, str(self.path), platform.node(), self.entropy)

    def _open_catalog(self) -> None:
        """Use the catalog file that is there, also when somebody removed or replaced it."""
        if self._catalog_file.is_current():
            return
        found = self._catalog_file.opened()
        if found is None:
            self._build_catalog(None)
        else:
            self.catalog = found
        self.objects.forget()

    def _build_catalog(self, progress: Progress | None, *, anew: bool = False) -> None:
        self.catalog = self._catalog_file.built(
            lambda catalog: rebuild(self._workshop_of(catalog), progress), anew=anew
        )

    def _workshop_of(self, catalog: Catalog) -> Workshop:
        self.catalog = catalog
        return self.workshop
