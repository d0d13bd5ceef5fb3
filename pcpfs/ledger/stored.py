"""The ledger in a store: entries are event pages of the scope `thread:<id>`.

An entry is durable when `ingest` returns. Entries that are ingested at the same time (of one event
loop) are one segment and one commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from pcpfs.errors import PcpfsError, Unavailable
from pcpfs.ledger.events import event_of, namespace_of
from pcpfs.ledger.memory import refuse_other_thread
from pcpfs.ledger.retrieval import Retrieval
from pcpfs.ledger.thread import Thread
from pcpfs.ledger.views import Settings, Views
from pcpfs.model.answers import Written
from pcpfs.model.context import ContextEntry, ContextProjection, LedgerPage, Reflection
from pcpfs.store.session import Session

MANY = 1000
"""After so many entries what is kept of the thread is extended, so that no question pays for all
of them."""

Answer = TypeVar("Answer")
Waiting = tuple[ContextEntry, "asyncio.Future[Written]"]


class StoreLedger:
    """`ContextProtocol` over one thread of a store, in the name of a session's principal."""

    def __init__(self, session: Session, thread_id: str, settings: Settings | None = None) -> None:
        self.thread_id = thread_id
        self._session = session
        self._settings = settings or Settings()
        self._thread = Thread(session, namespace_of(thread_id), self._settings)
        self._waiting: list[Waiting] = []
        self._unkept = 0

    async def ingest(self, entry: ContextEntry) -> Written:
        """The final ids. `created` is false where the entry's key was known."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Written] = loop.create_future()
        self._waiting.append((entry, answer))
        if len(self._waiting) == 1:
            loop.call_soon(self._write_waiting)
        return await answer

    def ingest_all(self, entries: Sequence[ContextEntry]) -> tuple[Written, ...]:
        """Many entries in this order, in one commit; all or nothing."""
        scope = namespace_of(self.thread_id)
        written = self._session.ingest(scope, [event_of(entry) for entry in entries])
        self._unkept += len(entries)
        if self._unkept >= MANY:
            self._unkept = 0
            self._thread.keep_up()
        return written

    async def project(
        self,
        query: str,
        token_budget: int,
        *,
        algorithm: str | None = None,
        counter: str | None = None,
    ) -> ContextProjection:
        return self._ask(
            lambda views: views.project(
                views.everything, query, token_budget, version=algorithm, counter=counter
            )
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
        return self._ask(
            lambda views: views.project(
                views.goal(goal), query or goal, token_budget, version=algorithm, counter=counter
            )
        )

    async def get_retrieval_module(self) -> Retrieval:
        return Retrieval(self._ask)

    async def reflect(self, token_budget: int, *, counter: str | None = None) -> Reflection:
        """Failures, successes and reflections by goal, as evidence for looking back."""
        return self._ask(lambda views: views.reflect(token_budget, counter=counter))

    def log(
        self, *, goal: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> LedgerPage:
        """Entries in the order of the thread, those after the cursor's."""
        return self._ask(lambda views: views.log(goal=goal, limit=limit, cursor=cursor))

    async def summarize(self, scope: str | None = None) -> str:
        return self._ask(lambda views: views.summarize(scope))

    async def persist(self, thread_id: str) -> int:
        """Unavailable if something keeps git from committing; then all is written nevertheless."""
        refuse_other_thread(self.thread_id, thread_id)
        self._write_waiting()
        self._thread.log.settle()
        return self._thread.log.count()

    async def restore(self, thread_id: str) -> bool:
        thread = self._thread
        if thread_id != self.thread_id:
            thread = Thread(self._session, namespace_of(thread_id), self._settings)
        if not thread.log.is_there():
            return False
        self.thread_id, self._thread = thread_id, thread
        return True

    def _ask(self, question: Callable[[Views], Answer], /) -> Answer:
        return self._thread.ask(question)

    def _write_waiting(self) -> None:
        """Write what came in since the last time, together; each caller gets its own answer."""
        batch, self._waiting = self._waiting, []
        batch = [(entry, answer) for entry, answer in batch if not answer.done()]
        if not batch:
            return
        try:
            written = self.ingest_all([entry for entry, _ in batch])
        except PcpfsError as error:
            self._one_by_one(batch, error)
        except BaseException as error:
            for _, answer in batch:
                answer.set_exception(error)
            raise
        else:
            for (_, answer), ids in zip(batch, written, strict=True):
                answer.set_result(ids)

    def _one_by_one(self, batch: Sequence[Waiting], error: PcpfsError) -> None:
        """A batch was refused: only the caller whose entry is at fault shall hear of it."""
        if len(batch) == 1 or isinstance(error, Unavailable):
            for _, answer in batch:
                answer.set_exception(error)
            return
        for entry, answer in batch:
            try:
                answer.set_result(self.ingest_all([entry])[0])
            except PcpfsError as own:
                answer.set_exception(own)
