"""The frame of wrong ledgers: a right one, of which a mutant changes one thing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pcpfs.model.context import ContextEntry, ContextProjection
from pcpfs.ports import ContextProtocol, ContextRetrievalModule
from pcpfs_conformance.ledger import LedgerBackend


class Faithful:
    """Passes everything on to a right ledger; the mutants override one method. `caught_by` is the
    one test of the contract that a mutant fails."""

    caught_by = ""
    loses_what_is_held = False
    """In a crash, of what it acknowledged and had not written yet."""

    def __init__(self, right: ContextProtocol, backend: Mutated) -> None:
        self.right = right
        self.backend = backend

    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(entry)

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        await self.backend.settle()
        return await self.right.project(query, token_budget)

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        await self.backend.settle()
        return await self.right.project_for_subagent(goal, token_budget)

    async def get_retrieval_module(self) -> ContextRetrievalModule:
        await self.backend.settle()
        return await self.right.get_retrieval_module()

    async def summarize(self, scope: str | None = None) -> str:
        await self.backend.settle()
        return await self.right.summarize(scope)

    async def persist(self, thread_id: str) -> int:
        await self.backend.settle()
        return await self.right.persist(thread_id)

    async def restore(self, thread_id: str) -> bool:
        await self.backend.settle()
        return await self.right.restore(thread_id)


class Mutated:
    """A right backend whose ledgers are wrapped in a mutant."""

    def __init__(self, right: LedgerBackend, mutant: type[Faithful]) -> None:
        self.right = right
        self.mutant = mutant
        self.held: list[tuple[ContextProtocol, ContextEntry]] = []
        self.seen: dict[int, set[str]] = {}

    @classmethod
    def of(
        cls, right: Callable[[], LedgerBackend], mutant: type[Faithful]
    ) -> Callable[[], LedgerBackend]:
        """Makes such backends."""
        return lambda: cls(right(), mutant)

    def open(self, thread_id: str) -> ContextProtocol:
        return self.mutant(self.right.open(thread_id), self)

    def crash(self) -> None:
        if self.mutant.loses_what_is_held:
            self.held.clear()
        asyncio.run(self.settle())
        self.right.crash()

    async def settle(self) -> None:
        """Write what was held back."""
        while self.held:
            ledger, entry = self.held.pop(0)
            await ledger.ingest(entry)
