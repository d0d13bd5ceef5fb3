"""Files whose pages were erased, and that were moved since: not taken in under the new name either.

No digest of what was erased is kept, so a file is known again by what the file system calls it
(inode, size, time of change). A copy, or a file that was changed as it was moved, is a new one.
"""

from __future__ import annotations

from dataclasses import replace

from pcpfs.model.ids import PageId
from pcpfs.model.receipts import Receipt
from pcpfs.sources.roots import Root
from pcpfs.sources.scanned import Candidate, Reason, Scan, Skipped, Stat
from pcpfs.store.local import FileMark
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction


def without_erased(store: Store, transaction: Transaction, root: Root, found: Scan) -> Scan:
    """A scan without files of erased pages under other names. Each of these names gets a receipt of
    its own, so that no other clone takes it in."""
    excluded = {
        PageId.of_source(root.namespace, root.root_id, skip.path): _mark(skip.stat)
        for skip in found.skipped
        if skip.reason is Reason.EXCLUDED and skip.stat is not None
    }
    if excluded:
        store.local.note_erased_files(excluded)
    known = store.local.erased_files()
    moved = [(file, known[mark]) for file in found.files if (mark := _mark(file.stat)) in known]
    if not moved:
        return found
    for file, page in moved:
        _exclude(store, transaction, root, file, page)
    gone = {file.path for file, _ in moved}
    skips = [Skipped(file.path, Reason.EXCLUDED, stat=file.stat) for file, _ in moved]
    return replace(
        found,
        files=tuple(file for file in found.files if file.path not in gone),
        skipped=tuple(sorted([*found.skipped, *skips], key=lambda skip: skip.path)),
    )


def _exclude(
    store: Store, transaction: Transaction, root: Root, file: Candidate, erased: PageId
) -> None:
    """For good, unless another page has that path: that one is closed, as long as this file is
    there."""
    page = PageId.of_source(root.namespace, root.root_id, file.path)
    if store.catalog.page(page) is None:
        why = f"the file of {erased}, moved"
        at, by = transaction.at, transaction.actor
        transaction.receipt(Receipt(root.namespace, page, at, by, why, 0, "source"))
        store.local.note_erased_files({page: _mark(file.stat)})


def _mark(stat: Stat) -> FileMark:
    return FileMark(stat.inode, stat.size, stat.mtime_ns)
