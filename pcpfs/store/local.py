"""What belongs to this clone alone and cannot be derived: a small SQLite file below the git folder.

It survives `rm -rf .pcpfs`; it is never shared.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pcpfs.git.holding import Standing
from pcpfs.model.ids import CloneId, Digest, PageId, RevisionId, RootId, base32
from pcpfs.model.names import escaped, unescaped
from pcpfs.ports import Entropy
from pcpfs.store.catalogs.databases import Database, connect, drop_programs, translated

_SCHEMA = """
CREATE TABLE IF NOT EXISTS value (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS laid
    (path TEXT PRIMARY KEY, page_id TEXT, digest TEXT, revision_id TEXT, before TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS laid_page ON laid (page_id);
CREATE TABLE IF NOT EXISTS former
    (path TEXT PRIMARY KEY, page_id TEXT, digest TEXT, revision_id TEXT, before TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS purged (page_id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rewritten (old TEXT PRIMARY KEY, new TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erased_file
    (page_id TEXT PRIMARY KEY, inode INT, size INT, mtime_ns INT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS root (root_id TEXT PRIMARY KEY, path TEXT, synced_at INT, skipped TEXT)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scanned (root_id TEXT PRIMARY KEY, at INT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suppression
    (task TEXT, page_id TEXT, until INT, why TEXT, PRIMARY KEY (task, page_id)) WITHOUT ROWID;
"""

_REMEDY = "`pcpfs fsck --repair` begins a new one; then add your sources again"


class FileMark(NamedTuple):
    """By what a file is known again that was only moved: nothing that says what it holds."""

    inode: int
    size: int
    mtime_ns: int


class Base(NamedTuple):
    """What we last laid at a path of the work tree, or took from there.

    `before` are the revisions that the file held earlier, since somebody last saved it: an editor
    may still have one of them in its buffer.
    """

    path: str
    page_id: PageId
    digest: Digest
    revision: RevisionId
    before: tuple[RevisionId, ...] = ()

    def followed_by(self, path: str, digest: Digest, revision: RevisionId) -> Base:
        """The base of a file that gets the text of another revision of the same page."""
        if revision == self.revision:
            return self._replace(path=path)
        known = (*(r for r in self.before if r != revision), self.revision)
        return Base(path, self.page_id, digest, revision, known[-_MOST_BEFORE:])


_MOST_BEFORE = 12


class Position(NamedTuple):
    """Where HEAD and the stash of git stood; None for nothing there."""

    head: str | None
    stash: str | None


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
        with translated(file, _REMEDY):
            connection = connect(file)
            connection.execute("PRAGMA synchronous = FULL")  # nothing can bring it back
            drop_programs(connection)
            connection.executescript(_SCHEMA)
        self._db = Database(connection, file, _REMEDY)
        self.clone = self._clone(json.dumps([host, work_tree]), entropy)

    def close(self) -> None:
        self._db.close()

    def shorten_log(self) -> None:
        """Take a long write-ahead log in, in a moment when nothing else is to do."""
        self._db.shorten_log()

    def check(self) -> None:
        """sqlite3.DatabaseError if the file is damaged."""
        ((said,),) = self._db.connection.execute("PRAGMA integrity_check(1)")
        if said != "ok":
            raise sqlite3.DatabaseError(said)

    def _clone(self, place: str, entropy: Entropy) -> CloneId:
        known = self._values()
        if known.get("place") != place:
            with self._db.writing():  # several processes may meet a new clone at once
                known = self._values()
                if known.get("place") != place:
                    known = {"place": place, "clone": "cl_" + base32(entropy.random(16))}
                    self._db.executemany(
                        "INSERT OR REPLACE INTO value VALUES (?, ?)", known.items()
                    )
        return CloneId(known["clone"])

    def _values(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT key, value FROM value"))

    def bases(self, pages: Iterable[PageId]) -> list[Base]:
        """What we laid for these pages."""
        found: list[Base] = []
        for page in pages:
            found += map(_base, self._db.execute("SELECT * FROM laid WHERE page_id = ?", (page,)))
        return found

    def all_bases(self) -> list[Base]:
        """Everything that we laid, by path."""
        return [_base(row) for row in self._db.execute("SELECT * FROM laid ORDER BY path")]

    def laid_paths(self) -> list[str]:
        """The paths of `all_bases`."""
        return [unescaped(path) for (path,) in self._db.execute("SELECT path FROM laid")]

    def base(self, path: str) -> Base | None:
        row = self._db.execute("SELECT * FROM laid WHERE path = ?", (escaped(path),)).fetchone()
        return row and _base(row)

    def formers(self) -> list[Base]:
        """What had been laid at paths from which we took it away, by path: somebody may still have
        that file open."""
        return [_base(row) for row in self._db.execute("SELECT * FROM former ORDER BY path")]

    def set_bases(self, laid: Iterable[Base], removed: Iterable[Base | str]) -> None:
        """Remember what was laid, and what was taken away: with a base, what had been there."""
        gone, kept = list(removed), [_row(base) for base in laid]
        formers = [_row(base) for base in gone if isinstance(base, Base)]
        paths = [(escaped(base.path if isinstance(base, Base) else base),) for base in gone]
        with self._db.writing():
            self._db.executemany("DELETE FROM laid WHERE path = ?", paths)
            self._db.executemany("INSERT OR REPLACE INTO former VALUES (?, ?, ?, ?, ?)", formers)
            self._db.executemany("DELETE FROM former WHERE path = ?", [(row[0],) for row in kept])
            self._db.executemany("INSERT OR REPLACE INTO laid VALUES (?, ?, ?, ?, ?)", kept)

    def forget_pages(self, pages: Iterable[str], paths: Iterable[str]) -> None:
        """Nothing of these pages is known any more, nor left in the file."""
        ids = [(page,) for page in pages]
        undone = set(self.take_undone()).difference(paths)
        with self._db.writing():
            for table in ("laid", "former", "suppression"):
                self._db.executemany(f"DELETE FROM {table} WHERE page_id = ?", ids)
        self.note_undone(undone)
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def purged(self) -> set[str]:
        """Erased pages that are in no commit of this clone either, as far as we know."""
        return {page for (page,) in self._db.execute("SELECT page_id FROM purged")}

    def set_purged(self, pages: Iterable[str], is_purged: bool) -> None:
        order = "INSERT OR IGNORE INTO purged VALUES (?)"
        order = order if is_purged else "DELETE FROM purged WHERE page_id = ?"
        self._db.executemany(order, [(page,) for page in pages])

    def standing(self) -> Standing | None:
        """Where git stood when we last looked for erased pages in its commits."""
        row = self._db.execute("SELECT value FROM value WHERE key = 'standing'").fetchone()
        return row and Standing(*map(frozenset, json.loads(row[0])))

    def set_standing(self, standing: Standing) -> None:
        value = json.dumps([sorted(standing.tips), sorted(standing.shallow)])
        self._db.execute("INSERT OR REPLACE INTO value VALUES ('standing', ?)", (value,))

    def note_rewritten(self, commits: Mapping[str, str]) -> None:
        """Commits that erasures have replaced, by which ones."""
        self._db.executemany("INSERT OR REPLACE INTO rewritten VALUES (?, ?)", commits.items())

    def rewritten(self, commit: str) -> str | None:
        """What an erasure put in place of a commit."""
        asked = "SELECT new FROM rewritten WHERE old = ?"
        row = self._db.execute(asked, (commit,)).fetchone()
        return row and str(row[0])

    def position(self) -> Position | None:
        """Where git stood when we last looked at all of `tree/`, moved on by our own commits; None
        if we never looked."""
        row = self._db.execute("SELECT value FROM value WHERE key = 'position'").fetchone()
        return row and Position(*json.loads(row[0]))

    def set_position(self, position: Position) -> None:
        value = json.dumps(position)
        self._db.execute("INSERT OR REPLACE INTO value VALUES ('position', ?)", (value,))

    def settled(self) -> str | None:
        """The commit for which `tree/` was last brought up to date; None in a new clone."""
        row = self._db.execute("SELECT value FROM value WHERE key = 'settled'").fetchone()
        return row and str(row[0])

    def set_settled(self, commit: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO value VALUES ('settled', ?)", (commit,))

    def note_undone(self, paths: Iterable[str]) -> None:
        """Older texts that somebody committed and that were laid over: for the next report."""
        known = {*self.take_undone(), *paths}
        if known:
            value = json.dumps(sorted(map(escaped, known)))
            self._db.execute("INSERT OR REPLACE INTO value VALUES ('undone', ?)", (value,))

    def take_undone(self) -> list[str]:
        """What was noted; it is reported once."""
        row = self._db.execute("SELECT value FROM value WHERE key = 'undone'").fetchone()
        if row is None:
            return []
        self._db.execute("DELETE FROM value WHERE key = 'undone'")
        return [unescaped(path) for path in json.loads(row[0])]

    def follow(self, before: str | None, after: str | None) -> None:
        """A commit of ours moved HEAD: that is no news."""
        with self._db.writing():  # one wait for the disk
            if after is not None and self.settled() == before:
                self.set_settled(after)
            position = self.position() or Position(None, None)
            if position.head == before:
                self.set_position(position._replace(head=after))

    def suppress(self, rows: Iterable[tuple[str, str, int, str]], now: int) -> None:
        """Remember what tasks do not want to see (task, page, until, why); forget what is over."""
        with self._db.writing():
            self._db.execute("DELETE FROM suppression WHERE until <= ?", (now,))
            self._db.executemany("INSERT OR REPLACE INTO suppression VALUES (?, ?, ?, ?)", rows)

    def lift(self, task: str, pages: Iterable[str]) -> int:
        """Forget these suppressions of a task; how many there were."""
        with self._db.writing():
            return sum(
                self._db.execute(
                    "DELETE FROM suppression WHERE task = ? AND page_id = ?", (task, page)
                ).rowcount
                for page in pages
            )

    def suppressed(self, task: str, now: int) -> list[tuple[str, int, str]]:
        """Page, until when and why, of a task's suppressions that still last."""
        found = self._db.execute(
            "SELECT page_id, until, why FROM suppression WHERE task = ? AND until > ? "
            "ORDER BY page_id",
            (task, now),
        )
        return [(page, until, why) for page, until, why in found]

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

    def note_scan(self, root: RootId, at: int) -> None:
        """Remember when the last look at all of a root began."""
        self._db.execute("INSERT OR REPLACE INTO scanned VALUES (?, ?)", (root, at))

    def scanned_at(self, root: RootId) -> int | None:
        """When the last look at all of a root began, in microseconds; None for never."""
        found = self._db.execute("SELECT at FROM scanned WHERE root_id = ?", (root,))
        return next((at for (at,) in found), None)

    def note_erased_files(self, files: Mapping[PageId, FileMark]) -> None:
        """Which files of this machine are those of erased pages."""
        rows = [(page, *mark) for page, mark in files.items()]
        self._db.executemany("INSERT OR REPLACE INTO erased_file VALUES (?, ?, ?, ?)", rows)

    def erased_files(self) -> dict[FileMark, PageId]:
        """The files that were noted, as they were at the last look."""
        rows = self._db.execute("SELECT * FROM erased_file")
        return {FileMark(*mark): PageId(page) for page, *mark in rows}

    def roots(self) -> dict[RootId, BoundRoot]:
        rows = self._db.execute("SELECT * FROM root ORDER BY root_id")
        return {
            RootId(root): BoundRoot(
                RootId(root),
                unescaped(path),
                at,
                _listed(skipped),
            )
            for root, path, at, skipped in rows
        }


@lru_cache(16)
def _listed(skipped: str) -> tuple[tuple[str, str, str], ...]:
    """What was left out; a watcher asks again and again, and it may be thousands of files."""
    return tuple((unescaped(a), b, unescaped(c)) for a, b, c in json.loads(skipped))


def _base(row: tuple[str, str, str, str, str]) -> Base:
    path, page, digest, revision, before = row
    known = tuple(map(RevisionId, json.loads(before)))
    return Base(unescaped(path), PageId(page), Digest(digest), RevisionId(revision), known)


def _row(base: Base) -> tuple[str, str, str, str, str]:
    before = json.dumps(base.before)
    return escaped(base.path), base.page_id, base.digest, base.revision, before
