"""`tree/`: the readable heads of authored pages, laid as files that hold exactly the payload.

A file whose bytes are not what we last laid there is somebody's edit: it is left alone and named.
So is whatever stands where a file should be: a folder, a link, or a folder that is a link.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.errors import PcpfsError
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.names import Namespace, with_mark
from pcpfs.store import layout
from pcpfs.store.catalog import Catalog, decode_list
from pcpfs.store.local import Base, LocalState
from pcpfs.store.rows import PageRow


@dataclass(frozen=True, slots=True)
class Laid:
    """What laying did: files written and removed (paths in the store), and edits left alone."""

    written: Mapping[str, bytes]
    removed: tuple[str, ...]
    left: tuple[str, ...]


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
        self, catalog: Catalog, pages: Iterable[PageId], claims: Iterable[tuple[str, str]]
    ) -> Laid:
        """Bring the files of these pages up to date, and those of pages that share one of these
        claims (scope, claimed path). What cannot be written is left, and named."""
        concerned = {row.page_id: row for row in _concerned(catalog, pages, claims)}
        wanted = wanted_files(catalog, concerned.values())
        laying = _Laying(self, catalog)
        for base in self.local.bases(map(PageId, concerned)):
            if base.path not in wanted:
                laying.attempt(base, None)
        for path, (page, digest) in sorted(wanted.items()):
            scope = Namespace(concerned[page].scope)
            laying.attempt(Base(path, page, digest), scope)
        self.local.set_bases(laying.bases, laying.removed)
        return Laid(laying.written, tuple(laying.removed), tuple(sorted(laying.left)))

    def edits(self) -> tuple[str, ...]:
        """Files whose bytes are not what we last laid there, removed ones included; by path."""
        bases = self.local.all_bases()
        return tuple(base.path for base in bases if self.state(base.path) != base.digest)

    def state(self, path: str) -> str | None:
        """The digest of the file at a path; None if nothing is there, `other` if it is no file or
        can be reached only through a link."""
        try:
            for above in _above(path):
                if not stat.S_ISDIR(os.lstat(self.root / above).st_mode):
                    return "other"
            if not stat.S_ISREG(os.lstat(self.root / path).st_mode):
                return "other"
            return Digest.of(self.disk.read(self.root / path))
        except FileNotFoundError:
            return None


@dataclass(slots=True)
class _Laying:
    """One laying: what it did so far."""

    tree: Tree
    catalog: Catalog
    written: dict[str, bytes] = field(default_factory=dict)
    bases: list[Base] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def attempt(self, base: Base, scope: Namespace | None) -> None:
        """Lay a file (or, without a scope, take it away), unless something else is there."""
        try:
            state = self.tree.state(base.path)
            if state not in (None, base.digest) and not self._is_ours(base, state):
                self.left.append(base.path)
            elif scope is None:
                self._remove(base)
            else:
                self._put(base, scope, state)
        except PcpfsError:
            self.left.append(base.path)

    def _put(self, base: Base, scope: Namespace, state: str | None) -> None:
        content = self.tree.payload(scope, base.digest)
        if state != base.digest:
            self.tree.disk.write(self.tree.root / base.path, content)
        self.written[base.path] = content
        self.bases.append(base)

    def _remove(self, base: Base) -> None:
        path = self.tree.root / base.path
        self.tree.disk.remove(path)
        self.removed.append(base.path)
        folder = path.parent
        while folder.name != "tree" and folder.is_dir() and not any(os.scandir(folder)):
            self.tree.disk.remove_tree(folder)  # git keeps no empty folders; neither do we
            folder = folder.parent

    def _is_ours(self, base: Base, state: str | None) -> bool:
        """Whether what we laid is there, or (where we do not know) a text of this page."""
        laid = self.tree.local.base(base.path)
        if laid is not None:
            return state == laid.digest
        known = self.catalog.query(
            "SELECT 1 FROM revision WHERE page_id = ? AND digest = ?", (base.page_id, state)
        )
        return bool(known)


def wanted_files(catalog: Catalog, pages: Iterable[PageRow]) -> dict[str, tuple[PageId, Digest]]:
    """The files that these pages should have in `tree/`: path in the store → page and payload.

    Of pages that claim one path the smallest id keeps it, the others are marked with the last six
    characters of theirs. A second head stands beside the first, marked with its revision.
    """
    files: dict[str, tuple[PageId, Digest]] = {}
    for row in pages:
        if row.path is None or row.is_source or row.lifecycle == "tombstoned":
            continue
        rivals = catalog.query(
            "SELECT 1 FROM page WHERE scope = ? AND claim = ? AND page_id < ? "
            "AND lifecycle <> 'tombstoned'",
            (row.scope, row.claim, row.page_id),
        )
        name = with_mark(row.path, row.page_id[-6:]) if rivals else row.path
        for number, head in enumerate(decode_list(row.laid)):
            found = catalog.query("SELECT digest FROM revision WHERE revision_id = ?", (head,))
            digest = found[0][0] if found else None
            if digest is not None:
                shown = with_mark(name, head[4:12]) if number else name
                path = layout.tree_file(Namespace(row.scope), shown)
                files[path] = (PageId(row.page_id), Digest(digest))
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
