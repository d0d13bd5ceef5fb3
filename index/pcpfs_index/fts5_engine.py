"""The engine on SQLite's FTS5: segments of one file each, of which a table of contents tells.

A file is written once and read as immutable: a reader keeps its snapshot, and a segment that held
what was erased goes as a whole.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import asdict
from functools import cache
from pathlib import Path

from pcpfs.errors import Unavailable
from pcpfs.ports import AnalysedDocument, SearchEngine, SearchIndex
from pcpfs_index.fts5_segment import (
    NewSegment,
    Segment,
    SegmentReader,
    connected,
    translated,
)
from pcpfs_index.segmented import SegmentedIndex, opened
from pcpfs_index.segments import Snapshot, plan

_CONTENTS, _SEGMENT = "contents-", "segment-"
_LOCK = "write.lock"


class Fts5Folder:
    """The segments and tables of contents in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def translated(self, *passing: type[Exception]) -> AbstractContextManager[None]:
        return translated(*passing)

    @contextmanager
    def locked(self) -> Iterator[None]:
        with translated():
            lock = connected(self._folder / _LOCK)
        with closing(lock):
            with translated():
                lock.execute("BEGIN EXCLUSIVE")
            yield

    def newest(self, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
        folder = self._folder
        with translated(FileNotFoundError):
            generation, name = max(
                ((_number(name), name) for name in _files(folder) if name.startswith(_CONTENTS)),
                default=(0, ""),
            )
            if not generation:
                return Snapshot("", 0, ())
            contents = json.loads((folder / name).read_bytes())
            segments = (Segment(**entry) for entry in contents["segments"])
            readers = opened(segments, lambda s: SegmentReader(folder / s.name, s, known))
            return Snapshot(contents["stamp"], generation, readers)

    def commit(
        self,
        latest: Snapshot[SegmentReader],
        documents: Iterable[AnalysedDocument],
        removed: Iterable[str],
        stamp: str,
        worn: float,
    ) -> None:
        folder = self._folder
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


class Fts5Engine:
    """Opens the index of a folder; Unavailable where SQLite was built without FTS5."""

    name = "fts5"
    version = "1"

    def open(self, folder: Path) -> SearchIndex:
        _check_fts5()
        with translated():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return SegmentedIndex(Fts5Folder(folder))


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
