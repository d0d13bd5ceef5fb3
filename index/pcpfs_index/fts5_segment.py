"""A segment of the engine on FTS5: one SQLite file, written in one go and read as immutable.

FTS5 sees no text, only the terms that our analysis found. It knows in which columns of a row a term
is, not how often; so each field has eight columns, one for each bit of the count, and the columns
of a term together are its posting, bit by bit. It keeps no text and no positions either.
"""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from struct import pack

from pcpfs.errors import Busy, Corrupt, ReadOnly, StorageFull, Unavailable
from pcpfs.ports import FIELDS, NO_POSTINGS, AnalysedDocument, Postings
from pcpfs_index.inversion import ROW, Numbering
from pcpfs_index.segments import of_system

_BATCH = 500  # documents
_HASH_BYTES = 64_000_000  # of postings in memory before FTS5 writes them

_COLUMNS = tuple(f"{field}{bit}" for field in FIELDS for bit in range(8))
_BIT = {column: 1 << number for number, column in enumerate(_COLUMNS)}
_INSERT = (
    f"INSERT INTO term(rowid, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * (len(_BIT) + 1))})"
)
_MAKE = f"""
    PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
    PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
    CREATE TABLE document(keys TEXT, rows BLOB);
    CREATE VIRTUAL TABLE term USING fts5(
        {", ".join(_COLUMNS)}, content = '', columnsize = 0, detail = column, tokenize = 'ascii');
    INSERT INTO term(term, rank) VALUES ('hashsize', {_HASH_BYTES});
    BEGIN
"""
_READ = """
    PRAGMA temp_store = MEMORY;
    CREATE VIRTUAL TABLE temp.occurrence USING fts5vocab(main, term, instance);
    CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, term, row);
"""

_ODD = re.compile("[^a-z0-9\x81-\ud7ff\ue000-\U0010ffff]")
_ESCAPED = re.compile("\x80([0-9a-f]{4})")


class _Encoding(dict[str, str]):
    """Terms as FTS5's tokenizer `ascii` leaves them: in one piece and as they are. What it would
    take for a separator, or put in lower case, is `\\x80` and four hexadecimal digits."""

    def __missing__(self, term: str) -> str:
        encoded = self[term] = _encoded(term)
        return encoded


def _encoded(term: str) -> str:
    return _ODD.sub(lambda odd: f"\x80{ord(odd[0]):04x}", term)


def _decoded(token: str) -> str:
    return _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), token)


@dataclass(frozen=True, slots=True)
class Segment:
    """What the table of contents says of a file; the sums are over all its documents."""

    name: str
    size: int  # a torn write is found at open
    count: int
    holders: Sequence[int]
    totals: Sequence[int]
    deleted: Sequence[int]


class NewSegment(Numbering):
    """A segment in the making, one transaction in a file of its own; gone again if not finished."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._encoding = _Encoding()
        self._database: sqlite3.Connection | None = None
        self._is_finished = False

    def take(self, documents: Iterable[AnalysedDocument]) -> None:
        waiting = iter(documents)  # whose errors are not ours
        while rows := [self._row(document) for document in islice(waiting, _BATCH)]:
            with translated():
                self._insert(rows)

    def _row(self, document: AnalysedDocument) -> list[int | str | None]:
        encoding = self._encoding
        alike: dict[int, list[str]] = {}
        for term, packed in document.terms.items():
            if packed in alike:
                alike[packed].append(encoding[term])
            else:
                alike[packed] = [encoding[term]]
        held: dict[int, list[str]] = {}
        for packed, terms in alike.items():
            text = " ".join(terms)
            for column in _columns_of(packed):
                held.setdefault(column, []).append(text)
        return _as_row(self.number(document), held)

    def pour(self, reader: SegmentReader) -> None:
        """Append all live documents of another segment."""
        held: dict[int, dict[int, list[str]]] = {
            number: {} for number in range(reader.count) if number not in reader.deleted
        }
        column_number = {column: number for number, column in enumerate(_COLUMNS)}
        token = ""
        for term, number, column in reader.occurrences():
            token = term if term != token else token  # one string for all documents
            if number in held:
                held[number].setdefault(column_number[column], []).append(token)
        keys, rows = reader.keys(), reader.rows()
        self._insert(
            _as_row(self.add_row(keys[number], rows[number * ROW : (number + 1) * ROW]), columns)
            for number, columns in held.items()
        )

    def _insert(self, rows: Iterable[Sequence[int | str | None]]) -> None:
        if self._database is None:
            self._database = connected(self._path)
            self._database.executescript(_MAKE)
        self._database.executemany(_INSERT, rows)

    def finished(self) -> list[Segment]:
        """The segment, whole on the disk; none if it is empty."""
        self._is_finished = True
        if self._database is None:
            return []
        self._database.execute(
            "INSERT INTO document VALUES (?, ?)", (json.dumps(self.keys), self.rows.tobytes())
        )
        self._database.execute("COMMIT")
        self._database.close()
        size = self._path.stat().st_size
        sums = (self.holders(), self.totals(), sorted(self.replaced))
        return [Segment(self._path.name, size, len(self.keys), *sums)]

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            if not self._is_finished:
                self._path.unlink(missing_ok=True)


@cache
def _columns_of(packed: int) -> tuple[int, ...]:
    return tuple(number for number in range(len(_COLUMNS)) if packed >> number & 1)


def _as_row(number: int, held: dict[int, list[str]]) -> list[int | str | None]:
    row: list[int | str | None] = [None] * (1 + len(_COLUMNS))
    row[0] = number
    for column, texts in held.items():
        row[1 + column] = " ".join(texts)
    return row


class SegmentReader:
    """A segment as it was when it was opened; its file stays readable after it is removed."""

    def __init__(self, path: Path, segment: Segment, known: Sequence[SegmentReader]) -> None:
        self.segment = segment
        self.count = segment.count
        self.deleted: Set[int] = frozenset(segment.deleted)
        self.holders, self.totals = segment.holders, segment.totals
        self._keys: list[str] | None = None
        self._numbers: dict[str, int] | None = None
        for other in known:
            if other.segment.name == segment.name:
                self._keys, self._numbers = other._keys, other._numbers
        if path.stat().st_size != segment.size:
            raise Corrupt(f"{path.name} of the index has another size than was written")
        self._database = connected(f"{path.absolute().as_uri()}?mode=ro&immutable=1")
        try:
            self._database.executescript(_READ)
            self._database.execute("SELECT rowid FROM document").fetchone()
        except BaseException:
            self._database.close()
            path.stat()  # FileNotFoundError where that is the reason
            raise

    @property
    def live(self) -> int:
        return self.count - len(self.deleted)

    def close(self) -> None:
        self._database.close()

    def delete(self, keys: Set[str]) -> None:
        """Mark these documents as gone, here and in what the table of contents will say."""
        if self._numbers is None and keys:
            self._numbers = {key: number for number, key in enumerate(self.keys())}
        numbers = self._numbers or {}
        self.deleted = self.deleted | {numbers[key] for key in keys & numbers.keys()}
        self.segment = replace(self.segment, deleted=sorted(self.deleted))

    def keys(self) -> list[str]:
        if self._keys is None:
            (text,) = self._database.execute("SELECT keys FROM document").fetchone()
            self._keys = json.loads(text)
        return self._keys

    def rows(self) -> array[int]:
        (raw,) = self._database.execute("SELECT rows FROM document").fetchone()
        return array("I", raw)

    def postings(self, term: str, base: int = 0) -> Postings:
        packed: dict[int, int] = {}
        get = packed.get
        for number, column in self._database.execute(
            "SELECT doc, col FROM occurrence WHERE term = ?", (_encoded(term),)
        ):
            packed[number] = get(number, 0) | _BIT[column]
        numbers = sorted(packed.keys() - self.deleted if self.deleted else packed)
        if not numbers:
            return NO_POSTINGS
        counts = pack(f"<{len(numbers)}Q", *map(packed.__getitem__, numbers))
        return Postings([base + number for number in numbers] if base else numbers, counts)

    def terms_from(self, prefix: str) -> Iterator[str]:
        start = _encoded(prefix)
        found: list[str] = []
        for (token,) in self._database.execute(
            "SELECT term FROM vocabulary WHERE term >= ?", (start,)
        ):
            if not token.startswith(start):
                break
            found.append(_decoded(token))
        return iter(sorted(found))

    def occurrences(self) -> Iterator[tuple[str, int, str]]:
        """Each token, document and column, in order of tokens."""
        return self._database.execute("SELECT term, doc, col FROM occurrence")


def connected(database: Path | str) -> sqlite3.Connection:
    is_address = isinstance(database, str)
    return sqlite3.connect(
        database, isolation_level=None, check_same_thread=False, uri=is_address, timeout=0
    )


@contextmanager
def translated(*passing: type[Exception]) -> Iterator[None]:
    """Raise what SQLite and the system raise in our terms; `passing` is left as it is."""
    try:
        yield
    except passing:
        raise
    except sqlite3.Error as error:
        raise _of_sqlite(error) from error
    except (LookupError, TypeError, ValueError, FileNotFoundError) as error:
        raise Corrupt(f"the index is damaged ({error!r}); it has to be built anew") from error
    except OSError as error:
        raise of_system(error) from error


def _of_sqlite(error: sqlite3.Error) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 255  # without its extension
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return Busy("the index is being written by another process; try again")
    if code == sqlite3.SQLITE_FULL:
        return StorageFull(f"no space is left for the index: {error}")
    if code in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}:
        return ReadOnly(f"the index cannot be written: {error}")
    if code == sqlite3.SQLITE_IOERR:
        return Unavailable(f"the index cannot be used: {error}")
    return Corrupt(f"the index is damaged ({error}); it has to be built anew")
