"""What git checked out in a clone that is new to us: nearly always exactly what we would lay."""

from __future__ import annotations

from pcpfs.git import CommitId, ObjectId
from pcpfs.model.ids import PageId
from pcpfs.store.folding.kinds import Kind, kind_of
from pcpfs.store.local import Base
from pcpfs.store.trees.tree import Wanted, all_wanted
from pcpfs.store.workshop import Workshop


def checked_out(shop: Workshop, head: CommitId) -> tuple[set[str], set[PageId]]:
    """Take the files of `tree/` that are right, in HEAD and in the work tree, for laid. Those that
    are not, and the pages that want some of them, are returned."""
    files = {path: blob for path, blob in shop.git.files_of(head) if kind_of(path) is Kind.TREE}
    known = {base.path: base for base in shop.tree.local.all_bases()}
    right: list[Base] = []
    pages: set[PageId] = set()
    for path, wanted in all_wanted(shop.catalog).items():
        if _is_right(shop, head, path, files.get(path), wanted):
            right.append(_base(path, wanted, known.get(path)))
            del files[path]
        else:
            pages.add(wanted.page)
    shop.tree.local.set_bases(right, ())
    return set(files), pages


def _is_right(
    shop: Workshop, head: CommitId, path: str, blob: ObjectId | None, wanted: Wanted
) -> bool:
    if blob is None or shop.tree.state(path) != wanted.digest:
        return False
    try:
        return shop.git.name_of(shop.disk.read(shop.root / path), head) == blob
    except FileNotFoundError:
        return False


def _base(path: str, wanted: Wanted, known: Base | None) -> Base:
    """What an editor may have in its buffer is not forgotten."""
    if known is not None and known.page_id == wanted.page:
        return known.followed_by(path, wanted.digest, wanted.revision)
    return Base(path, wanted.page, wanted.digest, wanted.revision)


def every_page(shop: Workshop) -> set[PageId]:
    """All pages that may have a file in `tree/`."""
    rows = shop.catalog.query("SELECT page_id FROM page WHERE NOT is_source AND path IS NOT NULL")
    return {PageId(page) for (page,) in rows}
