"""The engine on SQLite's FTS5: segments of one file each, of which a table of contents tells.

A file is written once and read as immutable: a reader keeps its snapshot, and a segment that held
what was erased goes as a whole.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from pcpfs.errors import Unavailable
from pcpfs.ports import (
    AnalysedDocument,
    DocumentTable,
    Postings,
    SearchEngine,
    SearchIndex,
)
from pcpfs_index.fts5_segment import (
    NewSegment,
    Segment,
    SegmentReader,
    connected,
    translated,
)
from pcpfs_index.segments import WORN, Snapshot, plan

_CONTENTS, _SEGMENT = "contents-", "segment-"
_LOCK = "write.lock"
_ATTEMPTS = 10


class Fts5Index:
    """A snapshot of the index in a folder, and the way to change it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._snapshot = _newest(folder, ())

    def stamp(self) -> str:
        return self._snapshot.stamp

    def documents(self) -> DocumentTable:
        with translated():
            return self._snapshot.table()

    def postings(self, term: str) -> Postings:
        with translated():
            return self._snapshot.postings(term)

    def terms_from(self, prefix: str) -> Iterator[str]:
        with translated():
            yield from self._snapshot.terms_from(prefix)

    def close(self) -> None:
        self._snapshot.close()

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        with _locked(self._folder):
            self._change(documents, removed, stamp, WORN)

    def expunge(self, removed: Iterable[str], stamp: str) -> None:
        with _locked(self._folder):
            self._change((), removed, stamp, 1.0)

    def _change(
        self,
        documents: Iterable[AnalysedDocument],
        removed: Iterable[str],
        stamp: str,
        worn: float,
    ) -> None:
        latest = _newest(self._folder, self._snapshot.readers)
        try:
            _commit(self._folder, latest, documents, removed, stamp, worn=worn)
            snapshot = _newest(self._folder, latest.readers)
        finally:
            latest.close()
        self._snapshot.close()
        self._snapshot = snapshot


class Fts5Engine:
    """Opens the index of a folder; Unavailable where SQLite was built without FTS5."""

    name = "fts5"
    version = "1"

    def open(self, folder: Path) -> SearchIndex:
        _check_fts5()
        with translated():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Fts5Index(folder)


engine: SearchEngine = Fts5Engine()


@cache
def _check_fts5() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute("CREATE VIRTUAL TABLE tried USING fts5(text)")
        except sqlite3.Error as error:
            raise Unavailable(
                f"SQLite {sqlite3.sqlite_version} of this Python has no FTS5 ({error}); "
                'set index = "whoosh" in pcpfs.toml'
            ) from error


def _commit(
    folder: Path,
    latest: Snapshot[SegmentReader],
    documents: Iterable[AnalysedDocument],
    removed: Iterable[str],
    stamp: str,
    *,
    worn: float,
) -> None:
    """Write a new segment, then the table of contents that counts it in."""
    with translated():
        generation = max(map(_number, _files(folder)), default=0) + 1
    with closing(NewSegment(folder / f"{_SEGMENT}{generation:016x}")) as new:
        new.take(documents)
        gone = {*removed, *new.keys}
        with translated():
            for reader in latest.readers:
                reader.delete(gone)
            kept, poured = plan(latest.readers, len(new.keys), worn)
            for reader in poured:
                new.pour(reader)
            segments = [reader.segment for reader in kept] + new.finished()
            _write_contents(folder, generation, stamp, segments)
    _clean(folder, generation, segments)


def _write_contents(folder: Path, generation: int, stamp: str, segments: Sequence[Segment]) -> None:
    new = folder / f"{_CONTENTS}new"
    content = {"stamp": stamp, "segments": [asdict(segment) for segment in segments]}
    new.write_text(json.dumps(content), encoding="ascii")
    os.replace(new, folder / f"{_CONTENTS}{generation:016x}")


def _clean(folder: Path, generation: int, segments: Sequence[Segment]) -> None:
    """Remove the files of earlier snapshots and of writers that did not get to their end."""
    used = {f"{_CONTENTS}{generation:016x}", *(segment.name for segment in segments)}
    for name in _files(folder):
        if name not in used:
            with suppress(OSError):  # someone has it open, where that matters
                (folder / name).unlink()


def _files(folder: Path) -> list[str]:
    return [name for name in os.listdir(folder) if name.startswith((_CONTENTS, _SEGMENT))]


def _number(name: str) -> int:
    try:
        return int(name.partition("-")[2], 16)
    except ValueError:
        return 0  # a table of contents that nobody finished


def _newest(folder: Path, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
    """The newest snapshot; tried again if a writer was just removing the one before."""
    for _ in range(_ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            return _read_newest(folder, known)
    with translated():
        return _read_newest(folder, known)


def _read_newest(folder: Path, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
    readers: list[SegmentReader] = []
    with translated(FileNotFoundError):
        generation, name = max(
            ((_number(name), name) for name in _files(folder) if name.startswith(_CONTENTS)),
            default=(0, ""),
        )
        if not generation:
            return Snapshot("", 0, readers)
        contents = json.loads((folder / name).read_bytes())
        try:
            for entry in contents["segments"]:
                segment = Segment(**entry)
                readers.append(SegmentReader(folder / segment.name, segment, known))
            return Snapshot(contents["stamp"], generation, readers)
        except BaseException:
            for reader in readers:
                reader.close()
            raise


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of the folder, which dies with the process; Busy if another has it."""
    with translated():
        lock = connected(folder / _LOCK)
    with closing(lock):
        with translated():
            lock.execute("BEGIN EXCLUSIVE")
        yield
