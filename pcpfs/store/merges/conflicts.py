"""Pages on which clones do not agree: every reader sees them, and nothing merges them by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pcpfs.model.ids import PageId
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.folding.disputes import PATH
from pcpfs.store.trees.tree import wanted_files

HEADS, ERASED = "heads", "erased"


@dataclass(frozen=True, slots=True)
class ConflictView:
    """A page in conflict, and how.

    `heads`: several texts (PCP-T4: similar ones are never merged by themselves). `tombstoned`:
    withdrawn by one who did not know of a revision. `path`: named differently at the same time, or
    somebody gave it the path of a page that came before it; the files say which name holds now.
    `erased`: erased by one who did not know of a revision, which went with it; only the pull that
    took it away says so.
    """

    page_id: PageId
    path: str | None
    kind: str
    heads: tuple[str, ...]
    title: str


def conflicts(catalog: Catalog) -> tuple[ConflictView, ...]:
    """All of them, by page."""
    rows = catalog.pages(
        "is_source = 0 AND (json_array_length(heads) > 1 OR disputes <> '[]' OR claim IN ("
        "SELECT claim FROM page WHERE claim IS NOT NULL AND lifecycle <> 'tombstoned' "
        "GROUP BY scope, claim HAVING count(*) > 1))"
    )
    return tuple(_view(catalog, row, kind) for row in rows for kind in _kinds(catalog, row))


def _kinds(catalog: Catalog, row: PageRow) -> Iterator[str]:
    disputes = decode_list(row.disputes)
    if len(decode_list(row.heads)) > 1:
        yield HEADS
    yield from (kind for kind in disputes if kind != PATH)
    if PATH in disputes or _is_displaced(catalog, row):
        yield PATH


def _is_displaced(catalog: Catalog, row: PageRow) -> bool:
    """Whether it has not the path that somebody asked for. A name of a title claims nothing."""
    if not row.is_claimed or row.lifecycle == "tombstoned":
        return False
    found = catalog.query(
        "SELECT 1 FROM page WHERE scope = ? AND claim = ? AND page_id < ? "
        "AND lifecycle <> 'tombstoned'",
        (row.scope, row.claim, row.page_id),
    )
    return bool(found)


def _view(catalog: Catalog, row: PageRow, kind: str) -> ConflictView:
    path = next(iter(wanted_files(catalog, [row])), None)
    return ConflictView(PageId(row.page_id), path, kind, tuple(decode_list(row.heads)), row.title)
