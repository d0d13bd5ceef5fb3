"""The ports of the core: what parts outside it implement. Each docstring is the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pcpfs.model.frames import Extraction
from pcpfs.model.instants import Instant

if TYPE_CHECKING:  # every command needs ports; few need the values of these
    from pcpfs.model.context import ContextEntry, ContextProjection, ShownEntry
    from pcpfs.model.imports import Found
    from pcpfs.model.inspection import CheckResult, Inspection


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


HEAD_BYTES = 65_536
"""So many first bytes may tell the kind of a file that its name does not: a header of C++ may begin
with pages of comments."""


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


class SourceTree(Protocol):
    """The files of one root, by their paths in it, with `/`."""

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        ...

    def names(self, folder: str) -> Sequence[str]:
        """The files and folders right in a folder, sorted; the root is `""`."""
        ...

    def read(self, path: str) -> bytes | None:
        """None where there is no such file."""
        ...


@runtime_checkable
class Importing(Protocol):
    """An adapter that knows which files the imports of its extractions mean; an optional power."""

    def resolved(self, path: str, target: str, tree: SourceTree) -> tuple[str, ...]:
        """The files of the same root that an import in the file at `path` means: none where it
        leads elsewhere. A pure function of the arguments that raises on no target."""
        ...


class AdapterRegistry(Protocol):
    """All adapters that are installed; the entry point group `pcpfs.adapters` holds functions
    without arguments that return one."""

    def for_source(self, path: str, head: bytes) -> Adapter:
        """The adapter for a file: by its name, else by its suffix, else by a `#!` line in its first
        bytes (HEAD_BYTES, wherever the answer matters), else plain text. Never fails."""
        ...

    def by_tag(self, tag: str) -> Adapter | None:
        """The adapter that wrote `python-1`, if this installation still has that version."""
        ...

    def all(self) -> tuple[Adapter, ...]: ...


FIELDS = ("name", "signature", "path", "title", "prose", "body")
"""The fields of an index document, from the one that says most to the one that says least."""

POSTING_BYTES = 8
"""A posting is as many bytes: how often the term occurs in each of FIELDS, two to spare."""


@dataclass(frozen=True, slots=True)
class AnalysedDocument:
    """A document ready for an index.

    `terms` maps each term to its posting as one number: byte `f`, from the least significant, is
    how often the term occurs in FIELDS[f], 255 at most; never 0 as a whole. `lengths` has the words
    of each field. `factor_percent` scales the score (tests and generated code have less than 100).
    """

    key: str
    terms: Mapping[str, int]
    lengths: tuple[int, ...]
    factor_percent: int = 100


@dataclass(frozen=True, slots=True)
class Postings:
    """The live documents that hold one term, in increasing document number.

    `counts` has POSTING_BYTES bytes for each, so `counts[f::POSTING_BYTES]` is the column of
    FIELDS[f], parallel to `documents`.
    """

    documents: Sequence[int]
    counts: bytes


NO_POSTINGS = Postings((), b"")


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """What an index knows of its documents, by document number: `keys[n]`, `factors[n]` (percent),
    `lengths[f][n]`. Numbers in `dead` stand for documents that are gone.

    Exact, and of the live ones only: how many there are (`count`), how many have words in each
    field (`holders`), and how many words these are together (`totals`).
    """

    keys: Sequence[str]
    factors: Sequence[int]
    lengths: Sequence[Sequence[int]]
    dead: Set[int]
    count: int
    holders: tuple[int, ...]
    totals: tuple[int, ...]


class StoreInspector(Protocol):
    """Judges a store by the rules of PCP; entry point `store` of the group `pcpfs.inspectors`."""

    def __call__(
        self,
        fresh: Callable[[], AbstractContextManager[Any]],
        tell: Callable[[CheckResult], None] | None = None,
    ) -> Inspection:
        """`fresh` gives a new, empty store for each check, which belongs to `user:owner`: it has
        `open(principal)`, a session, and `grant(scope, principal, permissions)`. Never raises for
        what the store does."""
        ...


class Importer(Protocol):
    """Reads one foreign format; entry point group `pcpfs.importers`, one name a format.

    Keys and source refs are stable (PCP-A1): the same thing has the same ones in the next import.
    """

    @property
    def name(self) -> str: ...

    def recognises(self, path: Path) -> bool:
        """Whether a file or folder looks like this format."""
        ...

    def read(self, path: Path) -> Iterator[Found]:
        """What is in it, in a fixed order. What cannot be understood is `Unread`, not an error;
        UsageError where nothing can."""
        ...


class SearchIndex(Protocol):
    """One set of documents, searchable by exact term. An engine: it neither analyses nor ranks.

    One writer at a time, `Busy` for a second; a reader sees the snapshot of its `open`, or of its
    own last `update`. An index is disposable: what is wrong with it is raised as `Corrupt`, and the
    store builds it anew.
    """

    def stamp(self) -> str:
        """What the last committed `update` was given; empty for a new index."""
        ...

    def update(
        self, documents: Iterable[AnalysedDocument], removed: Iterable[str], stamp: str
    ) -> None:
        """Remove these keys, then put each document in place of any of its key, and set the stamp:
        all or nothing. Of two documents with one key the last counts."""
        ...

    def documents(self) -> DocumentTable: ...

    def postings(self, term: str) -> Postings:
        """NO_POSTINGS if no live document has the term."""
        ...

    def terms_from(self, prefix: str) -> Iterator[str]:
        """All terms that start so, in order of code points; some may have no live document."""
        ...

    def close(self) -> None:
        """Let go of files; calling it again is no error."""
        ...


@runtime_checkable
class Expunging(Protocol):
    """A power that an index may have: to forget for good."""

    def expunge(self, removed: Iterable[str], stamp: str) -> None:
        """Remove these keys and set the stamp: all or nothing. Then no file of the index holds a
        byte of any document that was removed or replaced, now or earlier."""
        ...


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


class DiskCalls(Protocol):
    """The system calls that change a disk: the seam at which tests break it.

    Each raises OSError. A path is what the system takes. Until a `sync` a power cut may take a
    file's bytes, or a name in a folder, back in part or whole.
    """

    def create(self, path: str, data: bytes | bytearray | memoryview) -> None:
        """Write a new file; FileExistsError if there is something."""
        ...

    def move(self, old: str, new: str) -> None:
        """Rename in one step; a file at `new` is replaced."""
        ...

    def unlink(self, path: str) -> None: ...

    def make_folder(self, path: str) -> None: ...

    def remove_folder(self, path: str) -> None: ...

    def sync(self, path: str) -> None:
        """Wait until a file's bytes, or a folder's names, are on the disk."""
        ...

    def sync_all(self, path: str) -> bool:
        """Do that for the whole file system that holds the folder; False if it cannot be done."""
        ...


class ContextProtocol(Protocol):
    """The ledger of one thread: accumulates everything, shows bounded slices (RFC-302).

    Whatever `ingest` acknowledged is never lost, changed or reordered: entries of one writer stay
    in its order. Views are bounded; `token_count` is exact and never above the budget.
    """

    async def ingest(self, entry: ContextEntry) -> object:
        """Append; the entry is durable when this returns. The answer is the backend's own."""
        ...

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        """The ranked view for the orchestrator, which may see everything."""
        ...

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        """The view of one goal: whatever the text, nothing of it comes from outside the entries
        whose `goal_id` is exactly this (ledger L5)."""
        ...

    async def get_retrieval_module(self) -> ContextRetrievalModule: ...

    async def summarize(self, scope: str | None = None) -> str:
        """Progress for a person, of the thread or of one goal."""
        ...

    async def persist(self, thread_id: str) -> int:
        """All acknowledged entries of the thread are committed; their number."""
        ...

    async def restore(self, thread_id: str) -> bool:
        """Go on with a thread; true iff it exists."""
        ...


class ContextRetrievalModule(Protocol):
    """Retrieval with an interface of its own, whatever the algorithm in force."""

    @property
    def algorithm_version(self) -> str:
        """`v1_keyword`, `v2_bm25`, …"""
        ...

    def retrieve_by_goal_relevance(
        self,
        goal_id: str,
        query: str | None = None,
        *,
        execution_context: str | None = None,
        token_budget: int | None = None,
        limit: int | None = None,
    ) -> tuple[ShownEntry, ...]:
        """Entries of exactly this goal, the most relevant to `query` (or to what is going on)
        first, within the budget, at most `limit`."""
        ...


class Embedder(Protocol):
    """Gives texts places in a space where near means alike: the seam for ranking by meaning."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector a text, all of one length; a pure function of the text."""
        ...


class Inspector(Protocol):
    """Judges another program by a suite; entry point group `pcpfs.inspectors`, one a kind of
    program (`provider`, `host`)."""

    def __call__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        query: str | None = None,
        tell: Callable[[CheckResult], None] | None = None,
    ) -> Inspection:
        """Run the program as often as needed, with this environment and nothing else of ours.

        `query` is one that is known to match something, or what a host is asked. Never raises for
        what the program does, and waits for nothing without a deadline. `tell` hears of each check
        when it is done.
        """
        ...
