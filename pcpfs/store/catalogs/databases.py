"""SQLite files: opened for writing where that is allowed, else read from a copy in memory; and what
their errors mean."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pcpfs.errors import Busy, Corrupt, InvalidName, PcpfsError, ReadOnly, StorageFull, Unavailable

_MOST_BYTES = 500
"""SQLite takes paths of about 512 bytes, with the endings of its logs."""

_MOST_LOG = 512 * 1024
_FULL = ("disk is full", "disk I/O error")


def connect(file: Path) -> sqlite3.Connection:
    """A connection with a write-ahead log, so that readers and the one writer do not wait.

    In a folder that may not be written, or where no space is left, a copy in memory: it can be used
    like any other, what is put into it is forgotten. Raises sqlite3.Error. Nothing that a database
    file of foreign origin says is executed (no triggers and functions of its schema).
    """
    if str(file) == ":memory:":
        return _connected(file)
    if _is_writable(file):
        try:
            return _with_log(file)
        except sqlite3.OperationalError as error:
            if not (_is_full(error) and file.exists()):
                raise
    return _copied(file)


def _connected(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        file, timeout=_PATIENCE_MS / 1000, isolation_level=None, cached_statements=256
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _with_log(file: Path) -> sqlite3.Connection:
    connection = _connected(file)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def drop_programs(connection: sqlite3.Connection) -> None:
    """Take triggers and views out of a file that may be of foreign origin: we make none."""
    found = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view')"
    ).fetchall()
    for kind, name in found:
        quoted = str(name).replace('"', '""')
        connection.execute(f'DROP {kind} "{quoted}"')


def _is_writable(file: Path) -> bool:
    effective = os.access in os.supports_effective_ids
    places = [place for place in (file, file.parent) if place.exists()]
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in places)


def _copied(file: Path) -> sqlite3.Connection:
    """What the file holds without its log; catching up with the store's files does the rest."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    if file.exists():
        address = f"file:{quote(os.fspath(file))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(address, uri=True)) as source:
            source.backup(copy)
    return copy


_PATIENCE_MS = 30_000


@contextmanager
def impatient(connection: sqlite3.Connection) -> Iterator[None]:
    """Wait for nobody who writes: for what can as well be done the next time."""
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")


def shorten_log(connection: sqlite3.Connection) -> None:
    """Give back what a write-ahead log takes of the disk, if that is much and nobody uses it just
    now: by itself it stays as long as it ever was."""
    ((_, _, file), *_) = connection.execute("PRAGMA database_list")
    with suppress(FileNotFoundError):
        if file and os.stat(f"{file}-wal").st_size > _MOST_LOG:
            with impatient(connection):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing. SQLite takes some failed transactions back by itself."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(what: Path | str, remedy: str) -> Iterator[None]:
    """Errors of SQLite as errors of pcpfs; `remedy` says what to do about a damaged file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(error, what, remedy) from error


def _translation(error: sqlite3.Error, what: Path | str, remedy: str) -> PcpfsError:
    text = str(error)
    if "locked" in text:
        return Busy(f"{what} is in use by another process; try again")
    if "unable to open" in text and len(os.fsencode(what)) >= _MOST_BYTES:
        return InvalidName(f"{what} is too long a path for SQLite; choose a shorter one")
    if "readonly" in text or "unable to open" in text:
        return ReadOnly(f"{what} may not be written; check the permissions of its folder")
    if _is_full(error):
        return StorageFull(f"no space is left for {what}; free some space and try again")
    if not isinstance(error, sqlite3.OperationalError | sqlite3.ProgrammingError):
        return Corrupt(f"{what} is damaged; {remedy}", path=str(what))
    return Unavailable(f"{what} cannot be used: {text}")


def _is_full(error: sqlite3.Error) -> bool:
    """SQLite tells of some writes that found no space only that they failed."""
    return any(sign in str(error) for sign in _FULL)


class Database:
    """A connection whose errors are those of pcpfs."""

    def __init__(self, connection: sqlite3.Connection, what: Path, remedy: str) -> None:
        self.connection = connection
        self._what = what
        self._remedy = remedy

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> sqlite3.Cursor:
        with translated(self._what, self._remedy):
            return self.connection.execute(statement, parameters)

    def executemany(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with translated(self._what, self._remedy):
            self.connection.executemany(statement, rows)

    @contextmanager
    def writing(self) -> Iterator[None]:
        with translated(self._what, self._remedy), transaction(self.connection):
            yield

    def shorten_log(self) -> None:
        with translated(self._what, self._remedy):
            shorten_log(self.connection)

    def close(self) -> None:
        self.connection.close()
