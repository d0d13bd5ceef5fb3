"""Retrieval as an object of its own, with an interface that outlives its algorithm (ledger L6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from pcpfs.ledger.views import Views
from pcpfs.model.context import ShownEntry

MOST = 10
"""So many entries, where neither a budget nor a limit is given."""
UNBOUNDED = 1 << 40
"""Tokens that no entries within a limit reach."""

Answer = TypeVar("Answer")


class Ask(Protocol):
    """Answers a question about the views of a thread, of its newest state."""

    def __call__(self, question: Callable[[Views], Answer], /) -> Answer: ...


class Retrieval:
    """`ContextRetrievalModule` over the views of one thread; always of its newest state."""

    def __init__(self, ask: Ask, algorithm: str | None = None) -> None:
        self._ask = ask
        self._algorithm = algorithm

    @property
    def algorithm_version(self) -> str:
        return self._ask(lambda views: views.everything.algorithm(self._algorithm).version)

    def retrieve_by_goal_relevance(
        self,
        goal_id: str,
        query: str | None = None,
        *,
        execution_context: str | None = None,
        token_budget: int | None = None,
        limit: int | None = None,
    ) -> tuple[ShownEntry, ...]:
        """Entries of exactly this goal. Both texts are looked for; without any, the goal's name."""
        text = "\n".join(filter(None, (query, execution_context))) or goal_id
        if token_budget is None:
            token_budget, limit = UNBOUNDED, MOST if limit is None else limit
        return self._ask(
            lambda views: views.goal(goal_id).filled(
                text, token_budget, counter=views.counter, version=self._algorithm, limit=limit
            )
        )
