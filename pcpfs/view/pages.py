"""`/pages/<page_id>/`: all sides of a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pcpfs.model.instants import Instant
from pcpfs.store.catalogs.rows import PageRow, SpanRow
from pcpfs.view.nodes import Directory, Entry, File, Node, in_batches, listed
from pcpfs.view.place import Vantage, ending, made
from pcpfs.view.scopes import head_path
from pcpfs.view.sources import source_path


def pages(here: Vantage) -> Directory:
    """All pages that hold something, by id."""
    condition, values = here.is_shown("page")

    def rows(start: str, count: int) -> Sequence[PageRow]:
        found = here.catalog.query(
            f"SELECT * FROM page WHERE page_id >= ? AND {condition} ORDER BY page_id LIMIT ?",
            (start, *values, count),
        )
        return [PageRow(*row) for row in found]

    def entries(start: str) -> Iterator[Entry]:
        for row in in_batches(rows, lambda row: f"{row.page_id}\0", start):
            yield Entry(f"{row.page_id}\0", row.page_id, _page(here, row))

    def find(name: str) -> Node | None:
        found = here.catalog.query(
            f"SELECT * FROM page WHERE page_id = ? AND {condition}", (name, *values)
        )
        return _page(here, PageRow(*found[0])) if found else None

    return Directory(entries, find)


def payload_name(row: PageRow) -> str:
    return f"payload{ending(row)}"


def text_path(here: Vantage, row: PageRow, span: SpanRow) -> str | None:
    """Where the text of a page stands among the scopes or sources; None where it does not."""
    if not row.is_source:
        return head_path(here, row, span.revision_id)
    is_open = here.pins.as_of is not None or span.valid_to is None
    is_known = row.root_id is not None and row.root_id in here.root_names
    return source_path(here, row.root_id or "", row.path or "") if is_open and is_known else None


def _page(here: Vantage, row: PageRow) -> Directory:
    """`payload.<ext>` (a link where the text has a place of its own), `manifest.json`,
    `facets.json`, `relations.json`, `history/`. What tells of other pages too is as new as any."""

    def sides() -> dict[str, Node]:
        page_id, reader = row.page_id, here.reader
        return {
            "facets.json": made(Instant(row.updated_at), partial(reader.facets, page_id)),
            "history": listed(partial(_history, here, row)),
            "manifest.json": made(here.modified, partial(reader.manifest, page_id)),
            "relations.json": made(here.modified, lambda: list(reader.relations(page_id))),
            **_payload(here, row),
        }

    return listed(sides)


def _payload(here: Vantage, row: PageRow) -> dict[str, Node]:
    span = here.effective(row.page_id)
    if span is None:
        return {}
    path = text_path(here, row, span)
    if path is not None:
        return {payload_name(row): here.link(path)}
    file = _version(here, row, span.revision_id, span.valid_from)
    return {} if file is None else {payload_name(row): file}


def _history(here: Vantage, row: PageRow) -> dict[str, Node]:
    """Every version, oldest first: `0001-<rev8>.<ext>`."""
    versions = (
        (f"{number:04d}-{entry.revision_id[4:12]}{ending(row)}", entry)
        for number, entry in enumerate(reversed(here.reader.log(row.page_id)), 1)
    )
    files = (
        (
            name,
            _version(
                here, row, entry.revision_id, (entry.valid_from or entry.created_at).microseconds
            ),
        )
        for name, entry in versions
    )
    return {name: file for name, file in files if file is not None}


def _version(here: Vantage, row: PageRow, revision: str, since: int) -> File | None:
    """The text of a revision; None if it has only source refs."""
    body = here.reader.envelope(row, revision)
    text = body.payload or body.content_ref
    return None if text is None else here.payload(row.page_id, revision, text.size, since)
