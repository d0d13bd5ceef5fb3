"""Whose a file of `tree/` is that a commit holds."""

from __future__ import annotations

import re

from pcpfs.model.changes import Named
from pcpfs.model.ids import Digest, PageId
from pcpfs.model.names import Namespace
from pcpfs.store import layout
from pcpfs.store.workshop import Workshop

_MARK = re.compile(r"~[0-9a-z]{6,8}(?=\.[^./]*$|$)")


def is_others(shop: Workshop, path: str, content: bytes) -> bool:
    """Whether a page that is there has had this text, and has been called so."""
    rows = shop.catalog.query(
        "SELECT DISTINCT page_id, page.scope FROM revision JOIN page USING (page_id) "
        "WHERE revision.digest = ? AND NOT is_source",
        (Digest.of(content),),
    )
    plain = _MARK.sub("", path)
    return any(plain in _names(shop, Namespace(scope), PageId(page)) for page, scope in rows)


def _names(shop: Workshop, namespace: Namespace, page: PageId) -> set[str]:
    """All that a page was ever called, without marks."""
    return {
        _MARK.sub("", layout.tree_file(namespace, event.path))
        for change in shop.objects.page_changes(namespace, page).values()
        for event in change.events
        if isinstance(event, Named)
    }
