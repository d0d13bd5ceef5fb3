"""The file of a store's catalog: opened, watched for replacement, built anew by one at a time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pcpfs.disk import LITTER, Disk
from pcpfs.errors import Corrupt, ReadOnly, StorageFull
from pcpfs.ports import Entropy
from pcpfs.store.catalogs.catalog import Catalog

CATALOG = "catalog.sqlite"
BUILD_LOCK = "catalog-lock"
_LOGS = ("-wal", "-shm")
_NEVER = -1

Fill = Callable[[Catalog], None]


class CatalogFile:
    """Knows which file a process has open. `lock` lies where nobody removes it with the folder."""

    def __init__(self, folder: Path, lock: Path, disk: Disk, entropy: Entropy, wait: float) -> None:
        self._file = folder / CATALOG
        self._lock = lock
        self._disk = disk
        self._entropy = entropy
        self._wait = wait
        self._inode: int | None = _NEVER

    def is_current(self) -> bool:
        """Whether nobody removed or replaced the file since this process opened or built it."""
        return _inode(self._file) == self._inode

    def opened(self) -> Catalog | None:
        """The catalog in the file; None if there is none that can be used."""
        while (inode := _inode(self._file)) is not None:
            catalog = Catalog.open(self._file)
            if inode == _inode(self._file):
                self._inode = inode
                return catalog
            if catalog is not None:
                catalog.close()
        return None

    def built(self, fill: Fill, *, anew: bool = False) -> Catalog:
        """A catalog that `fill` filled, or (unless `anew`) that of somebody who was faster.

        Busy if another process builds for longer than one waits; where nothing can be written, a
        catalog in memory.
        """
        try:
            with self._disk.lock(self._lock, self._wait):
                found = None if anew else self.opened()
                return found or self._build(fill)
        except (ReadOnly, StorageFull):
            catalog = Catalog.create(Path(":memory:"))
            fill(catalog)
            self._inode = _inode(self._file)
            return catalog

    def copied(self, catalog: Catalog) -> Catalog:
        """A catalog that says the same, in a new file without anything that this one has deleted;
        what unfinished builders left goes too. Whoever has the old file open keeps it until they
        look."""
        with self._disk.lock(self._lock, self._wait):
            self._disk.sweep(self._file.parent)
            unfinished = self._file.parent / f"{LITTER}{self._entropy.random(8).hex()}.sqlite"
            catalog.copy_to(unfinished)
            self._disk.sync(unfinished)
            catalog.close()
            self._replace(unfinished)
            found = self.opened()
        if found is None:
            raise Corrupt(f"{self._file} cannot be opened right after it was copied")
        return found

    def _build(self, fill: Fill) -> Catalog:
        """It gets its name when it is complete, so that nobody opens half of one."""
        self._disk.make_folders(self._file.parent)
        identity = self._entropy.random(8).hex()
        unfinished = self._file.parent / f"{LITTER}{identity}.sqlite"
        try:
            catalog = Catalog.create(unfinished, identity)
            try:
                fill(catalog)
            finally:
                catalog.close()
            self._replace(unfinished)
        except BaseException:
            for name in ("", *_LOGS):
                self._disk.remove(f"{unfinished}{name}")
            raise
        found = self.opened()
        if found is None:
            raise Corrupt(f"{self._file} cannot be opened right after it was built; check the disk")
        return found

    def _replace(self, unfinished: Path) -> None:
        """Whoever has the old catalog open keeps it, with its logs; nobody can open it any more
        when its logs go, and those logs never meet the new one."""
        for name in ("", *_LOGS):
            self._disk.remove(f"{self._file}{name}")
        self._disk.move(unfinished, self._file)


def _inode(file: Path) -> int | None:
    try:
        return file.stat().st_ino
    except FileNotFoundError:
        return None
