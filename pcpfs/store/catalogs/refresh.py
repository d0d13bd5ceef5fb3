"""Keeping the catalog true to the files: after a pull, a branch switch, or from nothing."""

from __future__ import annotations

from collections.abc import Sequence

from pcpfs.errors import PcpfsError
from pcpfs.git import CommitId
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace
from pcpfs.ports import Progress
from pcpfs.store import layout
from pcpfs.store.events.event_lines import event_places
from pcpfs.store.events.event_segments import event_pages, refold_segments, segments_to_refold
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
        refold_paths(shop, paths)
        shop.catalog.set_meta("commit", head)


def rebuild(shop: Workshop, progress: Progress | None) -> None:
    """Fill the catalog from the files of the store alone, whatever was in it."""
    head = shop.git.head()
    everything = [(page, ns) for ns in shop.objects.scopes() for page in _pages(shop, ns)]
    known = {page for (page,) in shop.catalog.query("SELECT page_id FROM page")}
    with shop.catalog.writing():
        for namespace in shop.objects.scopes():
            refold_scope(shop, namespace)
        refold_segments(shop, segments_to_refold(shop))
        for start in range(0, len(everything), _BATCH):
            refold(shop, everything[start : start + _BATCH])
            if progress is not None:
                progress.step("catalog", min(start + _BATCH, len(everything)), len(everything))
        for page in sorted(known - {page for page, _ in everything} - event_pages(shop.catalog)):
            shop.catalog.remove_page(page)
        shop.catalog.set_meta("commit", head or "")


def _pages(shop: Workshop, namespace: Namespace) -> list[PageId]:
    """The pages of a scope that have files, then those that were erased and have none."""
    there = list(shop.objects.pages(namespace))
    return [*there, *sorted(shop.objects.erased(namespace).difference(there))]


def refold_paths(shop: Workshop, paths: Sequence[str]) -> list[tuple[str, str]]:
    """Fold anew what these files belong to, within a writing; the claims that are concerned."""
    found = {of[1]: of[0] for path in paths if (of := layout.page_of(path))}
    erased = {of[1]: of[0] for path in paths if (of := layout.receipt_of(path))}
    for page, namespace in erased.items():
        shop.catalog.note_residue(layout.page_folder(namespace, page), namespace, ())
        shop.catalog.db.execute("DELETE FROM erased WHERE page_id = ?", (page,))
        held = event_places(shop.catalog, "page_id = ?", page)
        refold_segments(shop, [place.path for place in held])
    found |= erased
    scopes = {scope for path in paths if (scope := layout.scope_of(path))}
    refold_segments(shop, paths)
    return refold(shop, found.items(), scopes)
