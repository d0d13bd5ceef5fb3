"""What became of a symbol: in its own place, with its file, or by itself in another file."""

from __future__ import annotations

from collections.abc import Sequence

from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import FrameRow


def now_of(catalog: Catalog, run: FrameRow | None) -> FrameRow | None:
    """The open run that a run leads to; None if the symbol is nowhere any more.

    Where a run ended because the symbol moved, it goes on in its new place, and only without such
    an end in a later run of the same frame.
    """
    seen = set()
    while run is not None and run.valid_to is not None:
        if (run.frame_id, run.valid_from) in seen:
            return None  # it went in a circle within no time
        seen.add((run.frame_id, run.valid_from))
        run = (
            _same_place(catalog, run)
            or _same_file(catalog, run)
            or _moved(catalog, run)
            or _later(catalog, run)
        )
    return run


def _same_place(catalog: Catalog, run: FrameRow) -> FrameRow | None:
    """The same bytes by the same name in the same file: only its frame is another, because there
    are more of that name now, or fewer."""
    rows = catalog.frames(
        "page_id = ? AND qualified_name = ? AND kind = ? AND digest = ? AND valid_from = ? "
        "AND frame_id != ?",
        (run.page_id, run.qualified_name, run.kind, run.digest, run.valid_to, run.frame_id),
    )
    return _lasting(rows)


def _same_file(catalog: Catalog, run: FrameRow) -> FrameRow | None:
    """Its own name in the file that its file became; of several those bytes first."""
    moved = catalog.query(
        "SELECT moved_to FROM span WHERE page_id = ? AND valid_to = ? AND moved_to IS NOT NULL",
        (run.page_id, run.valid_to),
    )
    rows = catalog.frames(
        "page_id = ? AND kind = ? AND (qualified_name = ? OR kind = 'file') "
        "AND (valid_to IS NULL OR valid_to > ?)",
        (moved[0][0] if moved else None, run.kind, run.qualified_name, run.valid_to),
    )
    order = sorted(rows, key=lambda row: (row.digest != run.digest, row.valid_from))
    return next(iter(order), None)


def _moved(catalog: Catalog, run: FrameRow) -> FrameRow | None:
    """The same bytes by the same last name in another file of the source, if the same sync or
    commit closed one such symbol and opened one."""
    twins = catalog.frames(
        "name = ? AND kind = ? AND digest = ? AND page_id IN (SELECT page_id FROM page WHERE "
        "root_id = (SELECT root_id FROM page WHERE page_id = ?))",
        (run.name, run.kind, run.digest, run.page_id),
    )
    edge = _edge(catalog, run.page_id, run.valid_to)
    closed = [twin for twin in twins if _edge(catalog, twin.page_id, twin.valid_to) == edge]
    opened = [twin for twin in twins if _edge(catalog, twin.page_id, twin.valid_from) == edge]
    return opened[0] if edge and len(closed) == len(opened) == 1 else None


def _edge(catalog: Catalog, page: str, at: int | None) -> str | int | None:
    """By which commit of the source something began or ended, or else when it was recorded, which
    is one instant for all that one operation did."""
    rows = catalog.query(
        "SELECT coalesce(commit_id, recorded_at) FROM span WHERE page_id = ? AND valid_from = ? "
        "UNION ALL SELECT coalesce(commit_id, at) FROM closing JOIN change USING (change_id) "
        "WHERE closing.page_id = ? AND valid_to = ?",
        (page, at, page, at),
    )
    return rows[0][0] if rows else None


def _later(catalog: Catalog, run: FrameRow) -> FrameRow | None:
    """The next run of the same frame."""
    rows = catalog.frames(
        "frame_id = ? AND valid_from >= ? AND (valid_from, digest) != (?, ?)",
        (run.frame_id, run.valid_to, run.valid_from, run.digest),
    )
    return _lasting(rows)


def _lasting(rows: Sequence[FrameRow]) -> FrameRow | None:
    """The first, but of those that begin together one that lasts."""
    return min(rows, key=lambda row: (row.valid_from, row.valid_to == row.valid_from), default=None)
