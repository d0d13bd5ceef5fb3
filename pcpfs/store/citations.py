"""Notes that cite code: a page is suspect while a frame that it cites does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from pcpfs.model.answers import SuspectPage, Suspicion
from pcpfs.model.ids import Digest, FrameId, PageId
from pcpfs.model.instants import Instant
from pcpfs.store.catalog import Catalog
from pcpfs.store.rows import FrameRow, RelationRow

_BROKEN = """
    to_frame IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM frame
        WHERE frame.frame_id = relation.to_frame AND frame.digest = relation.to_digest
          AND frame.valid_to IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM relation AS later
        WHERE later.from_page = relation.from_page AND later.to_frame = relation.to_frame
          AND (later.created_at, later.relation_id) > (relation.created_at, relation.relation_id)
    )
"""
"""A citation of a digest that no longer holds, and that no later citation of the frame replaced."""


def suspicions(catalog: Catalog, page_id: str) -> tuple[Suspicion, ...]:
    """What a page cites that has closed; empty for a page that is sound."""
    rows = catalog.relations(f"from_page = ? AND {_BROKEN}", (page_id,))
    return tuple(_suspicion(catalog, row) for row in rows)


def suspect_pages(catalog: Catalog) -> tuple[SuspectPage, ...]:
    """All active pages that cite frames which have closed, by scope and title."""
    rows = catalog.relations(_BROKEN)
    broken: dict[str, list[RelationRow]] = {}
    for row in rows:
        broken.setdefault(row.from_page, []).append(row)
    pages = [page for page_id in broken if (page := catalog.page(page_id))]
    pages.sort(key=lambda page: (page.scope, page.title, page.page_id))
    return tuple(
        SuspectPage(
            PageId(page.page_id),
            page.scope,
            page.title,
            page.path,
            tuple(_suspicion(catalog, row) for row in broken[page.page_id]),
        )
        for page in pages
        if page.lifecycle == "active"
    )


def _suspicion(catalog: Catalog, row: RelationRow) -> Suspicion:
    runs = catalog.frames("frame_id = ?", (row.to_frame,))
    cited = [run for run in runs if run.digest == row.to_digest]
    now = next((run for run in runs if run.valid_to is None), None)
    page = catalog.page(row.to_page)
    shown = now or next(reversed(cited or runs), None)
    return Suspicion(
        frame_id=FrameId(row.to_frame or ""),
        qualified_name=shown.qualified_name if shown else "",
        path=(page.path if page else None) or "",
        digest=Digest(row.to_digest or ""),
        status="changed" if now else "gone",
        closed_at=_last_end(cited),
        replacement_digest=Digest(now.digest) if now else None,
    )


def _last_end(runs: Sequence[FrameRow]) -> Instant | None:
    ends = [run.valid_to for run in runs if run.valid_to is not None]
    return Instant(max(ends)) if ends else None
