"""The engine on disk: a Whoosh index, written and read in bulk (`whoosh_segment`).

Whoosh gives the file format, the atomic table of contents, segments and the lock. It unpickles
what it reads, so a folder is opened only if it belongs to this user and nobody else can write it.
"""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import error as StructError
from zlib import error as ZlibError

from whoosh.filedb.filestore import FileStorage  # type: ignore[import-untyped]
from whoosh.filedb.filetables import FileFormatError  # type: ignore[import-untyped]
from whoosh.index import TOC  # type: ignore[import-untyped]
from whoosh.index import IndexError as WhooshIndexError

from pcpfs.errors import Busy, Corrupt
from pcpfs.ports import (
    AnalysedDocument,
    DocumentTable,
    Postings,
    SearchEngine,
    SearchIndex,
)
from pcpfs_index.inversion import Inversion
from pcpfs_index.segments import WORN, Snapshot, of_system, plan
from pcpfs_index.whoosh_segment import Segment, SegmentReader, schema, write_segment

_NAME = "pcpfs"
_LOCK = f"{_NAME}_WRITELOCK"
_ATTEMPTS = 10

_DAMAGE = (
    WhooshIndexError,
    FileFormatError,
    StructError,
    ZlibError,
    pickle.UnpicklingError,
    FileNotFoundError,
    AssertionError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    TypeError,
    ValueError,
)  # what reading and unpickling raises where the bytes are not as they were written


class WhooshIndex:
    """A snapshot of the index in a folder, and the way to change it."""

    def __init__(self, storage: FileStorage) -> None:
        self._storage = storage
        self._snapshot = _newest(storage, ())

    def stamp(self) -> str:
        return self._snapshot.stamp

    def documents(self) -> DocumentTable:
        with _translated():
            return self._snapshot.table()

    def postings(self, term: str) -> Postings:
        with _translated():
            return self._snapshot.postings(term)

    def terms_from(self, prefix: str) -> Iterator[str]:
        with _translated():
            yield from self._snapshot.terms_from(prefix)

    def close(self) -> None:
        self._snapshot.close()

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        inversion = Inversion()
        with _locked(self._storage):
            for document in documents:
                inversion.add(document)
            self._change(inversion, removed, stamp)

    def expunge(self, removed: Iterable[str], stamp: str) -> None:
        with _locked(self._storage):
            self._change(Inversion(), removed, stamp, worn=1.0)

    def _change(
        self, inversion: Inversion, removed: Iterable[str], stamp: str, worn: float = WORN
    ) -> None:
        latest = _newest(self._storage, self._snapshot.readers)
        gone = {*removed, *inversion.keys}
        try:
            with _translated():
                _commit(self._storage, latest, inversion, gone, stamp, worn=worn)
            snapshot = _newest(self._storage, latest.readers)
        finally:
            latest.close()
        self._snapshot.close()
        self._snapshot = snapshot


class WhooshEngine:
    """Opens the index of a folder, which must be this user's own: Whoosh unpickles its files."""

    name = "whoosh"
    version = "1"

    def open(self, folder: Path) -> SearchIndex:
        with _translated():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_owner(folder)
        return WhooshIndex(FileStorage(str(folder)))


engine: SearchEngine = WhooshEngine()


def _check_owner(folder: Path) -> None:
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise Corrupt(f"{folder} is no folder of its own; remove it and the index is built anew")
    if about.st_mode & stat.S_IWOTH or (hasattr(os, "geteuid") and about.st_uid != os.geteuid()):
        raise Corrupt(f"{folder} can be written by others; remove it and the index is built anew")


def _commit(
    storage: FileStorage,
    latest: Snapshot[SegmentReader],
    inversion: Inversion,
    gone: Set[str],
    stamp: str,
    *,
    worn: float,
) -> None:
    for reader in latest.readers:
        reader.delete(gone)
    kept, poured = plan(latest.readers, len(inversion.keys), worn)
    for reader in poured:
        reader.pour(inversion)
    segments = [reader.segment for reader in kept]
    if inversion.keys:
        segments.append(write_segment(storage, inversion, _NAME))
    described = schema()
    described.stamp = stamp
    generation = latest.generation + 1
    TOC(described, segments, generation).write(storage, _NAME)
    _clean(storage, generation, segments)


def _clean(storage: FileStorage, generation: int, segments: Iterable[Segment]) -> None:
    """Remove the files of earlier snapshots and of writers that did not get to their end."""
    used = {name for segment in segments for name in segment.sizes}
    used.add(TOC._filename(_NAME, generation))
    for name in storage.list():
        if name.startswith((f"{_NAME}_", f"_{_NAME}_")) and name not in used and name != _LOCK:
            with suppress(OSError):  # someone has it open, where that matters
                storage.delete_file(name)


def _newest(storage: FileStorage, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
    """The newest snapshot; tried again if a writer was just removing the one before.

    What `known` readers have read of a segment's keys is taken over.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            return _read_newest(storage, known)
    with _translated():
        return _read_newest(storage, known)


def _read_newest(storage: FileStorage, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
    with _translated(FileNotFoundError):
        generation = TOC._latest_generation(storage, _NAME)
        if generation < 0:
            return Snapshot("", 0, ())
        contents = TOC.read(storage, _NAME, generation)
        readers: list[SegmentReader] = []
        try:
            for segment in contents.segments:
                readers.append(SegmentReader(storage, segment, known))
            return Snapshot(contents.schema.stamp, generation, readers)
        except BaseException:
            for reader in readers:
                reader.close()
            raise


@contextmanager
def _translated(*passing: type[Exception]) -> Iterator[None]:
    """Raise what Whoosh and the system raise in our terms; `passing` is left as it is."""
    try:
        yield
    except passing:
        raise
    except _DAMAGE as error:
        raise Corrupt(f"the index is damaged ({error!r}); it has to be built anew") from error
    except OSError as error:
        raise of_system(error) from error


@contextmanager
def _locked(storage: FileStorage) -> Iterator[None]:
    """Hold the writer's lock of the folder; Busy if another has it. Dies with the process."""
    lock = storage.lock(_LOCK)
    with _translated():
        if not lock.acquire():
            raise Busy("the index is being written by another process; try again")
    try:
        yield
    finally:
        lock.release()
