"""What a search may answer at all: scopes first, then filters, time and state."""

from __future__ import annotations

from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow, PageRow
from pcpfs.store.folding.fold import ASKED
from pcpfs.store.reading import Reader
from pcpfs.store.searches.search_request import Search, page_filter


class Eligible:
    """Judges pages, their revisions and frames for one search."""

    def __init__(self, reader: Reader, search: Search) -> None:
        self._reader = reader
        self._search = search
        self._filters = search.filters
        self._scopes = frozenset(search.scopes)
        self._passes = page_filter(search.filters, reader.root_name)
        filters = search.filters
        self.is_plain = filters.statuses == ("active",) and not (
            filters.created_after or filters.created_before or filters.epistemic
        )
        """Whether of a current page every current revision is taken."""

    @property
    def wants_past(self) -> bool:
        """Whether more than what is current may be answered."""
        return self._search.pins.as_of is not None or self._filters.statuses != ("active",)

    def page(self, page: PageRow) -> bool:
        """Whether anything of this page may be answered."""
        return (
            page.scope in self._scopes
            and page.page_id not in self._search.without
            and self._passes(page)
            and self._has_relation(page)
        )

    def revision(self, page: PageRow, revision: str) -> bool:
        """Whether this revision of an eligible page is in the wanted state, time and standing."""
        if self._search.pins.as_of is not None:
            is_current = self._held("span", "revision_id", revision)
            if not is_current:
                return False
        else:
            heads = [page.revision_id] if page.is_source else decode_list(page.heads)
            is_open = bool(page.is_open) if len(heads) == 1 else not self._is_over(page, revision)
            is_current = is_open and revision in heads
        return self._status(page, is_current) and self._stands(page, revision)

    def frame(self, page: PageRow, row: FrameRow) -> bool:
        """The same of a run of a frame."""
        is_current = row.valid_to is None
        if self._search.pins.as_of is not None:
            is_current = True  # only runs that held are looked at
        return self._status(page, is_current) and self._stands(page, row.revision_id)

    def _status(self, page: PageRow, is_current: bool) -> bool:
        """What is past is found only by those who ask for it, whatever state the page is in."""
        statuses = self._filters.statuses
        if is_current:
            return page.lifecycle in statuses
        return "superseded" in statuses and page.lifecycle in (*statuses, "active")

    def _stands(self, page: PageRow, revision: str) -> bool:
        filters = self._filters
        if filters.created_after or filters.created_before:
            ((recorded,),) = self._reader.catalog.query(
                "SELECT min(recorded_at) FROM span WHERE page_id = ? AND revision_id = ?",
                (page.page_id, revision),
            )
            after, before = filters.created_after, filters.created_before
            if after is not None and recorded < after.microseconds:
                return False
            if before is not None and recorded >= before.microseconds:
                return False
        if not filters.epistemic:
            return True
        told = self._reader.envelope(page, revision).epistemic
        return all(told.get(name) == value for name, value in filters.epistemic)

    def _is_over(self, page: PageRow, revision: str) -> bool:
        """Whether somebody said of one of several heads that it no longer holds."""
        return bool(
            self._reader.catalog.query(
                "SELECT 1 FROM span WHERE page_id = ? AND revision_id = ? AND ended_by = ?",
                (page.page_id, revision, ASKED),
            )
        )

    def _has_relation(self, page: PageRow) -> bool:
        types = self._filters.relation_types
        if not types or self._search.mode == "graph":
            return True
        marks = ", ".join("?" * len(types))
        found = self._reader.catalog.query(
            f"SELECT 1 FROM relation JOIN page ON page.page_id = relation.from_page "
            f"WHERE type IN ({marks}) AND (from_page = ? OR to_page = ?) "
            f"AND page.scope IN ({', '.join('?' * len(self._scopes))}) LIMIT 1",
            (*types, page.page_id, page.page_id, *sorted(self._scopes)),
        )
        return bool(found)

    def _held(self, table: str, column: str, key: str) -> bool:
        condition, parameters = holds(self._search.pins, table)
        return bool(
            self._reader.catalog.query(
                f"SELECT 1 FROM {table} WHERE {column} = ? AND {condition}", (key, *parameters)
            )
        )
