"""What belongs to this clone alone and cannot be derived: a small SQLite file below the git folder.

It survives `rm -rf .pcpfs`; it is never shared.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pcpfs.model.ids import CloneId, Digest, PageId, RootId, base32
from pcpfs.model.names import escaped, unescaped
from pcpfs.ports import Entropy

_SCHEMA = """
CREATE TABLE IF NOT EXISTS value (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS base (path TEXT PRIMARY KEY, page_id TEXT, digest TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS base_page ON base (page_id);
CREATE TABLE IF NOT EXISTS root (root_id TEXT PRIMARY KEY, path TEXT, synced_at INT, skipped TEXT)
    WITHOUT ROWID;
"""


class Base(NamedTuple):
    """What we last laid at a path of the work tree."""

    path: str
    page_id: PageId
    digest: Digest


class BoundRoot(NamedTuple):
    """Where a root lies on this machine, and what its last scan left out."""

    root_id: RootId
    path: str
    synced_at: int | None
    skipped: tuple[tuple[str, str, str], ...]


class LocalState:
    """Clone id, bases of `tree/` files, paths of roots."""

    def __init__(self, file: Path, work_tree: str, host: str, entropy: Entropy) -> None:
        """Open or make the file. A copied folder (other host or path) is a new clone."""
        self._db = sqlite3.connect(file, timeout=30, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.executescript(_SCHEMA)
        self.clone = self._clone(json.dumps([host, work_tree]), entropy)

    def close(self) -> None:
        self._db.close()

    def _clone(self, place: str, entropy: Entropy) -> CloneId:
        known = dict(self._db.execute("SELECT key, value FROM value"))
        if known.get("place") != place:
            known = {"place": place, "clone": "cl_" + base32(entropy.random(16))}
            self._db.executemany("INSERT OR REPLACE INTO value VALUES (?, ?)", known.items())
        return CloneId(known["clone"])

    def bases(self, pages: Iterable[PageId]) -> list[Base]:
        """What we laid for these pages."""
        found: list[Base] = []
        for page in pages:
            rows = self._db.execute("SELECT * FROM base WHERE page_id = ?", (page,))
            found += [Base(path, PageId(owner), Digest(digest)) for path, owner, digest in rows]
        return found

    def all_bases(self) -> list[Base]:
        """Everything that we laid, by path."""
        rows = self._db.execute("SELECT * FROM base ORDER BY path")
        return [Base(path, PageId(owner), Digest(digest)) for path, owner, digest in rows]

    def base(self, path: str) -> Base | None:
        row = self._db.execute("SELECT * FROM base WHERE path = ?", (path,)).fetchone()
        return row and Base(row[0], PageId(row[1]), Digest(row[2]))

    def set_bases(self, laid: Iterable[Base], removed: Iterable[str]) -> None:
        """Remember what was laid and what was taken away."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("DELETE FROM base WHERE path = ?", [(path,) for path in removed])
        self._db.executemany("INSERT OR REPLACE INTO base VALUES (?, ?, ?)", laid)
        self._db.execute("COMMIT")

    def bind_root(self, root: RootId, path: str) -> None:
        """This root lies at this path on this machine."""
        self._db.execute(
            "INSERT INTO root VALUES (?, ?, NULL, '[]') "
            "ON CONFLICT (root_id) DO UPDATE SET path = excluded.path",
            (root, escaped(path)),
        )

    def note_sync(self, root: RootId, at: int, skipped: Iterable[tuple[str, str, str]]) -> None:
        """Remember when a root was last brought up to date, and what was left out and why."""
        listed = json.dumps([list(map(escaped, row)) for row in skipped])
        self._db.execute(
            "UPDATE root SET synced_at = ?, skipped = ? WHERE root_id = ?", (at, listed, root)
        )

    def roots(self) -> dict[RootId, BoundRoot]:
        rows = self._db.execute("SELECT * FROM root ORDER BY root_id")
        return {
            RootId(root): BoundRoot(
                RootId(root),
                unescaped(path),
                at,
                tuple((unescaped(a), b, unescaped(c)) for a, b, c in json.loads(skipped)),
            )
            for root, path, at, skipped in rows
        }
