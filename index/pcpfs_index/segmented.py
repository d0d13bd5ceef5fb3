"""An index of segments: snapshots of a folder, and the way to change it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Generic, Protocol, TypeVar

from pcpfs.ports import AnalysedDocument, DocumentTable, Postings
from pcpfs_index.segments import WORN, AnyReader, Snapshot

_ATTEMPTS = 10

AnySegment = TypeVar("AnySegment")


class SegmentFolder(Protocol[AnyReader]):
    """Where an engine keeps its segments."""

    def translated(self, *passing: type[Exception]) -> AbstractContextManager[None]:
        """Raise what the engine and the system raise in our terms; `passing` is left as it is."""
        ...

    def locked(self) -> AbstractContextManager[None]:
        """Hold the writer's lock, which dies with the process; Busy if another has it."""
        ...

    def newest(self, known: Sequence[AnyReader]) -> Snapshot[AnyReader]:
        """The newest snapshot. FileNotFoundError if a writer was just removing it. What `known`
        readers have read of a segment's keys is taken over."""
        ...

    def commit(
        self,
        latest: Snapshot[AnyReader],
        documents: Iterable[AnalysedDocument],
        removed: Iterable[str],
        stamp: str,
        worn: float,
    ) -> None:
        """Write a new segment, then the table of contents that counts it in; see `plan`."""
        ...


class SegmentedIndex(Generic[AnyReader]):
    """A snapshot of the index in a folder, and the way to change it."""

    def __init__(self, folder: SegmentFolder[AnyReader]) -> None:
        self._folder = folder
        self._snapshot = self._newest(())

    def stamp(self) -> str:
        return self._snapshot.stamp

    def documents(self) -> DocumentTable:
        with self._folder.translated():
            return self._snapshot.table()

    def postings(self, term: str) -> Postings:
        with self._folder.translated():
            return self._snapshot.postings(term)

    def terms_from(self, prefix: str) -> Iterator[str]:
        with self._folder.translated():
            yield from self._snapshot.terms_from(prefix)

    def close(self) -> None:
        self._snapshot.close()

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        self._change(documents, removed, stamp, WORN)

    def expunge(self, removed: Iterable[str], stamp: str) -> None:
        self._change((), removed, stamp, 1.0)

    def _change(
        self,
        documents: Iterable[AnalysedDocument],
        removed: Iterable[str],
        stamp: str,
        worn: float,
    ) -> None:
        with self._folder.locked():
            latest = self._newest(self._snapshot.readers)
            try:
                self._folder.commit(latest, documents, removed, stamp, worn)
                snapshot = self._newest(latest.readers)
            finally:
                latest.close()
            self._snapshot.close()
            self._snapshot = snapshot

    def _newest(self, known: Sequence[AnyReader]) -> Snapshot[AnyReader]:
        """Tried again if a writer was just removing the one before."""
        for _ in range(_ATTEMPTS - 1):
            with suppress(FileNotFoundError):
                return self._folder.newest(known)
        with self._folder.translated():
            return self._folder.newest(known)


def opened(
    segments: Iterable[AnySegment], reader: Callable[[AnySegment], AnyReader]
) -> list[AnyReader]:
    """A reader of each segment; if one cannot be opened, none stays open."""
    readers: list[AnyReader] = []
    try:
        for segment in segments:
            readers.append(reader(segment))
    except BaseException:
        for each in readers:
            each.close()
        raise
    return readers
