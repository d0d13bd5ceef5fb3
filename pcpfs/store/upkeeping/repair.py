"""Mending a store from what git and the files still have. Nothing is deleted: what is damaged is
replaced by the very bytes that its name or a commit says, or else named.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import NotFound, PcpfsError
from pcpfs.git import Content, Git, Person
from pcpfs.git.health import faults, mend, point_again
from pcpfs.git.history import blobs_ever
from pcpfs.model.answers import Problem
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import PageId
from pcpfs.ports import Progress
from pcpfs.store import layout
from pcpfs.store.catalogs.refresh import refold_paths
from pcpfs.store.config import Config, generated_files
from pcpfs.store.erasure.erase_job import DAMAGED
from pcpfs.store.folding.kinds import Kind, fits, kind_of
from pcpfs.store.store import LOCK, Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.tree import wanted_heads
from pcpfs.store.upkeeping.checks import (
    CATALOG_DAMAGED,
    GENERATED,
    GIT,
    INDEX,
    LOCAL,
    SETTINGS,
    committed,
    read,
    settings_trouble,
)
from pcpfs.store.upkeeping.fsck import fsck

_CACHES = (CATALOG_DAMAGED, INDEX)
_TRUTH = ("corrupt", "missing", "altered", "payload", "revision", "frames", "misplaced")
_MOST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found and is mended, and what is left; a store is ok if nothing is."""

    ok: bool
    checked: int
    repaired: tuple[Problem, ...]
    problems: tuple[Problem, ...]
    dangling: tuple[Problem, ...] = ()


def repair(
    store: Store, progress: Progress | None = None, already: Sequence[Problem] = ()
) -> RepairReport:
    """Mend all that can be mended; what comes to light by it as well. `already` was mended before
    the store could be opened."""
    report = fsck(store, progress)
    found = {*already, *report.problems}
    for _ in range(_MOST_ROUNDS):
        if report.ok:
            break
        _mend(store, report.problems)
        before, report = report, fsck(store, progress)
        found |= set(report.problems)
        if report.problems == before.problems:
            break
    repaired = sorted(found - set(report.problems), key=lambda p: (p.path, p.code, p.message))
    return RepairReport(
        report.ok, report.checked, tuple(repaired), report.problems, report.dangling
    )


def mend_to_open(path: Path) -> tuple[Problem, ...]:
    """Mend what keeps a store from being opened: its settings, and this clone's own state. What
    was damaged is named. NotFound if the folder holds no store."""
    disk, git = Disk(), Git.open(path)
    mended = []
    point_again(git)
    had = committed(git, layout.CONFIG)
    try:
        now = disk.read(path / layout.CONFIG)
    except FileNotFoundError:
        now = None
    if had is None and now is None:
        raise NotFound(f"{path} is no pcpfs store, and none was committed there")
    why = None if had is None else settings_trouble(now, had)
    if had is not None and why is not None:
        disk.write(path / layout.CONFIG, had)
        mended.append(Problem(SETTINGS, layout.CONFIG, f"{layout.CONFIG} {why}"))
    local = git.common_dir / layout.LOCAL
    with disk.lock(local / LOCK):
        trouble = _sqlite_trouble(local / "local.sqlite")
        if trouble is not None:
            _set_aside(disk, local, ("local.sqlite", "local.sqlite-wal", "local.sqlite-shm"))
            name = f".git/{layout.LOCAL}/local.sqlite"
            mended.append(
                Problem(LOCAL, name, f"{name} was damaged ({trouble}); add your sources again")
            )
    return tuple(mended)


def _sqlite_trouble(file: Path) -> str | None:
    if not file.exists():
        return None
    try:
        with closing(sqlite3.connect(file)) as database:
            ((said,),) = database.execute("PRAGMA integrity_check(1)").fetchall()
            return None if said == "ok" else str(said)
    except sqlite3.DatabaseError as error:
        return str(error)


def _set_aside(disk: Disk, folder: Path, names: Iterable[str]) -> None:
    for name in names:
        if (folder / name).exists():
            disk.move(folder / name, folder / DAMAGED / name)


def _mend(store: Store, problems: Sequence[Problem]) -> None:
    """One round: first what the rest needs."""
    if any(problem.code in _CACHES for problem in problems):
        store.reindex()
    with store.writing("repair", store.owner) as transaction:
        if any(problem.code == GIT for problem in problems):
            mend(store.git, faults(store.git), store.disk, store.local_folder / DAMAGED)
        _Mending(store, transaction).run(problems)


@dataclass(slots=True)
class _Mending:
    """One repair under the writer's lock; collects what is to be committed."""

    store: Store
    transaction: Transaction
    files: dict[str, Content] = field(default_factory=dict)

    def run(self, problems: Sequence[Problem]) -> None:
        by_code: dict[str, list[str]] = {}
        for problem in problems:
            by_code.setdefault(problem.code, []).append(problem.path)
        truth = {path for code in _TRUTH for path in by_code.get(code, ())}
        lost = {path for folder in by_code.get("incomplete", ()) for path in self._ever(folder)}
        restored = [path for path in sorted(truth | lost) if self._restore(path)]
        for path in by_code.get("uncommitted", ()):
            self._keep(path)
        if by_code.get(SETTINGS):
            self._settings()
        for path in by_code.get(GENERATED, ()):
            self._write(path, generated_files()[path])
        self._lay_tree([*restored, *self.files])
        self._commit(problems)

    def _restore(self, path: str) -> bool:
        """Put the right bytes in place; False where none are found, or what is there is right."""
        if kind_of(path) is not Kind.TRUTH or self._is_erased(path):
            return False
        there = self._read(path)
        for raw in self._candidates(path):
            if raw == there:
                return False
            if _is_right(path, raw):
                self._write(path, raw)
                return True
        return False

    def _candidates(self, path: str) -> Iterator[bytes]:
        """What HEAD holds, then whatever any commit at hand ever held."""
        had = committed(self.store.git, path)
        if had is not None:
            yield had
        try:
            blobs = blobs_ever(self.store.git, path).get(path, [])
            yield from filter(None, self.store.git.show_blobs(map(str, blobs)))
        except PcpfsError:
            return  # git's own damage is named by its own check

    def _ever(self, folder: str) -> list[str]:
        """The files of a page that the history has and the work tree lacks."""
        try:
            found = blobs_ever(self.store.git, folder)
        except PcpfsError:
            return []
        return [path for path in found if not (self.store.path / path).exists()]

    def _is_erased(self, path: str) -> bool:
        """A receipt outranks every object of its page."""
        of = layout.page_of(path)
        return (
            of is not None
            and (self.store.path / of[0].folder / "erased" / f"{of[1]}.json").exists()
        )

    def _keep(self, path: str) -> None:
        """Commit a file of the truth that is in no commit, if it is what its name says."""
        raw = self._read(path)
        if raw is not None and kind_of(path) is Kind.TRUTH and _is_right(path, raw):
            self.files[path] = self.store.path / path

    def _settings(self) -> None:
        """Commit an edit that leaves the owner alone; restore what is damaged."""
        now, had = read(self.store, layout.CONFIG), committed(self.store.git, layout.CONFIG)
        if had is None:
            return
        if now is None or settings_trouble(now, had) is not None:
            self._write(layout.CONFIG, had)
        elif Config.decode(now, "").owner == Config.decode(had, "").owner:
            self.files[layout.CONFIG] = now

    def _write(self, path: str, raw: bytes) -> None:
        self.store.disk.write(self.store.path / path, raw)
        self.files[path] = raw

    def _read(self, path: str) -> bytes | None:
        try:
            return self.store.disk.read(self.store.path / path)
        except (FileNotFoundError, PcpfsError):
            return None

    def _lay_tree(self, paths: Sequence[str]) -> None:
        """Fold anew what was restored, and lay what `tree/` lacks; an edit stays as it is."""
        shop, catalog = self.store.workshop, self.store.catalog
        with catalog.writing():
            claims = refold_paths(shop, list(paths))
        rows = catalog.pages("path IS NOT NULL AND NOT is_source AND lifecycle <> 'tombstoned'")
        lacking = [
            PageId(row.page_id)
            for row in rows
            if any(not (self.store.path / file).exists() for file in wanted_heads(catalog, [row]))
        ]
        laid = shop.tree.lay(catalog, lacking, claims)
        self.files.update(laid.written)
        self.files.update(dict.fromkeys(laid.removed))

    def _commit(self, problems: Sequence[Problem]) -> None:
        git, actor = self.store.git, self.store.owner
        changed = git.not_in_head(self.files)
        if changed:
            git.commit(
                changed.items(),
                f"repair: {len(problems)} problems\n\nPcpfs-Operation: repair\n",
                self.transaction.at,
                Person(str(actor), f"{str(actor).replace(':', '.')}@pcpfs"),
            )
            self.store.refresh()


def _is_right(path: str, raw: bytes) -> bool:
    """Whether the bytes are what the name says; of frames, also whether they can be read."""
    if not fits(path, raw):
        return False
    if "/frames/" not in path:
        return True
    try:
        return Extraction.decode(raw, path).encode() == raw
    except PcpfsError:
        return False
