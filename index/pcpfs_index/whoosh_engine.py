"""The engine on disk: a Whoosh index, written and read in bulk (`whoosh_segment`).

Whoosh gives the file format, the atomic table of contents, segments and the lock. It unpickles
what it reads, so a folder is opened only if it belongs to this user and nobody else can write it.
"""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from struct import error as StructError
from zlib import error as ZlibError

from whoosh.filedb.filestore import FileStorage  # type: ignore[import-untyped]
from whoosh.filedb.filetables import FileFormatError  # type: ignore[import-untyped]
from whoosh.index import TOC  # type: ignore[import-untyped]
from whoosh.index import IndexError as WhooshIndexError

from pcpfs.errors import Busy, Corrupt
from pcpfs.ports import AnalysedDocument, SearchEngine, SearchIndex
from pcpfs_index.inversion import Inversion
from pcpfs_index.segmented import SegmentedIndex, opened
from pcpfs_index.segments import Snapshot, of_system, plan
from pcpfs_index.whoosh_segment import Segment, SegmentReader, schema, write_segment

_NAME = "pcpfs"
_LOCK = f"{_NAME}_WRITELOCK"

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


class WhooshFolder:
    """The segments and tables of contents in a storage of Whoosh's."""

    def __init__(self, storage: FileStorage) -> None:
        self._storage = storage

    def translated(self, *passing: type[Exception]) -> AbstractContextManager[None]:
        return _translated(*passing)

    @contextmanager
    def locked(self) -> Iterator[None]:
        lock = self._storage.lock(_LOCK)
        with _translated():
            if not lock.acquire():
                raise Busy("the index is being written by another process; try again")
        try:
            yield
        finally:
            lock.release()

    def newest(self, known: Sequence[SegmentReader]) -> Snapshot[SegmentReader]:
        storage = self._storage
        with _translated(FileNotFoundError):
            generation = TOC._latest_generation(storage, _NAME)
            if generation < 0:
                return Snapshot("", 0, ())
            contents = TOC.read(storage, _NAME, generation)
            readers = opened(contents.segments, lambda s: SegmentReader(storage, s, known))
            return Snapshot(contents.schema.stamp, generation, readers)

    def commit(
        self,
        latest: Snapshot[SegmentReader],
        documents: Iterable[AnalysedDocument],
        removed: Iterable[str],
        stamp: str,
        worn: float,
    ) -> None:
        inversion = Inversion()
        for document in documents:
            inversion.add(document)
        with _translated():
            gone = {*removed, *inversion.keys}
            for reader in latest.readers:
                reader.delete(gone)
            kept, poured = plan(latest.readers, len(inversion.keys), worn)
            for reader in poured:
                reader.pour(inversion)
            segments = [reader.segment for reader in kept]
            if inversion.keys:
                segments.append(write_segment(self._storage, inversion, _NAME))
            described = schema()
            described.stamp = stamp
            generation = latest.generation + 1
            TOC(described, segments, generation).write(self._storage, _NAME)
            _clean(self._storage, generation, segments)


class WhooshEngine:
    """Opens the index of a folder, which must be this user's own: Whoosh unpickles its files."""

    name = "whoosh"
    version = "1"

    def open(self, folder: Path) -> SearchIndex:
        with _translated():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_owner(folder)
        return SegmentedIndex(WhooshFolder(FileStorage(str(folder))))


engine: SearchEngine = WhooshEngine()


def _check_owner(folder: Path) -> None:
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode):
        raise Corrupt(f"{folder} is no folder of its own; remove it and the index is built anew")
    if about.st_mode & stat.S_IWOTH or (hasattr(os, "geteuid") and about.st_uid != os.geteuid()):
        raise Corrupt(f"{folder} can be written by others; remove it and the index is built anew")


def _clean(storage: FileStorage, generation: int, segments: Iterable[Segment]) -> None:
    """Remove the files of earlier snapshots and of writers that did not get to their end."""
    used = {name for segment in segments for name in segment.sizes}
    used.add(TOC._filename(_NAME, generation))
    for name in storage.list():
        if name.startswith((f"{_NAME}_", f"_{_NAME}_")) and name not in used and name != _LOCK:
            with suppress(OSError):  # someone has it open, where that matters
                storage.delete_file(name)


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
