"""The ledger in memory: the reference, stricter than the one in a store, and gone with its process.

What outlives a ledger is its `Archive`, as the folder outlives a store.
"""

from __future__ import annotations

from collections.abc import Sequence

from pcpfs.errors import KeyReused, UsageError
from pcpfs.ledger.corpus import Gathered, LedgerEntry
from pcpfs.ledger.retrieval import Retrieval
from pcpfs.ledger.views import Settings, Views
from pcpfs.ledger.words import Words
from pcpfs.model.context import ContextEntry, ContextProjection, Reflection
from pcpfs.model.ids import PageId, derived


class Archive:
    """The threads that were ingested, by id; for as long as the process lives."""

    def __init__(self) -> None:
        self.threads: dict[str, list[LedgerEntry]] = {}


class MemoryLedger:
    """`ContextProtocol` over an archive."""

    def __init__(
        self, thread_id: str, archive: Archive | None = None, settings: Settings | None = None
    ) -> None:
        self.thread_id = thread_id
        self._archive = archive or Archive()
        self._settings = settings or Settings()
        self._see_nothing()

    async def ingest(self, entry: ContextEntry) -> str:
        """The page id of the entry."""
        thread = self._archive.threads.setdefault(self.thread_id, [])
        if entry.key is not None:
            for found in thread:
                if found.entry.key == entry.key:
                    return _same(found, entry)
        page = "pg_" + derived("ledger", self.thread_id, str(len(thread)))
        thread.append(LedgerEntry(PageId(page), entry))
        return page

    async def project(
        self,
        query: str,
        token_budget: int,
        *,
        algorithm: str | None = None,
        counter: str | None = None,
    ) -> ContextProjection:
        views = self._newest()
        return views.project(
            views.everything, query, token_budget, version=algorithm, counter=counter
        )

    async def project_for_subagent(
        self,
        goal: str,
        token_budget: int,
        *,
        query: str | None = None,
        algorithm: str | None = None,
        counter: str | None = None,
    ) -> ContextProjection:
        views = self._newest()
        return views.project(
            views.goal(goal), query or goal, token_budget, version=algorithm, counter=counter
        )

    async def get_retrieval_module(self) -> Retrieval:
        return Retrieval(lambda question: question(self._newest()))

    async def reflect(self, token_budget: int, *, counter: str | None = None) -> Reflection:
        return self._newest().reflect(token_budget, counter=counter)

    async def summarize(self, scope: str | None = None) -> str:
        return self._newest().summarize(scope)

    async def persist(self, thread_id: str) -> int:
        refuse_other_thread(self.thread_id, thread_id)
        return len(self._thread())

    async def restore(self, thread_id: str) -> bool:
        if thread_id not in self._archive.threads:
            return False
        if thread_id != self.thread_id:
            self.thread_id = thread_id
            self._see_nothing()
        return True

    def _thread(self) -> Sequence[LedgerEntry]:
        return self._archive.threads.get(self.thread_id, ())

    def _newest(self) -> Views:
        new = self._thread()[len(self._gathered) :]
        if new:
            self._gathered.add(new)
            self._views.refresh(grown=True)
        return self._views

    def _see_nothing(self) -> None:
        self._gathered = Gathered(Words())
        self._views = Views(self._settings, self._gathered)


def refuse_other_thread(own: str, given: str) -> None:
    """UsageError if a ledger is to persist what is not its own."""
    if given != own:
        raise UsageError(f"this ledger is of the thread {own}; restore({given!r}) goes there")


def _same(found: LedgerEntry, entry: ContextEntry) -> str:
    if found.entry.content != entry.content:
        raise KeyReused(f"the key {entry.key!r} already names another entry", page_id=found.page_id)
    return found.page_id
