"""`tree/`: the readable heads of authored pages, laid as files that hold exactly the payload.

A file whose bytes are not what we last laid there is somebody's edit: it is left alone and named.
So is whatever stands where a file should be: a folder, a link, or a folder that is a link.
"""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError, StorageFull
from pcpfs.git import Content
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, with_mark
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.local import Base, LocalState

_log = logging.getLogger(__name__)


class Wanted(NamedTuple):
    """What a file of `tree/` should hold: the text of one head of a page."""

    page: PageId
    scope: Namespace
    revision: RevisionId
    digest: Digest


@dataclass(frozen=True, slots=True)
class Laid:
    """What laying did: files written and removed (paths in the store), and edits left alone; of
    these `missing` are files that somebody removed."""

    written: Mapping[str, Content]
    removed: tuple[str, ...]
    left: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look at `tree/` has settled: bases of files whose text is in a revision by now, files
    that are to be laid anew although somebody removed them (None: all), further pages to lay, and
    paths that hold somebody's edit or removal, whatever is there."""

    bases: Mapping[str, Base] = field(default_factory=dict)
    anew: Collection[str] | None = ()
    pages: Collection[PageId] = ()
    kept: Collection[str] = ()


NOTHING_SEEN = Seen()


class Tree:
    """Lays the heads of pages; holds nothing itself."""

    def __init__(
        self,
        root: Path,
        disk: Disk,
        local: LocalState,
        payload: Callable[[Namespace, Digest], bytes],
    ) -> None:
        self.root = root
        self.disk = disk
        self.local = local
        self.payload = payload

    def lay(
        self,
        catalog: Catalog,
        pages: Iterable[PageId],
        claims: Iterable[tuple[str, str]],
        seen: Seen = NOTHING_SEEN,
        *,
        moved: bool = False,
    ) -> Laid:
        """Bring the files of these pages up to date, and those of pages that share one of these
        claims (scope, claimed path). What cannot be written is left, and named; StorageFull where
        that would help nobody.

        `moved`: git may have put older texts in place (HEAD or the stash moved since our last
        look), so a text that is a revision of the page is nobody's edit.
        """
        of = {*pages, *seen.pages}
        concerned = {row.page_id: row for row in _concerned(catalog, sorted(of), claims)}
        wanted = wanted_heads(catalog, concerned.values())
        laying = _Laying(self, catalog, seen, moved)
        bases = {b.path: b for b in self.local.bases(map(PageId, concerned))}
        bases |= {path: base for path, base in seen.bases.items() if base.page_id in concerned}
        for path, base in sorted(bases.items()):
            if path not in wanted:
                laying.take_away(base)
        for path, goal in sorted(wanted.items()):
            laying.put(path, goal)
        laying.write()
        self.local.set_bases(laying.bases, laying.gone)
        removed = tuple(base.path for base in laying.gone)
        missing = tuple(sorted(laying.missing))
        return Laid(laying.written, removed, tuple(sorted(laying.left)), missing)

    def edits(self) -> tuple[str, ...]:
        """Files whose bytes are not what we last laid there, removed ones included; by path."""
        bases = self.local.all_bases()
        return tuple(base.path for base in bases if self.state(base.path) != base.digest)

    def state(self, path: str) -> str | None:
        """The digest of the file at a path; None if nothing is there, `other` if it is no file or
        can be reached only through a link."""
        base = os.fspath(self.root)
        try:
            for above in _above(path):
                if not stat.S_ISDIR(os.lstat(f"{base}/{above}").st_mode):
                    return "other"
            if not stat.S_ISREG(os.lstat(f"{base}/{path}").st_mode):
                return "other"
            return Digest.of(self.disk.read(f"{base}/{path}"))
        except FileNotFoundError:
            return None


class _Waiting(NamedTuple):
    """A file that is to be written over what was seen at its path."""

    path: str
    goal: Wanted
    base: Base | None
    seen: str | None


@dataclass(slots=True)
class _Laying:
    """One laying: what it did so far."""

    tree: Tree
    catalog: Catalog
    seen: Seen
    moved: bool
    waiting: list[_Waiting] = field(default_factory=list)
    written: dict[str, Content] = field(default_factory=dict)
    bases: list[Base] = field(default_factory=list)
    gone: list[Base] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def put(self, path: str, goal: Wanted) -> None:
        """Lay a file, unless something else is there or somebody removed it."""
        base = self._base(path)
        try:
            state = self.tree.state(path)
            if state is None and self._was_removed(path, goal, base):
                self.missing.append(path)
            elif state in (None, goal.digest) or self._is_ours(path, goal.page, base, state):
                self._put(path, goal, base, state)
            else:
                self.left.append(path)
        except StorageFull:
            raise  # nothing is in the way: it is laid when there is space again
        except PcpfsError:
            self.left.append(path)

    def take_away(self, base: Base) -> None:
        """Remove a file that no page wants any more, unless something else is there."""
        try:
            state = self.tree.state(base.path)
            if state == "other" and self._is_folder(base.path):
                self.gone.append(base)  # what is in it is another page's, or nobody's yet
            elif state is None or self._is_ours(base.path, base.page_id, base, state):
                self._remove(base)
            else:
                self.left.append(base.path)
        except StorageFull:
            raise
        except PcpfsError:
            self.left.append(base.path)

    def write(self) -> None:
        """Write what waits: several files together, which is one wait for the disk, and where
        that fails each by itself."""
        waiting, self.waiting = self.waiting, []
        try:
            if len(waiting) > 1:
                self._write_together(waiting)
                return
        except StorageFull:
            raise
        except PcpfsError as error:
            _log.debug("not together: %s", error)
        for one in waiting:
            self._write_one(one)

    def _write_together(self, waiting: Sequence[_Waiting]) -> None:
        """A file that somebody writes to meanwhile is left: each is looked at once more."""
        with self.tree.disk.batch() as batch:
            for one in waiting:
                content = self.tree.payload(one.goal.scope, one.goal.digest)
                batch.write(self.tree.root / one.path, content, partial(self._is_as_seen, one))
        for one in waiting:
            if os.fspath(self.tree.root / one.path) in batch.refused:
                self.left.append(one.path)
            else:
                self._note(one.path, one.goal, one.base)

    def _write_one(self, one: _Waiting) -> None:
        try:
            if self.tree.state(one.path) != one.goal.digest:
                content = self.tree.payload(one.goal.scope, one.goal.digest)
                if not self._is_as_seen(one):
                    self.left.append(one.path)
                    return
                self.tree.disk.write(self.tree.root / one.path, content)
            self._note(one.path, one.goal, one.base)
        except StorageFull:
            raise
        except PcpfsError:
            self.left.append(one.path)

    def _is_as_seen(self, one: _Waiting) -> bool:
        return self.tree.state(one.path) == one.seen

    def _put(self, path: str, goal: Wanted, base: Base | None, state: str | None) -> None:
        if state == goal.digest:
            self._note(path, goal, base)
        else:
            self.waiting.append(_Waiting(path, goal, base, state))

    def _note(self, path: str, goal: Wanted, base: Base | None) -> None:
        """The file holds what it should."""
        payload = self.tree.root / layout.payload_file(goal.scope, goal.digest)
        known = payload.is_file()
        self.written[path] = payload if known else self.tree.payload(goal.scope, goal.digest)
        if base is not None and base.page_id == goal.page:
            self.bases.append(base.followed_by(path, goal.digest, goal.revision))
        else:
            self.bases.append(Base(path, goal.page, goal.digest, goal.revision))

    def _remove(self, base: Base) -> None:
        path = self.tree.root / base.path
        self.tree.disk.remove(path)
        self.gone.append(base)
        folder = path.parent
        while folder.name != "tree" and folder.is_dir() and not any(os.scandir(folder)):
            self.tree.disk.remove_tree(folder)  # git keeps no empty folders; neither do we
            folder = folder.parent

    def _is_folder(self, path: str) -> bool:
        place = self.tree.root / path
        return place.is_dir() and not place.is_symlink()

    def _base(self, path: str) -> Base | None:
        return self.seen.bases.get(path) or self.tree.local.base(path)

    def _was_removed(self, path: str, goal: Wanted, base: Base | None) -> bool:
        """Somebody's removal stands until `sync` has looked at it."""
        if path in self.seen.kept:
            return True
        if base is None or base.page_id != goal.page or self.seen.anew is None:
            return False
        return path not in self.seen.anew

    def _is_ours(self, path: str, page: PageId, base: Base | None, state: str | None) -> bool:
        """Whether what we laid is there, or (where we cannot know) a text of this page."""
        if path in self.seen.kept:
            return False
        if base is not None and state == base.digest:
            return True
        if base is not None and not self.moved:
            return False
        known = self.catalog.query(
            "SELECT 1 FROM revision WHERE page_id = ? AND digest = ?", (page, state)
        )
        return bool(known)


def wanted_heads(catalog: Catalog, pages: Iterable[PageRow]) -> dict[str, Wanted]:
    """The files that these pages should have in `tree/`, by path in the store.

    Of pages that claim one path the smallest id keeps it, the others are marked with the last six
    characters of theirs. A second head stands beside the first, marked with its revision.
    """
    files: dict[str, Wanted] = {}
    for row in pages:
        if row.path is None or row.is_source or row.lifecycle == "tombstoned":
            continue
        rivals = catalog.query(
            "SELECT 1 FROM page WHERE scope = ? AND claim = ? AND page_id < ? "
            "AND lifecycle <> 'tombstoned'",
            (row.scope, row.claim, row.page_id),
        )
        heads = list(map(RevisionId, decode_list(row.laid)))
        found = catalog.query(
            "SELECT revision_id, digest FROM revision WHERE page_id = ?", (row.page_id,)
        )
        digests = {RevisionId(revision): digest for revision, digest in found}
        scope = Namespace(row.scope)
        for name, head in head_names(row.path, PageId(row.page_id), heads, bool(rivals)):
            digest = digests.get(head)
            if digest is not None:
                wanted = Wanted(PageId(row.page_id), scope, head, Digest(digest))
                files[layout.tree_file(scope, name)] = wanted
    return files


def head_names(
    path: str, page: PageId, heads: Sequence[RevisionId], is_rival: bool
) -> Iterable[tuple[str, RevisionId]]:
    """How the files of a page's heads are called, relative to `tree/`."""
    name = with_mark(path, page[-6:]) if is_rival else path
    for number, head in enumerate(heads):
        yield with_mark(name, head[4:12]) if number else name, head


def wanted_files(catalog: Catalog, pages: Iterable[PageRow]) -> dict[str, tuple[PageId, Digest]]:
    """`wanted_heads` as page and payload."""
    return {p: (w.page, w.digest) for p, w in wanted_heads(catalog, pages).items()}


def all_wanted(catalog: Catalog) -> dict[str, Wanted]:
    """The files that all pages should have, in a few questions."""
    digests = dict(
        catalog.query(
            "SELECT revision.revision_id, revision.digest FROM revision JOIN page USING (page_id) "
            "WHERE NOT page.is_source AND revision.digest IS NOT NULL"
        )
    )
    rows = catalog.query(
        "SELECT page_id, scope, path, claim, laid FROM page WHERE NOT is_source "
        "AND path IS NOT NULL AND lifecycle <> 'tombstoned' ORDER BY page_id"
    )
    files: dict[str, Wanted] = {}
    taken: set[tuple[str, str]] = set()
    namespaces = {scope: Namespace(scope) for scope in {row[1] for row in rows}}
    for page_id, scope, path, claim, laid in rows:
        page, namespace = PageId(page_id), namespaces[scope]
        heads = list(map(RevisionId, decode_list(laid)))
        for name, head in head_names(path, page, heads, (scope, claim) in taken):
            if head in digests:
                wanted = Wanted(page, namespace, head, Digest(digests[head]))
                files[layout.tree_file(namespace, name)] = wanted
        taken.add((scope, claim))
    return files


def _above(path: str) -> Iterable[str]:
    """The folders that lead to a path, outermost first."""
    parts = path.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _concerned(
    catalog: Catalog, pages: Iterable[PageId], claims: Iterable[tuple[str, str]]
) -> Sequence[PageRow]:
    rows = [row for page in pages if (row := catalog.page(page)) and not row.is_source]
    wanted = set(claims) | {(row.scope, row.claim) for row in rows if row.claim}
    for scope, claim in sorted(wanted):
        rows += catalog.pages("scope = ? AND claim = ?", (scope, claim))
    return rows
