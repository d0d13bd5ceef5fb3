"""Walks a source tree and tells what is there to take in, and why the rest is not.

Decided here: links are never followed (what they lead to inside the root is taken in at its own
path), so nothing loops or leaves; the files of nested git repositories are ordinary files under
their own ignore rules as well as the outer ones; rules of directories above the root hold up to the
top of its repository, unless they ignore the root itself, which a person has named. Only rules
decide: a file that is tracked by git although it is ignored is left out.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, KeysView
from pathlib import Path
from typing import NamedTuple

from pcpfs.sources.ignore import Ignores, matcher
from pcpfs.sources.mounts import is_unmounted, is_unmounted_root
from pcpfs.sources.reading import stat_of, too_large
from pcpfs.sources.rulefiles import (
    GIT_RULES,
    OUR_RULES,
    RulesUnreadable,
    rules_above,
    rules_inside,
)
from pcpfs.sources.scanned import Candidate, Reason, Scan, ScanOptions, Skipped
from pcpfs.sources.statcache import StatCache

STORE_MARK = "pcpfs.toml"
VCS_FOLDERS = frozenset((".git", ".hg", ".svn", ".jj", ".bzr", ".sl", ".pijul", "_darcs"))
_BARE_REPOSITORY = frozenset(("HEAD", "objects", "refs"))
_GOVERNING = (GIT_RULES, OUR_RULES, STORE_MARK)
_VANISHED = (errno.ENOENT, errno.ENOTDIR)


def scan(root: Path, options: ScanOptions, cache: StatCache) -> Scan:
    """Look at a whole source tree; reads no file but ignore rules.

    A root that is missing, is no directory or is not mounted comes back as unreadable.
    """
    return scan_paths(root, options, cache, ("",))


def scan_paths(root: Path, options: ScanOptions, cache: StatCache, paths: Iterable[str]) -> Scan:
    """Look at some paths only, with all below those that are directories.

    A path that governs its neighbours (ignore rules, the mark of a store) stands for its whole
    directory. What is gone is covered and absent.
    """
    wanted, covered = _wanted({_governed_by(path) for path in paths})
    device, refusal = _root_state(root, cache)
    if refusal:
        return Scan((), (Skipped("", Reason.UNREADABLE, refusal, True),), covered, device)
    walk = _Walk(os.path.abspath(root), options, cache)
    if covered and device is not None:
        walk.through(wanted, device)
    return Scan(
        tuple(sorted(walk.files)),
        tuple(sorted(walk.skipped, key=lambda skip: skip.path)),
        covered,
        device,
        tuple(sorted(walk.mounts)),
    )


class _Wanted(dict[str, "_Wanted"]):
    """A tree of names to look at; one without children stands for all that is below it."""


def _governed_by(path: str) -> str:
    directory, _, name = path.rpartition("/")
    return directory if name in _GOVERNING else path


def _wanted(paths: Collection[str]) -> tuple[_Wanted, tuple[str, ...]]:
    """The tree of the outermost of these paths, and those."""
    tree = _Wanted()
    covered: list[str] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        if covered and (not covered[-1] or path.startswith(covered[-1] + "/")):
            continue
        covered.append(path)
        node = tree
        for name in path.split("/") if path else ():
            node = node.setdefault(name, _Wanted())
    return tree, tuple(covered)


def _root_state(root: Path, cache: StatCache) -> tuple[int | None, str | None]:
    """The root's device, and why nothing can be said of what it holds."""
    try:
        device = os.stat(root).st_dev
        with os.scandir(root) as entries:
            empty = next(entries, None) is None
    except OSError as error:
        return None, f"{root}: {error.strerror}"
    if is_unmounted_root(empty, device, cache):
        return None, f"{root} is empty and on another device than before; is it mounted?"
    return device, None


class _Above(NamedTuple):
    """What a directory hands down to what is in it; `included` is what it would be by itself."""

    device: int
    rules: Ignores
    included: bool


class _Walk:
    """One walk over a tree, collecting what it finds."""

    def __init__(self, root: str, options: ScanOptions, cache: StatCache) -> None:
        self.files: list[Candidate] = []
        self.skipped: list[Skipped] = []
        self.mounts: list[str] = []
        self._root = root
        self._options = options
        self._cache = cache
        self._include = matcher(options.include) if options.include else None
        self._pending: list[tuple[str, _Above, _Wanted]] = []

    def through(self, wanted: _Wanted, device: int) -> None:
        try:
            rules = rules_above(self._root)
        except RulesUnreadable as error:
            self._skip("", Reason.UNREADABLE, str(error), directory=True)
            return
        self._pending.append(("", _Above(device, rules, self._include is None), wanted))
        while self._pending:
            self._list(*self._pending.pop())

    def _skip(self, path: str, reason: Reason, detail: str = "", directory: bool = False) -> None:
        self.skipped.append(Skipped(path, reason, detail, directory))

    def _list(self, directory: str, above: _Above, wanted: _Wanted) -> None:
        location = f"{self._root}/{directory}" if directory else self._root
        try:
            with os.scandir(location) as listing:
                entries = {entry.name: entry for entry in listing}
            device = os.stat(location, follow_symlinks=not directory).st_dev
            if self._is_away(directory, not entries, is_mount=device != above.device):
                return
            if self._is_foreign(directory, entries.keys()):
                return
            rules = rules_inside(above.rules, directory, location, entries)
        except OSError as error:
            if error.errno not in _VANISHED:
                self._skip(directory, Reason.UNREADABLE, error.strerror or "", directory=True)
            return
        except RulesUnreadable as error:
            self._skip(directory, Reason.UNREADABLE, str(error), directory=True)
            return
        prefix = f"{directory}/" if directory else ""
        here = _Above(device, rules, above.included)
        for name in (wanted.keys() & entries.keys()) if wanted else entries:
            below = wanted[name] if wanted else wanted
            self._judge(entries[name], prefix + name, here, below)

    def _is_away(self, directory: str, empty: bool, *, is_mount: bool) -> bool:
        """Whether what was mounted here is not, so that nothing can be said of it."""
        if is_mount:
            self.mounts.append(directory)
        if not is_unmounted(directory, empty, is_mount, self._cache):
            return False
        detail = "another device was mounted here; remove the folder if it will not come back"
        self._skip(directory, Reason.UNREADABLE, detail, directory=True)
        return True

    def _is_foreign(self, directory: str, names: KeysView[str]) -> bool:
        """Whether this directory is a store or a bare repository, with all that is in it."""
        if STORE_MARK in names:
            reason = Reason.STORE if directory else Reason.UNREADABLE
            self._skip(directory, reason, "it is a pcpfs store", directory=True)
            return True
        if directory and names >= _BARE_REPOSITORY:
            self._skip(directory, Reason.VCS, "it is a bare repository", directory=True)
            return True
        return False

    def _judge(self, entry: os.DirEntry[str], path: str, here: _Above, wanted: _Wanted) -> None:
        directory = entry.is_dir(follow_symlinks=False)
        if entry.name in VCS_FOLDERS:
            self._skip(path, Reason.VCS, directory=directory)
        elif path in self._options.exclusions:
            self._exclude(entry, path, directory)
        elif why := here.rules.why(path, directory):
            self._skip(path, Reason.IGNORED, why, directory)
        elif directory:
            included = self._includes(path, here.included, directory=True)
            self._pending.append((path, here._replace(included=included), wanted))
        elif not wanted:
            self._judge_file(entry, path, here.included)

    def _exclude(self, entry: os.DirEntry[str], path: str, directory: bool) -> None:
        try:
            stat = stat_of(entry.stat(follow_symlinks=False))
        except OSError:
            stat = None  # it is left out whatever it is
        self.skipped.append(Skipped(path, Reason.EXCLUDED, "", directory, stat))

    def _includes(self, path: str, inherited: bool, directory: bool) -> bool:
        if self._include is None:
            return True
        name = path.rpartition("/")[2]
        pattern = self._include.decides(os.fsencode(path), os.fsencode(name), directory)
        return inherited if pattern is None else not pattern.negated

    def _judge_file(self, entry: os.DirEntry[str], path: str, included: bool) -> None:
        if entry.is_file(follow_symlinks=False):
            if self._includes(path, included, directory=False):
                self._take(entry, path)
            else:
                self._skip(path, Reason.NOT_INCLUDED)
        elif entry.is_symlink():
            self._judge_link(entry, path)
        else:
            self._skip(path, Reason.SPECIAL)

    def _judge_link(self, entry: os.DirEntry[str], path: str) -> None:
        target = os.path.realpath(entry.path)
        root = os.path.realpath(self._root)
        inside = target == root or target.startswith(root.rstrip("/") + "/")
        self._skip(path, Reason.LINK if inside else Reason.LINK_LEAVES_ROOT)

    def _take(self, entry: os.DirEntry[str], path: str) -> None:
        try:
            stat = stat_of(entry.stat(follow_symlinks=False))
        except OSError as error:
            if error.errno not in _VANISHED:
                self._skip(path, Reason.UNREADABLE, error.strerror or "")
            return
        known = self._cache.get(path)
        if stat.size > self._options.max_size:
            self.skipped.append(too_large(path, stat.size, self._options.max_size))
        elif known is None or not known.trusted(stat):
            self.files.append(Candidate(path, stat, None))
        elif known.digest is None:
            self.skipped.append(Skipped(path, Reason.BINARY, stat=stat))
        else:
            self.files.append(Candidate(path, stat, known.digest))
