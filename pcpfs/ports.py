"""The ports of the core: what parts outside it implement. Each docstring is the contract."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pcpfs.model.frames import Extraction
from pcpfs.model.instants import Instant


class Clock(Protocol):
    """Tells the time; the only source of "now"."""

    def now(self) -> Instant: ...


class Entropy(Protocol):
    """Gives random bytes and time-ordered ids; the only source of chance."""

    def random(self, count: int) -> bytes:
        """`count` bytes nobody can guess."""
        ...

    def time_ordered(self) -> bytes:
        """16 bytes of a version 7 UUID, increasing within a process."""
        ...


class Adapter(Protocol):
    """Sees the symbols in one kind of source.

    `extract` is a pure function of the bytes: same bytes, same extraction, on every machine. It
    never raises on content: what could not be understood is counted or noted. Changing what it
    returns for any bytes means a new `version`.
    """

    @property
    def name(self) -> str:
        """Lower-case letters, digits, `_`: `python`, `c_sharp`."""
        ...

    @property
    def version(self) -> int: ...

    @property
    def media_type(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Lower-case file name endings with their dot, `.py`."""
        ...

    @property
    def filenames(self) -> tuple[str, ...]:
        """Whole file names, `.bashrc`; they win over suffixes."""
        ...

    def extract(self, source: bytes) -> Extraction: ...


class AdapterRegistry(Protocol):
    """All adapters that are installed; the entry point group `pcpfs.adapters` holds functions
    without arguments that return one."""

    def for_source(self, path: str, head: bytes) -> Adapter:
        """The adapter for a file: by its name, else by its suffix, else by a `#!` line in its first
        bytes, else plain text. Never fails."""
        ...

    def by_tag(self, tag: str) -> Adapter | None:
        """The adapter that wrote `python-1`, if this installation still has that version."""
        ...

    def all(self) -> tuple[Adapter, ...]: ...


FIELDS = ("name", "signature", "path", "title", "prose", "body")
"""The fields of an index document, from the one that says most to the one that says least."""


@dataclass(frozen=True, slots=True)
class Postings:
    """The live documents that hold one term: parallel columns, in increasing document number.

    `counts[i]` has one count for each of FIELDS.
    """

    documents: Sequence[int]
    counts: Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document ready for an index: for each field its terms and how often each occurs.

    `factor` is multiplied into the score (tests and generated code have less than 1).
    """

    key: str
    terms: Mapping[str, Mapping[str, int]]
    factor_percent: int = 100


class SearchIndex(Protocol):
    """One set of documents, searchable by exact term. An engine; it neither analyses nor ranks.

    One writer at a time; readers see a snapshot taken at `open`. An index is disposable: anything
    that is wrong with it is raised as `Corrupt`, and the store builds it anew.
    """

    def stamp(self) -> str:
        """What the last committed `update` was given; empty for a new index."""
        ...

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        """Replace the documents of these keys, remove others, and set the stamp: all or nothing."""
        ...

    def document_count(self) -> int:
        """How many live documents there are."""
        ...

    def field_totals(self) -> Sequence[int]:
        """The number of term occurrences in each of FIELDS, over live documents exactly."""
        ...

    def postings(self, term: str) -> Postings: ...

    def describe(self, document: int) -> tuple[str, Sequence[int], int]:
        """Key, the length of each field in term occurrences, and the factor in percent."""
        ...

    def terms_from(self, prefix: str, limit: int) -> Sequence[str]:
        """Terms of live or dead documents that start so, in order of code points."""
        ...

    def terms_near(self, term: str, distance: int, limit: int) -> Sequence[str]:
        """Terms within this edit distance (1 or 2) that share the first character."""
        ...

    def close(self) -> None: ...


class SearchEngine(Protocol):
    """Opens indexes of one kind; entry point group `pcpfs.indexes`, one name an engine."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes whenever an index written by an earlier one must not be opened."""
        ...

    def open(self, folder: Path) -> SearchIndex:
        """Open the index in this folder, making an empty one where there is none."""
        ...


class Progress(Protocol):
    """Is told how far a long operation is; shown by the CLI on a terminal, else ignored."""

    def step(self, phase: str, done: int, total: int) -> None: ...
