"""Keeping the catalog true to the files: after a pull, a branch switch, or from nothing."""

from __future__ import annotations

from collections.abc import Iterable

from pcpfs.errors import PcpfsError
from pcpfs.git import CommitId
from pcpfs.ports import Progress
from pcpfs.store import layout
from pcpfs.store.workshop import Workshop, refold, refold_scope

_BATCH = 500


def catch_up(shop: Workshop) -> None:
    """Fold anew what differs between the commit at which the catalog stands and HEAD."""
    head = shop.git.head()
    stands = shop.catalog.meta("commit") or None
    if head is None or head == stands:
        return
    before = CommitId(stands) if stands else None
    try:
        paths = [change.path for change in shop.git.diff_tree(before, head)]
    except PcpfsError:
        rebuild(shop, None)  # the commit is gone: history was rewritten
        return
    with shop.catalog.writing():
        _refold(shop, paths)
        shop.catalog.set_meta("commit", head)


def rebuild(shop: Workshop, progress: Progress | None) -> None:
    """Fill the catalog from the files of the store alone, whatever was in it."""
    head = shop.git.head()
    everything = [(page, ns) for ns in shop.objects.scopes() for page in shop.objects.pages(ns)]
    known = {row.page_id for row in shop.catalog.pages()}
    with shop.catalog.writing():
        for namespace in shop.objects.scopes():
            refold_scope(shop, namespace)
        for start in range(0, len(everything), _BATCH):
            refold(shop, everything[start : start + _BATCH])
            if progress is not None:
                progress.step("catalog", min(start + _BATCH, len(everything)), len(everything))
        for page in sorted(known - {page for page, _ in everything}):
            shop.catalog.remove_page(page)
        shop.catalog.set_meta("commit", head or "")


def _refold(shop: Workshop, paths: Iterable[str]) -> None:
    found = {of[1]: of[0] for path in paths if (of := layout.page_of(path))}
    scopes = {scope for path in paths if (scope := layout.scope_of(path))}
    refold(shop, found.items(), scopes)
