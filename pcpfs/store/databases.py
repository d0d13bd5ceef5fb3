"""SQLite files: opened for writing where that is allowed, else read from a copy in memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote


def connect(file: Path) -> sqlite3.Connection:
    """A connection with a write-ahead log, so that readers and the one writer do not wait.

    In a folder that may not be written, a copy in memory: it can be used like any other, what is
    put into it is forgotten. Raises sqlite3.Error. Nothing that a database file of foreign origin
    says is executed (no triggers and functions of its schema).
    """
    memory = str(file) == ":memory:"
    if memory or _is_writable(file):
        connection = sqlite3.connect(file, timeout=30, isolation_level=None, cached_statements=256)
        connection.execute("PRAGMA trusted_schema = OFF")
        if not memory:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
        return connection
    return _copied(file)


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
