"""The files that erased source pages were made from stay where they are, and are known again."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from pcpfs.model.ids import PageId, RootId
from pcpfs.model.names import unescaped
from pcpfs.store.local import FileMark
from pcpfs.store.workshop import Workshop


def note_files(shop: Workshop, pages: Iterable[PageId]) -> None:
    """Note by what the files of these pages are known again on this machine, if they are here."""
    local = shop.tree.local
    roots = local.roots()
    for page in pages:
        row = shop.catalog.page(page)
        root = roots.get(RootId(row.root_id)) if row is not None and row.root_id else None
        if row is None or root is None or row.path is None:
            continue
        try:
            found = os.lstat(os.path.join(root.path, unescaped(row.path)))
        except OSError:
            continue  # it is not here, or not to be seen: then nothing can be taken in either
        if stat.S_ISREG(found.st_mode):
            mark = FileMark(found.st_ino, found.st_size, found.st_mtime_ns)
            local.note_erased_files({page: mark})
