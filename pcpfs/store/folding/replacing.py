"""Putting rows of pages in place of those that are known of them, within a transaction of the
caller; and noting what the text indexes have to take in."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pcpfs.store.catalogs.document_keys import without_bytes
from pcpfs.store.catalogs.rows import DocumentRow, FrameRow, PageRow, PageRows, Pending, Tail

Row = tuple[Any, ...]


class _Table(NamedTuple):
    """A table of which several rows belong to a page: the column that says to which, and what a row
    is told by."""

    name: str
    page: str
    key: str


_SPANS = _Table("span", "page_id", "page_id, ordinal")
_FRAMES = _Table("frame", "page_id", "rowid")
_DOCUMENTS = _Table("document", "page_id", "key")
_TABLES = (
    _Table("revision", "page_id", "revision_id"),
    _SPANS,
    _Table("closing", "page_id", "page_id, place"),
    _Table("beside", "page_id", "page_id, place"),
    _Table("beside_frame", "page_id", "page_id, place, frame_id"),
    _Table("import", "page_id", "page_id, revision_id, adapter"),
    _FRAMES,
    _Table("relation", "from_page", "from_page, relation_id"),
    _Table("change", "page_id", "change_id"),
    _DOCUMENTS,
)
_DOCUMENTED = "SELECT doc_key, valid_to IS NULL FROM frame WHERE doc_key"
_AT_ONCE = 500


def replace_pages(db: sqlite3.Connection, pages: Sequence[PageRows]) -> None:
    """Put these rows in place of all that is known of their pages, or of the tails of them. What
    stays is not touched: most of a page, whenever it changes."""
    ids = [rows.page.page_id for rows in pages]
    db.executemany("DELETE FROM damage WHERE page_id = ?", [(page,) for page in ids])
    whole = [rows for rows in pages if rows.tail is None]
    known = [page for (page,) in _in(db, "SELECT page_id FROM page WHERE page_id", _ids(whole))]
    insert(db, "page", [rows.page for rows in pages])
    roots = {(rows.page.root_id,) for rows in pages if rows.page.root_id is not None}
    db.executemany("DELETE FROM ground WHERE root_id = ?", roots)
    for table in _TABLES:
        wanted = [row for rows in whole for row in getattr(rows, f"{table.name}s")]
        _exchange(db, table, _of_pages(db, table, known), wanted)
    for rows in pages:
        if rows.tail is not None:
            _replace_tail(db, rows, rows.tail)


def remove_page(db: sqlite3.Connection, page_id: str) -> None:
    """Forget a page whose files are gone."""
    for table in _TABLES:
        _exchange(db, table, _of_pages(db, table, [page_id]), ())
    of_page = "(SELECT root_id FROM page WHERE page_id = ?)"
    db.execute(f"DELETE FROM ground WHERE root_id = {of_page}", (page_id,))
    for name in ("damage", "page", "erased", "mention"):
        db.execute(f"DELETE FROM {name} WHERE page_id = ?", (page_id,))


def insert(db: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    rows = list(rows)
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        db.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)


def _replace_tail(db: sqlite3.Connection, rows: PageRows, tail: Tail) -> None:
    """Spans and frames from the tail on; of the rest what is new, since nothing of it goes. A
    document stays, as a past one, while a frame before the tail has it."""
    page = rows.page.page_id
    insert(db, "revision", rows.revisions)
    insert(db, "closing", rows.closings)
    insert(db, "beside", rows.besides)
    insert(db, "beside_frame", rows.beside_frames)
    insert(db, "import", rows.imports)
    insert(db, "relation", rows.relations)
    insert(db, "change", rows.changes)
    spans = db.execute(
        "SELECT page_id, ordinal, * FROM span WHERE page_id = ? AND ordinal >= ?",
        (page, tail.ordinal),
    )
    _exchange(db, _SPANS, spans, rows.spans)
    frames = db.execute(
        "SELECT rowid, * FROM frame WHERE page_id = ?1 AND valid_to IS NULL UNION ALL "
        "SELECT rowid, * FROM frame WHERE page_id = ?1 AND valid_to >= ?2 "
        "AND (valid_to > ?2 OR valid_from >= ?2)",
        (page, tail.since),
    )
    gone = _exchange(db, _FRAMES, frames, rows.frames)
    wanted = {document.key: document for document in rows.documents}
    doubtful = {row[-1] for row in gone if row[-1] is not None} - wanted.keys()
    still = _in(db, "SELECT doc_key FROM frame WHERE doc_key", sorted(doubtful))
    for (key,) in still:
        wanted[key] = DocumentRow(key, rows.page.scope, page, 1)
    keys = sorted(doubtful | wanted.keys())
    documents = _in(db, "SELECT key, * FROM document WHERE key", keys)
    _exchange(db, _DOCUMENTS, documents, list(wanted.values()))
    if tail.thinned:
        _let_go(db, rows.page, tail.thinned)


def _let_go(db: sqlite3.Connection, page: PageRow, revisions: Sequence[str]) -> None:
    """Of versions whose bytes went there is no text any more, nor what lay outside of symbols."""
    is_active = page.lifecycle == "active"
    for part in _parts(revisions):
        of = f"page_id = ? AND revision_id IN ({_marks(part)})"
        db.execute(f"UPDATE revision SET thinned = 1 WHERE {of}", (page.page_id, *part))
        is_outside = "doc_key IS NOT NULL AND (doc_a < byte_a OR doc_b > byte_b)"
        question = f"SELECT rowid, * FROM frame WHERE {is_outside} AND {of}"
        frames = db.execute(question, (page.page_id, *part)).fetchall()
        now = [without_bytes(FrameRow._make(row)) for _, *row in frames]
        gone = _exchange(db, _FRAMES, frames, now)
        keys = sorted({*part, *(row[-1] for row in gone), *(str(row.doc_key) for row in now)})
        still: dict[str, int] = dict(
            sorted(_in(db, _DOCUMENTED, keys))
        )  # an open one comes last, and counts
        wanted = [
            DocumentRow(key, page.scope, page.page_id, int(not (is_active and is_open)))
            for key, is_open in still.items()
        ]
        _exchange(db, _DOCUMENTS, _in(db, "SELECT key, * FROM document WHERE key", keys), wanted)


def _of_pages(db: sqlite3.Connection, table: _Table, pages: Sequence[str]) -> Iterator[Row]:
    select = f"SELECT {table.key}, * FROM {table.name} WHERE {table.page}"
    yield from _in(db, select, pages)


def _in(db: sqlite3.Connection, select: str, values: Sequence[str]) -> Iterator[Row]:
    """The answer to a question that ends in a column which has one of these values."""
    for part in _parts(values):
        yield from db.execute(f"{select} IN ({_marks(part)})", part).fetchall()


def _parts(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + _AT_ONCE] for start in range(0, len(values), _AT_ONCE))


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))


def _exchange(
    db: sqlite3.Connection, table: _Table, there: Iterable[Row], rows: Sequence[Row]
) -> list[Row]:
    """Put rows in place of those that are there (each behind its key); the rows that went. Those
    that are wanted as they are stay untouched."""
    wanted, width = set(rows), table.key.count(",") + 1
    found = [(row[:width], row[width:]) for row in there]
    stays = {row for _, row in found if row in wanted}
    gone = [(key, row) for key, row in found if row not in stays]
    condition = " AND ".join(f"{part} = ?" for part in table.key.split(", "))
    db.executemany(f"DELETE FROM {table.name} WHERE {condition}", [key for key, _ in gone])
    new = [row for row in rows if row not in stays]
    insert(db, table.name, new)
    went = [row for _, row in gone]
    if table is _DOCUMENTS:
        _note_pending(db, went, new)
    return went


def _note_pending(db: sqlite3.Connection, gone: Iterable[Row], new: Iterable[Row]) -> None:
    for removed, rows in ((1, gone), (0, new)):
        documents = map(DocumentRow._make, rows)
        insert(db, "pending", [Pending(d.scope, d.past, d.key, removed) for d in documents])


def _ids(pages: Iterable[PageRows]) -> list[str]:
    return [rows.page.page_id for rows in pages]
