"""Notes that cite code: a page is suspect while a frame that it cites does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from pcpfs.model.answers import SuspectPage, Suspicion
from pcpfs.model.ids import Digest, FrameId, PageId
from pcpfs.model.instants import Instant
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import FrameRow, RelationRow
from pcpfs.store.searches.successors import now_of

_BROKEN = """
    to_frame IS NOT NULL
    AND NOT EXISTS (
        SELECT 1 FROM frame
        WHERE frame.frame_id = relation.to_frame AND frame.digest = relation.to_digest
          AND frame.valid_to IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM frame AS older JOIN page ON page.page_id = older.page_id
        WHERE older.frame_id = relation.to_frame AND older.digest = relation.to_digest
          AND older.valid_from = older.valid_to
          AND (
            (page.is_open AND page.revision_id = older.revision_id)
            OR EXISTS (
                SELECT 1 FROM frame WHERE frame.frame_id = older.frame_id
                  AND frame.valid_to IS NULL AND frame.valid_from <= older.valid_from
            )
          )
    )
    AND NOT EXISTS (
        SELECT 1 FROM relation AS later
        WHERE later.from_page = relation.from_page AND later.to_frame = relation.to_frame
          AND (later.created_at, later.relation_id) > (relation.created_at, relation.relation_id)
    )
"""
"""A citation of a digest that no longer holds, and that no later citation of the frame replaced.

What an older adapter saw in bytes that are still there (a run of no length) holds as well.
"""


def suspicions(catalog: Catalog, page_id: str) -> tuple[Suspicion, ...]:
    """What a page cites that has closed; empty for a page that is sound."""
    rows = catalog.relations(f"from_page = ? AND {_BROKEN}", (page_id,))
    found = (_suspicion(catalog, row) for row in rows)
    return tuple(suspicion for suspicion in found if suspicion is not None)


def suspect_pages(catalog: Catalog) -> tuple[SuspectPage, ...]:
    """All active pages that cite frames which have closed, by scope and title."""
    broken = catalog.query(f"SELECT DISTINCT from_page FROM relation WHERE {_BROKEN}")
    found = []
    for (page_id,) in broken:
        page, frames = catalog.page(page_id), suspicions(catalog, page_id)
        if page is not None and page.lifecycle == "active" and frames:
            found.append(
                SuspectPage(PageId(page.page_id), page.scope, page.title, page.path, frames)
            )
    return tuple(sorted(found, key=lambda page: (page.scope, page.title, page.page_id)))


def _suspicion(catalog: Catalog, row: RelationRow) -> Suspicion | None:
    """What became of a citation; None if it still holds at the place that its frame moved to, or
    if nothing is known of the page here (another scope's perhaps)."""
    runs = catalog.frames("frame_id = ?", (row.to_frame,))
    if not runs and catalog.page(row.to_page) is None:
        return None
    cited = [run for run in runs if run.digest == row.to_digest]
    now = now_of(catalog, max(cited or runs, key=_in_order, default=None))
    if now is not None and now.digest == row.to_digest:
        return None
    shown = now or max(cited or runs, key=_in_order, default=None)
    page = catalog.page(shown.page_id if shown else row.to_page)
    return Suspicion(
        frame_id=FrameId(row.to_frame or ""),
        qualified_name=shown.qualified_name if shown else "",
        path=(page.path if page else None) or "",
        digest=Digest(row.to_digest or ""),
        status="changed" if now else "gone",
        closed_at=_last_end(cited),
        replacement_digest=Digest(now.digest) if now else None,
        root=_root_name(catalog, page.root_id if page else None),
    )


def _root_name(catalog: Catalog, root_id: str | None) -> str | None:
    rows = catalog.query("SELECT name FROM root WHERE root_id = ?", (root_id,))
    return str(rows[0][0]) if rows else None


def _in_order(run: FrameRow) -> tuple[int, int]:
    return run.valid_from, run.valid_from if run.valid_to is None else run.valid_to


def _last_end(runs: Sequence[FrameRow]) -> Instant | None:
    ends = [run.valid_to for run in runs if run.valid_to is not None]
    return Instant(max(ends)) if ends else None
