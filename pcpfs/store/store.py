"""A store: opening, locking, catching up with its files, and building the catalog anew.

The library entry is `Store.open(path)` (or `Store.init`), then `store.session(principal)`.
"""

from __future__ import annotations

import logging
import os
import platform
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from pcpfs.clock import SystemClock, SystemEntropy
from pcpfs.disk import LITTER, Disk
from pcpfs.errors import Busy, Conflict, Corrupt, NotFound, PcpfsError, ReadOnly, Unavailable
from pcpfs.git import Git, find_repository
from pcpfs.model.ids import StoreId, base32
from pcpfs.model.pages import Principal
from pcpfs.ports import Clock, Entropy, Progress
from pcpfs.store import layout
from pcpfs.store.catalog import Catalog
from pcpfs.store.config import FORMAT, LOCAL_ATTRIBUTES, Config, generated_files
from pcpfs.store.event_lines import EventLines
from pcpfs.store.intents import Intent, recover
from pcpfs.store.local import LocalState
from pcpfs.store.merging import needs_settling, settle
from pcpfs.store.objects import Objects
from pcpfs.store.refresh import catch_up, rebuild
from pcpfs.store.transaction import Transaction
from pcpfs.store.tree import Tree
from pcpfs.store.workshop import Workshop

_log = logging.getLogger(__name__)
CATALOG = "catalog.sqlite"
LOCK = "lock"


class Store:
    """An open store. Not safe to share between threads: open one for each."""

    def __init__(
        self, path: Path, config: Config, clock: Clock, entropy: Entropy, *, wait: float
    ) -> None:
        self.path = path
        self.config = config
        self.clock = clock
        self.entropy = entropy
        self._wait = wait
        self._told: set[str] = set()
        self.disk = Disk()
        self.git = Git.open(path)
        self.local_folder = self.git.common_dir / layout.LOCAL
        self.disposable = path / layout.DISPOSABLE
        self.objects = Objects(path, self.disk, EventLines(path, lambda: self.catalog))
        self._open_local()
        self.tree = Tree(path, self.disk, self.local, self.objects.payload)
        self.catalog = Catalog.create(Path(":memory:"))
        self._catalog_inode: int | None = None

    @classmethod
    def init(
        cls,
        path: Path,
        *,
        owner: Principal,
        nested: bool = False,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
    ) -> Self:
        """Make a store in a new or empty folder; with `nested` also inside another repository,
        which is told to ignore it. Conflict if the folder holds anything."""
        clock, entropy, disk = clock or SystemClock(), entropy or SystemEntropy(), Disk()
        path = Path(os.path.abspath(path))
        if path.exists() and (not path.is_dir() or any(os.scandir(path))):
            raise Conflict(f"{path} is not an empty folder; choose another one", path=str(path))
        disk.make_folders(path)
        around = find_repository(path)
        Git.init(path, nested=nested)
        if around is not None:
            _hide_from(around, path, disk)
        config = Config(StoreId("st_" + base32(entropy.random(16))), owner)
        disk.write(path / layout.CONFIG, config.encode())
        store = cls.open(path, clock=clock, entropy=entropy)
        with store.writing("init", owner) as transaction:
            files = generated_files() | {layout.CONFIG: config.encode()}
            transaction.commit(f"init: {path.name}", [("Pcpfs-Operation", "init")], files)
        return store

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        wait: float = 30.0,
    ) -> Self:
        """Open the store in a folder, recover from a crash, and catch up with its files.

        NotFound if there is none, Corrupt if `pcpfs.toml` cannot be used. `wait` is how many
        seconds a writer waits for another one.
        """
        path = Path(os.path.abspath(path))
        file = path / layout.CONFIG
        try:
            config = Config.decode(Disk().read(file), os.fspath(file))
        except FileNotFoundError as error:
            raise NotFound(f"{path} is no pcpfs store; make one with: pcpfs init DIR") from error
        store = cls(path, config, clock or SystemClock(), entropy or SystemEntropy(), wait=wait)
        store.refresh()
        return store

    @staticmethod
    def find(start: Path) -> Path | None:
        """The nearest folder, from `start` upwards, that holds a store."""
        start = Path(os.path.abspath(start))
        candidates = (start, *start.parents)
        return next((folder for folder in candidates if (folder / layout.CONFIG).is_file()), None)

    @property
    def store_id(self) -> StoreId:
        return self.config.store_id

    @property
    def format(self) -> int:
        return FORMAT

    @property
    def owner(self) -> Principal:
        return self.config.owner

    def close(self) -> None:
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
        with self.disk.lock(self.local_folder / LOCK, self._wait):
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
        if (self.local_folder / "intent.json").exists() or needs_settling(self.workshop):
            self._recover(locked)

    def edits(self) -> tuple[str, ...]:
        """Files in `tree/` that somebody changed since we laid them, by path in the store."""
        return self.tree.edits()

    def reindex(self, progress: Progress | None = None) -> int:
        """Build the catalog anew from the files alone; the number of pages. The text indexes are
        then built at the next search."""
        with self.disk.lock(self.local_folder / LOCK, self._wait):
            self.disk.remove_tree(self.disposable)
            self._catalog_inode = None
            self._open_catalog(progress)
            return len(self.catalog.pages())

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

    def _recover(self, locked: bool) -> None:
        if locked:
            self._settle()
            intent = Intent.read(self.workshop)
            if intent is not None:
                self.disk.sweep(self.local_folder)
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

    def _warn_once(self, message: str) -> None:
        if message not in self._told:
            self._told.add(message)
            _log.warning("%s", message)

    def _finish(self, intent: Intent) -> None:
        """Finish a crashed transaction; where that fails readers go on, and the next write tries
        again."""
        try:
            recover(self.workshop, intent, self.clock.now())
        except PcpfsError as error:
            _log.warning("an unfinished operation waits: %s", error.message)

    def _open_local(self) -> None:
        with suppress(ReadOnly):  # then others have laid them, or nobody ever writes here
            self.disk.make_folders(self.local_folder)
            self.git.lay_info(self.disk, "attributes", LOCAL_ATTRIBUTES.decode())
        with suppress(Unavailable):  # another process does it now, or a later one will
            self.git.keep_ours_in_merges()
        file = self.local_folder / "local.sqlite"
        try:
            self.local = LocalState(file, str(self.path), platform.node(), self.entropy)
        except sqlite3.OperationalError as error:
            raise Unavailable(f"{file} cannot be used: {error}") from error
        except sqlite3.DatabaseError as error:
            raise Corrupt(
                f"{file} is damaged; remove it, and `pcpfs add` your sources again",
                path=str(file),
            ) from error

    def _open_catalog(self, progress: Progress | None = None) -> None:
        """Use the catalog file that is there, also when somebody removed or replaced it."""
        file = self.disposable / CATALOG
        inode = _inode(file)
        if inode is not None and inode == self._catalog_inode:
            return
        found = Catalog.open(file) if inode is not None else None
        if found is None:
            found = self._built(file, lambda catalog: rebuild(self._workshop_of(catalog), progress))
        self.catalog = found
        self._catalog_inode = _inode(file)

    def _workshop_of(self, catalog: Catalog) -> Workshop:
        self.catalog = catalog
        return self.workshop

    def _built(self, file: Path, fill: Callable[[Catalog], None]) -> Catalog:
        """A new catalog, in its file when it is complete, so that nobody opens half of one."""
        try:
            self.disk.make_folders(self.disposable)
            identity = self.entropy.random(8).hex()
            unfinished = self.disposable / f"{LITTER}{identity}.sqlite"
            catalog = Catalog.create(unfinished, identity)
        except ReadOnly:
            catalog = Catalog.create(Path(":memory:"))
            fill(catalog)
            return catalog
        try:
            fill(catalog)
            catalog.close()
            for log in ("-wal", "-shm"):  # of an older catalog: it must not meet the new one
                self.disk.remove(f"{file}{log}")
            self.disk.move(unfinished, file)
        except BaseException:
            catalog.close()
            self.disk.remove(unfinished)
            raise
        opened = Catalog.open(file)
        if opened is None:
            raise Corrupt(f"{file} cannot be opened right after it was built; check the disk")
        return opened


def _inode(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None


def _hide_from(repository: Path, folder: Path, disk: Disk) -> None:
    """Tell the repository around a nested store to ignore it; only its private exclude file."""
    outer = Git.open(repository)
    exclude = outer.common_dir / "info" / "exclude"
    try:
        known = disk.read(exclude)
    except FileNotFoundError:
        known = b""
    line = b"/" + os.fsencode(folder.relative_to(repository).as_posix()) + b"/\n"
    if line not in known:
        ending = b"" if known.endswith(b"\n") or not known else b"\n"
        disk.write(exclude, known + ending + line)
