"""`tree/`: the readable heads of authored pages, laid as files that hold exactly the payload.

A file whose bytes are not what we last laid there is somebody's edit: it is left alone and named.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pcpfs.disk import Disk
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.names import Namespace, TreePath
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
        self._root = root
        self._disk = disk
        self._local = local
        self._payload = payload

    def lay(
        self, catalog: Catalog, pages: Iterable[PageId], claims: Iterable[tuple[str, str]]
    ) -> Laid:
        """Bring the files of these pages up to date, and those of pages that share one of these
        claims (scope, claimed path)."""
        concerned = {row.page_id: row for row in _concerned(catalog, pages, claims)}
        wanted = wanted_files(catalog, concerned.values())
        laid = {base.path: base for base in self._local.bases(map(PageId, concerned))}
        written: dict[str, bytes] = {}
        bases: list[Base] = []
        removed, left = [], []
        for path in sorted(set(laid) - set(wanted)):
            if self._remove(catalog, laid[path]):
                removed.append(path)
            else:
                left.append(path)
        for path, (page, digest) in sorted(wanted.items()):
            state = self._state(path)
            if state != digest and not self._is_ours(catalog, path, page, state):
                left.append(path)
                continue
            content = self._payload(Namespace(concerned[page].scope), digest)
            if state != digest:
                self._disk.write(self._root / path, content)
            written[path] = content
            bases.append(Base(path, page, digest))
        self._local.set_bases(bases, removed)
        return Laid(written, tuple(removed), tuple(left))

    def edits(self) -> tuple[str, ...]:
        """Files whose bytes are not what we last laid there, removed ones included; by path."""
        bases = self._local.all_bases()
        return tuple(base.path for base in bases if self._state(base.path) != base.digest)

    def _remove(self, catalog: Catalog, base: Base) -> bool:
        state = self._state(base.path)
        if state is not None and not self._is_ours(catalog, base.path, base.page_id, state):
            return False
        self._disk.remove(self._root / base.path)
        self._prune((self._root / base.path).parent)
        return True

    def _prune(self, folder: Path) -> None:
        """Git keeps no empty folders; neither do we, up to `tree/`."""
        while folder.name != "tree" and folder != self._root and not any(os.scandir(folder)):
            self._disk.remove_tree(folder)
            folder = folder.parent

    def _state(self, path: str) -> str | None:
        """The digest of the file at a path; None if nothing is there, `other` if it is no file."""
        try:
            if not stat.S_ISREG(os.lstat(self._root / path).st_mode):
                return "other"
            return Digest.of(self._disk.read(self._root / path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _is_ours(self, catalog: Catalog, path: str, page: PageId, state: str | None) -> bool:
        """Whether nothing, what we laid, or (where we do not know) a text of this page is there."""
        if state is None:
            return True
        base = self._local.base(path)
        if base is not None:
            return state == base.digest
        known = catalog.db.execute(
            "SELECT 1 FROM revision WHERE page_id = ? AND digest = ?", (page, state)
        )
        return known.fetchone() is not None


def wanted_files(catalog: Catalog, pages: Iterable[PageRow]) -> dict[str, tuple[PageId, Digest]]:
    """The files that these pages should have in `tree/`: path in the store → page and payload.

    Of pages that claim one path the smallest id keeps it, the others are marked with the last six
    characters of theirs. A second head stands beside the first, marked with its revision.
    """
    files: dict[str, tuple[PageId, Digest]] = {}
    for row in pages:
        if row.path is None or row.is_source or row.lifecycle == "tombstoned":
            continue
        path = TreePath(row.path)
        rival = catalog.db.execute(
            "SELECT 1 FROM page WHERE scope = ? AND claim = ? AND page_id < ? "
            "AND lifecycle <> 'tombstoned'",
            (row.scope, row.claim, row.page_id),
        ).fetchone()
        name = path.with_mark(row.page_id[-6:]) if rival else str(path)
        for number, head in enumerate(decode_list(row.heads)):
            digest = catalog.db.execute(
                "SELECT digest FROM revision WHERE revision_id = ?", (head,)
            ).fetchone()[0]
            if digest is None:
                continue
            shown = TreePath(name).with_mark(head[4:12]) if number else name
            files[layout.tree_file(Namespace(row.scope), shown)] = (
                PageId(row.page_id),
                Digest(digest),
            )
    return files


def _concerned(
    catalog: Catalog, pages: Iterable[PageId], claims: Iterable[tuple[str, str]]
) -> Sequence[PageRow]:
    rows = [row for page in pages if (row := catalog.page(page)) and not row.is_source]
    wanted = set(claims) | {(row.scope, row.claim) for row in rows if row.claim}
    for scope, claim in sorted(wanted):
        rows += catalog.pages("scope = ? AND claim = ?", (scope, claim))
    return rows
