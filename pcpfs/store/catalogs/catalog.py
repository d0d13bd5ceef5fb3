"""The catalog: a disposable SQLite file that answers by-id, symbol, relation and listing questions.

It holds nothing that the files of the store do not say. It knows at which commit it stands, counts
its generations, and is opened by readers and the one writer at the same time (write-ahead log).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from pcpfs.errors import Busy, PcpfsError
from pcpfs.model.grants import PRIVATE
from pcpfs.model.names import Namespace
from pcpfs.store.catalogs.databases import (
    connect,
    impatient,
    shorten_log,
    transaction,
    translated,
)
from pcpfs.store.catalogs.rows import (
    AcceptedRow,
    AccessRow,
    BesideFrameRow,
    BesideRow,
    BranchesRow,
    ChangeRow,
    ClosingRow,
    DocumentRow,
    ErasedRow,
    EventRow,
    FollowRow,
    FrameRow,
    GroundRow,
    ImportRow,
    LatestEventRow,
    LinkRow,
    MentionRow,
    PageRow,
    PageRows,
    Pending,
    RelationRow,
    ResidueRow,
    RevisionRow,
    RootRow,
    ScopeRow,
    ScopeRows,
    SegmentRow,
    SpanRow,
)
from pcpfs.store.folding.replacing import insert, remove_page, replace_pages

CATALOG_VERSION = "25"
"""Rises whenever the tables or what is in them change: an older catalog is then built anew."""


class Damage(NamedTuple):
    """A page whose files cannot be read: left out, and named by `status` and `fsck`."""

    page_id: str
    scope: str
    path: str
    message: str


TABLES: tuple[tuple[str, type, str], ...] = (
    ("scope", ScopeRow, "scope"),
    ("root", RootRow, "root_id"),
    ("access", AccessRow, "principal, permission, scope"),
    ("link", LinkRow, "scope, target"),
    ("accepted", AcceptedRow, "scope, salt"),
    ("page", PageRow, "page_id"),
    ("revision", RevisionRow, "revision_id"),
    ("span", SpanRow, "page_id, ordinal"),
    ("closing", ClosingRow, "page_id, place"),
    ("beside", BesideRow, "page_id, place"),
    ("beside_frame", BesideFrameRow, "page_id, place, frame_id"),
    ("branches", BranchesRow, "root_id"),
    ("import", ImportRow, "page_id, revision_id, adapter"),
    ("relation", RelationRow, "from_page, relation_id"),
    ("change", ChangeRow, "change_id"),
    ("document", DocumentRow, "key"),
    ("pending", Pending, "scope, past, key"),
    ("damage", Damage, "page_id"),
    ("erased", ErasedRow, "page_id"),
    ("residue", ResidueRow, "path, page_id"),
    ("segment", SegmentRow, "segment"),
    ("event", EventRow, "revision_id, segment"),
    ("follow", FollowRow, "followed, revision_id"),
    ("latest_event", LatestEventRow, "scope, revision_id"),
    ("mention", MentionRow, "page_id"),
    ("ground", GroundRow, "root_id"),
)
NOT_OF_FILES = ("pending", "damage", "mention", "ground")
"""Tables of which the rows depend on the way that a catalog has come, not on the files alone."""

_INDEXES = (
    "page (scope, path)",
    "page (scope, claim) WHERE claim IS NOT NULL",
    "page (root_id, path) WHERE root_id IS NOT NULL",
    "revision (page_id)",
    "revision (digest)",
    "revision (page_id) WHERE thinned",
    "span (revision_id)",
    "span (page_id, valid_from) WHERE basis = 'first'",
    "beside (commit_id)",
    "beside (moved_of) WHERE moved_of IS NOT NULL",
    "beside (revision_id)",
    "beside_frame (name)",
    "beside_frame (frame_id)",
    "frame (frame_id)",
    "frame (page_id, valid_to, kind)",
    "frame (name)",
    "frame (qualified_name)",
    "frame (doc_key)",
    "relation (to_page)",
    "relation (to_frame) WHERE to_frame IS NOT NULL",
    "change (page_id)",
    "change (at)",
    "change (turn, change_id)",
    "document (page_id)",
    "event (segment, start)",
    "event (page_id)",
    "event (digest)",
    "segment (scope)",
    "access (scope)",
    "page (scope) WHERE is_event AND lifecycle <> 'active'",
)


class Catalog:
    """One connection to a catalog file. Not safe to share between threads."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.db = connection

    @classmethod
    def open(cls, path: Path) -> Catalog | None:
        """The catalog in a file; None if there is none that this version can use."""
        if not path.exists():
            return None
        try:
            with _translated(path):
                catalog = cls(_connect(path))
            if catalog.meta("version") == CATALOG_VERSION and catalog.is_plain():
                return catalog
        except Busy:
            raise
        except PcpfsError:
            return None  # whatever this is, it is disposable
        return None

    @classmethod
    def create(cls, path: Path, identity: str = "") -> Catalog:
        """An empty catalog in a new file (or, with path `:memory:`, in memory). Text indexes belong
        to the catalog of one identity."""
        with _translated(path):
            catalog = cls(_connect(path))
            with catalog.db:
                for statement in _schema():
                    catalog.db.execute(statement)
                catalog.set_meta("version", CATALOG_VERSION)
                catalog.set_meta("catalog_id", identity)
            return catalog

    def close(self) -> None:
        self.db.close()

    def __del__(self) -> None:
        """Readers may outlive the store's own use of a catalog: the last one closes it."""
        with suppress(sqlite3.ProgrammingError):  # in another thread: SQLite does it by itself
            self.db.close()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """All or nothing; raises the generation by one."""
        with _translated("the catalog"), transaction(self.db):
            yield
            self.set_meta("generation", str(self.generation + 1))

    def is_plain(self) -> bool:
        """Whether its schema is ours to the letter: no trigger, view or check that somebody else
        put there runs in our name."""
        there = self.query("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        return sorted(sql for (sql,) in there) == sorted(_schema())

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """All questions in the block see one state, whoever writes meanwhile."""
        with _translated("the catalog"):
            self.db.execute("BEGIN")
        try:
            yield
        finally:
            if self.db.in_transaction:
                self.db.execute("COMMIT")

    def tidy(self) -> None:
        """Take the write-ahead log in."""
        with _translated("the catalog"):
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def shorten_log(self) -> None:
        """The same in a moment when nothing else is to do, if it is worth it."""
        with _translated("the catalog"):
            shorten_log(self.db)

    def copy_to(self, path: Path) -> None:
        """Write all that it says into a new file, and nothing else."""
        with _translated(path):
            self.db.execute("VACUUM INTO ?", (str(path),))

    def query(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a question; Corrupt, with what to do, if the file is damaged."""
        with _translated("the catalog"):
            rows: list[tuple[Any, ...]] = self.db.execute(statement, parameters).fetchall()
            return rows

    def rows(self, statement: str, parameters: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a question one by one, for answers that do not fit into memory or of which
        only the first are wanted."""
        with _translated("the catalog"):
            yield from self.db.execute(statement, parameters)

    @property
    def is_in_memory(self) -> bool:
        """Whether no other process sees what is put into it."""
        return not any(
            file for _, name, file in self.query("PRAGMA database_list") if name == "main"
        )

    def wait_at_most(self, seconds: float) -> None:
        """Raise Busy when other processes keep the file for longer than this."""
        self.db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")

    @property
    def generation(self) -> int:
        return int(self.meta("generation") or "0")

    def meta(self, key: str) -> str | None:
        rows = self.query("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def replace_pages(self, pages: Sequence[PageRows]) -> None:
        """Put these rows in place of all that is known of their pages (or of the tails of them),
        and note what the text indexes have to take in."""
        replace_pages(self.db, pages)

    def set_damage(self, damage: Damage) -> None:
        """Leave a page out whose files cannot be read."""
        self.remove_page(damage.page_id)
        insert(self.db, "damage", (damage,))

    def damages(self) -> list[Damage]:
        return [Damage(*row) for row in self.query("SELECT * FROM damage ORDER BY page_id")]

    def hide_page(self, row: ErasedRow, folder: str, *, is_there: bool) -> None:
        """Forget a page that was erased; its folder may have come back."""
        self.remove_page(row.page_id)
        insert(self.db, "erased", (row,))
        self.note_residue(folder, row.scope, (row.page_id,) if is_there else ())

    def excluded_pages(self, scope: str) -> frozenset[str]:
        """The source pages of a scope that are not taken in (again)."""
        rows = self.query("SELECT page_id, excluded FROM erased WHERE scope = ?", (scope,))
        return frozenset(page for own, more in rows for page in (own, *decode_list(more)))

    def note_residue(self, path: str, scope: str, pages: Iterable[str]) -> None:
        """What a file holds of erased pages, in place of what was known of it."""
        self.db.execute("DELETE FROM residue WHERE path = ?", (path,))
        insert(self.db, "residue", [ResidueRow(path, page, scope) for page in pages])

    def is_erased(self, page_id: str) -> bool:
        return bool(self.query("SELECT 1 FROM erased WHERE page_id = ?", (page_id,)))

    def has_residue(self) -> bool:
        return bool(self.query("SELECT 1 FROM residue LIMIT 1"))

    def residues(self) -> list[ResidueRow]:
        """Everything that came back of erased pages, by path."""
        return [ResidueRow(*row) for row in self.query("SELECT * FROM residue ORDER BY 1, 2")]

    def keep_ground(
        self, ground: GroundRow | None, mentions: Iterable[MentionRow], generation: int
    ) -> None:
        """Keep what maps of a source are made of, as it was in this generation: the ground if it
        still is, mentions of pages that were not erased or removed meanwhile. Busy, at once, if
        somebody else writes."""
        marks = ", ".join("?" * len(MentionRow._fields))
        with _translated("the catalog"), impatient(self.db), transaction(self.db):
            self.db.executemany(
                f"INSERT OR REPLACE INTO mention SELECT {marks} "
                "WHERE EXISTS (SELECT 1 FROM page WHERE page_id = ?)",
                [(*row, row.page_id) for row in mentions],
            )
            if ground is not None and self.generation == generation:
                insert(self.db, "ground", [ground])

    def remove_page(self, page_id: str) -> None:
        """Forget a page whose files are gone."""
        remove_page(self.db, page_id)

    def replace_scope(self, rows: ScopeRows) -> None:
        """Put these rows in place of all that is known of a scope itself."""
        self.remove_scope(Namespace(rows.scope.scope))
        insert(self.db, "scope", (rows.scope,))
        insert(self.db, "root", rows.roots)
        insert(self.db, "change", rows.changes)
        insert(self.db, "access", rows.access)
        insert(self.db, "accepted", rows.accepted)
        insert(self.db, "link", rows.links)
        insert(self.db, "branches", rows.branches)

    def remove_scope(self, namespace: Namespace) -> None:
        """Forget a scope's own changes (its pages are rows of their own)."""
        for table in ("scope", "root", "access", "link", "accepted", "branches", "ground"):
            self.db.execute(f"DELETE FROM {table} WHERE scope = ?", (namespace,))
        self.db.execute("DELETE FROM damage WHERE scope = ? AND page_id = path", (namespace,))
        self.db.execute("DELETE FROM change WHERE page_id IS NULL AND scope = ?", (namespace,))

    def replace_access(self, rows: Iterable[AccessRow]) -> None:
        """Put these permissions in place of all that there are."""
        self.db.execute("DELETE FROM access")
        insert(self.db, "access", rows)

    def page(self, page_id: str) -> PageRow | None:
        rows = self.query("SELECT * FROM page WHERE page_id = ?", (page_id,))
        return PageRow(*rows[0]) if rows else None

    def pages(self, condition: str = "1", parameters: Sequence[object] = ()) -> list[PageRow]:
        """Pages for which a condition over the columns of `page` holds, by id."""
        rows = self.query(f"SELECT * FROM page WHERE {condition} ORDER BY page_id", parameters)
        return [PageRow(*row) for row in rows]

    def frames(self, condition: str, parameters: Sequence[object] = ()) -> list[FrameRow]:
        """Frames for which a condition over the columns of `frame` holds, by page and position."""
        order = "ORDER BY frame.page_id, byte_a, byte_b DESC, frame_id, valid_from"
        rows = self.query(f"SELECT * FROM frame WHERE {condition} {order}", parameters)
        return [FrameRow(*row) for row in rows]

    def spans(self, page_id: str) -> list[SpanRow]:
        rows = self.query("SELECT * FROM span WHERE page_id = ? ORDER BY ordinal", (page_id,))
        return [SpanRow(*row) for row in rows]

    def besides(self, condition: str, parameters: Sequence[object] = ()) -> list[BesideRow]:
        """What commits beside the line did, for which a condition over the columns of `beside`
        holds."""
        rows = self.query(f"SELECT * FROM beside WHERE {condition} ORDER BY 1, 2", parameters)
        return [BesideRow(*row) for row in rows]

    def last_span(self, page_id: str) -> SpanRow | None:
        last = "SELECT * FROM span WHERE page_id = ? ORDER BY ordinal DESC LIMIT 1"
        rows = self.query(last, (page_id,))
        return SpanRow(*rows[0]) if rows else None

    def relations(self, condition: str, parameters: Sequence[object] = ()) -> list[RelationRow]:
        order = "ORDER BY created_at, relation_id"
        rows = self.query(f"SELECT * FROM relation WHERE {condition} {order}", parameters)
        return [RelationRow(*row) for row in rows]

    def scopes(self) -> list[ScopeRow]:
        return [ScopeRow(*row) for row in self.query("SELECT * FROM scope ORDER BY scope")]

    def visibility(self, scope: str) -> str:
        ((visibility,), *_) = (
            *self.query("SELECT visibility FROM scope WHERE scope = ?", (scope,)),
            (PRIVATE,),
        )
        return str(visibility)

    def roots(self) -> list[RootRow]:
        rows = self.query("SELECT * FROM root ORDER BY scope, name, root_id")
        return [RootRow(*row) for row in rows]

    def pending(self, scope: str, past: int) -> list[Pending]:
        rows = self.query(
            "SELECT pending.* FROM pending LEFT JOIN document USING (key) "
            "WHERE pending.scope = ? AND pending.past = ? ORDER BY document.page_id, key",
            (scope, past),
        )
        return [Pending(*row) for row in rows]


def _schema() -> Iterator[str]:
    yield "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID"
    for table, row, key in TABLES:
        columns = ", ".join(row._fields)  # type: ignore[attr-defined]  # all are NamedTuples
        yield f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({key})) WITHOUT ROWID"
    yield f"CREATE TABLE frame ({', '.join(FrameRow._fields)})"
    for number, index in enumerate(_INDEXES):
        yield f"CREATE INDEX index_{number} ON {index}"


def _connect(path: Path) -> sqlite3.Connection:
    connection = connect(path)
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def _translated(what: Path | str) -> AbstractContextManager[None]:
    return translated(what, "remove the folder .pcpfs, nothing is lost")


def decode_list(text: str) -> list[str]:
    """A JSON list of strings as a column holds it."""
    value: list[str] = json.loads(text)
    return value
