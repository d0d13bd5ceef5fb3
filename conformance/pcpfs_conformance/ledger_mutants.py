"""Ledgers that are wrong in one way each: the contract must find every one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pcpfs.model.context import ContextEntry, ContextProjection, ShownEntry
from pcpfs.model.instants import Instant
from pcpfs.ports import ContextProtocol, ContextRetrievalModule
from pcpfs_conformance.ledger import LedgerBackend


class Faithful:
    """Passes everything on to a right ledger; the mutants override one method."""

    def __init__(self, right: ContextProtocol, backend: Mutated) -> None:
        self.right = right
        self.backend = backend

    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(entry)

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        return await self.right.project(query, token_budget)

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        return await self.right.project_for_subagent(goal, token_budget)

    async def get_retrieval_module(self) -> ContextRetrievalModule:
        return await self.right.get_retrieval_module()

    async def summarize(self, scope: str | None = None) -> str:
        return await self.right.summarize(scope)

    async def persist(self, thread_id: str) -> int:
        return await self.right.persist(thread_id)

    async def restore(self, thread_id: str) -> bool:
        return await self.right.restore(thread_id)


class LosesOneInACrash(Faithful):
    """Keeps each entry back until the next one comes; a crash takes the last."""

    kept: ContextEntry | None = None

    async def ingest(self, entry: ContextEntry) -> object:
        before, self.kept = self.kept, entry
        return await self.right.ingest(before) if before is not None else None

    async def _flushed(self) -> None:
        if self.kept is not None and not self.backend.has_crashed:
            kept, self.kept = self.kept, None
            await self.right.ingest(kept)

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        await self._flushed()
        return await self.right.project(query, token_budget)

    async def persist(self, thread_id: str) -> int:
        await self._flushed()
        return await self.right.persist(thread_id)


class ExceedsTheBudgetByOne(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        return await self.right.project(query, token_budget + 1)


class CountsOneLess(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, token_count=max(0, view.token_count - 1))


class CountsCharacters(Faithful):
    """Takes a token for four characters: too little for anything but ASCII."""

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        view = await self.right.project_for_subagent(goal, 4 * token_budget)
        kept: list[ShownEntry] = []
        room = token_budget
        for shown in view.entries:
            cost = -(-len(shown.content) // 4)
            if cost <= room:
                kept.append(shown)
                room -= cost
        return replace(view, entries=tuple(kept), token_count=token_budget - room)


class LeaksAcrossGoals(Faithful):
    """Fills a subagent's view up with what else is relevant."""

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        own = await self.right.project_for_subagent(goal, token_budget)
        room = token_budget - own.token_count
        more = await self.right.project(goal, room)
        entries = (*own.entries, *(e for e in more.entries if e.goal_id != goal))
        return replace(own, entries=entries, token_count=sum(e.tokens for e in entries))


class FoldsGoals(Faithful):
    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        return await self.right.project_for_subagent(goal.strip(" *\x00").lower(), token_budget)


class CountsOtherGoals(Faithful):
    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        own = await self.right.project_for_subagent(goal, token_budget)
        everything = await self.right.project(goal, token_budget)
        return replace(own, total_entries=everything.total_entries)


class LeaksByRetrieval(Faithful):
    async def get_retrieval_module(self) -> ContextRetrievalModule:
        return _Leaking(await self.right.get_retrieval_module())


class _Leaking:
    def __init__(self, right: ContextRetrievalModule) -> None:
        self.right = right

    @property
    def algorithm_version(self) -> str:
        return self.right.algorithm_version

    def retrieve_by_goal_relevance(
        self,
        goal_id: str,
        query: str | None = None,
        *,
        execution_context: str | None = None,
        token_budget: int | None = None,
        limit: int | None = None,
    ) -> tuple[ShownEntry, ...]:
        goal = query if query in ("g1", "g2") else goal_id
        return self.right.retrieve_by_goal_relevance(
            goal,
            query,
            execution_context=execution_context,
            token_budget=token_budget,
            limit=limit,
        )


class UnlimitedRetrieval(_Leaking):
    def retrieve_by_goal_relevance(
        self,
        goal_id: str,
        query: str | None = None,
        *,
        execution_context: str | None = None,
        token_budget: int | None = None,
        limit: int | None = None,
    ) -> tuple[ShownEntry, ...]:
        return self.right.retrieve_by_goal_relevance(goal_id, query, limit=100)


class IgnoresLimits(Faithful):
    async def get_retrieval_module(self) -> ContextRetrievalModule:
        return UnlimitedRetrieval(await self.right.get_retrieval_module())


class Reorders(Faithful):
    """Puts what comes in into the order of its times."""

    held: tuple[ContextEntry, ...] = ()

    async def ingest(self, entry: ContextEntry) -> object:
        self.held = (*self.held, entry)
        return None

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        for entry in sorted(self.held, key=lambda one: one.timestamp):
            await self.right.ingest(entry)
        self.held = ()
        return await self.right.project(query, token_budget)


class DropsDuplicates(Faithful):
    async def ingest(self, entry: ContextEntry) -> object:
        key = entry.key or f"{entry.source} {entry.content} {entry.goal_id} {entry.timestamp}"
        return await self.right.ingest(replace(entry, key=key))


class RoundsTime(Faithful):
    async def ingest(self, entry: ContextEntry) -> object:
        day = 86_400_000_000
        moment = Instant(entry.timestamp.microseconds // day * day)
        return await self.right.ingest(replace(entry, timestamp=moment))


class ForgetsGoals(Faithful):
    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(replace(entry, goal_id=None))


class ForgetsImportance(Faithful):
    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(replace(entry, importance=0.5))


class HidesItsTerms(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, entries=tuple(replace(e, terms={}) for e in view.entries))


class MisnamesItsAlgorithm(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        return replace(await self.right.project(query, token_budget), algorithm_version="v0")


class ShowsWorstFirst(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, entries=view.entries[::-1])


class RestoresAnything(Faithful):
    async def restore(self, thread_id: str) -> bool:
        await self.right.restore(thread_id)
        return True


class NeverRestores(Faithful):
    async def restore(self, thread_id: str) -> bool:
        await self.right.restore(thread_id)
        return False


class CountsWhatItSaw(Faithful):
    """Counts its own entries, not those of the thread."""

    own = 0

    async def ingest(self, entry: ContextEntry) -> object:
        self.own += 1
        return await self.right.ingest(entry)

    async def persist(self, thread_id: str) -> int:
        await self.right.persist(thread_id)
        return self.own


class GivesUpWhenTheFirstIsTooLong(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        everything = await self.right.project(query, 1_000_000)
        view = await self.right.project(query, token_budget)
        if everything.entries and everything.entries[0].tokens > token_budget:
            return replace(view, entries=(), token_count=0)
        return view


class CutsAnywhere(Faithful):
    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        entries = tuple(
            replace(e, content=e.content[:-3], remainder=None) if e.remainder else e
            for e in view.entries
        )
        return replace(view, entries=entries)


MUTANTS: tuple[type[Faithful], ...] = (
    LosesOneInACrash,
    ExceedsTheBudgetByOne,
    CountsOneLess,
    CountsCharacters,
    LeaksAcrossGoals,
    FoldsGoals,
    CountsOtherGoals,
    LeaksByRetrieval,
    IgnoresLimits,
    Reorders,
    DropsDuplicates,
    RoundsTime,
    ForgetsGoals,
    ForgetsImportance,
    HidesItsTerms,
    MisnamesItsAlgorithm,
    ShowsWorstFirst,
    RestoresAnything,
    NeverRestores,
    CountsWhatItSaw,
    GivesUpWhenTheFirstIsTooLong,
    CutsAnywhere,
)


class Mutated:
    """A right backend whose ledgers are wrapped in a mutant."""

    def __init__(self, right: LedgerBackend, mutant: type[Faithful]) -> None:
        self.right = right
        self.mutant = mutant
        self.has_crashed = False

    @classmethod
    def of(
        cls, right: Callable[[], LedgerBackend], mutant: type[Faithful]
    ) -> Callable[[], LedgerBackend]:
        """Makes such backends."""
        return lambda: cls(right(), mutant)

    def open(self, thread_id: str) -> ContextProtocol:
        return self.mutant(self.right.open(thread_id), self)

    def crash(self) -> None:
        self.has_crashed = True
        self.right.crash()
