"""The purpose-scoped views of a thread (ledger L4): what each may see, ranked, within budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.errors import UsageError
from pcpfs.ledger.corpus import Corpus, LedgerEntry, Part
from pcpfs.ledger.counting import DEFAULT, TokenCounter, counter_named
from pcpfs.ledger.fitting import Fitting, plainly_shown
from pcpfs.ledger.ranking import Algorithm, Bm25, Hybrid, Ranked, algorithm_named
from pcpfs.model.context import (
    ContextProjection,
    GoalEvidence,
    LedgerPage,
    Reflection,
    ShownEntry,
)
from pcpfs.model.instants import Instant
from pcpfs.ports import Embedder

_LAST = 80


@dataclass(frozen=True, slots=True)
class Settings:
    """How a ledger ranks and counts. With a `half_life_days` newer entries weigh more; an
    `embedder` adds nearness in meaning, whatever the algorithm's name."""

    algorithm: str = Bm25.version
    counter: str = DEFAULT
    half_life_days: float | None = None
    embedder: Embedder | None = None

    def ranking(self, version: str | None = None) -> Algorithm:
        """A new instance of the algorithm in force, or of another."""
        if self.half_life_days is not None and not self.half_life_days > 0:
            raise UsageError(f"a half-life is more than 0 days, not {self.half_life_days}")
        if self.embedder is not None and version is None:
            return Hybrid(self.embedder, self.half_life_days)
        return algorithm_named(version or self.algorithm, self.half_life_days)


class View:
    """Some entries, and the algorithms that rank them."""

    def __init__(self, corpus: Corpus, settings: Settings) -> None:
        self.corpus = corpus
        self._settings = settings
        self._algorithms: dict[str | None, Algorithm] = {}

    def algorithm(self, version: str | None) -> Algorithm:
        if version not in self._algorithms:
            self._algorithms[version] = self._settings.ranking(version)
        return self._algorithms[version]

    def filled(
        self,
        text: str,
        budget: int,
        *,
        counter: TokenCounter,
        version: str | None = None,
        limit: int | None = None,
    ) -> tuple[ShownEntry, ...]:
        """The entries that a question brings up first, as far as they fit."""
        question = self.corpus.words.of_query(text)
        ranking = self.algorithm(version).rank(self.corpus, question, text)
        return Fitting(self.corpus, counter, budget, ranking.terms, question, limit).fill(ranking)

    def summary(self) -> str:
        """`12 entries: 2 failure, 1 success`: one short line of numbers."""
        told = ", ".join(f"{n} {tag}" for tag, n in self.corpus.columns.tagged().items())
        count = len(self.corpus)
        return f"{count} {'entry' if count == 1 else 'entries'}" + (f": {told}" if told else "")


class Views:
    """The views of one thread: of everything, and of each goal by itself."""

    def __init__(self, settings: Settings, whole: Corpus) -> None:
        settings.ranking()  # a wrong name is told now
        self.counter = counter_named(settings.counter)
        self._settings = settings
        self._goals: dict[str, tuple[Part, View]] = {}
        self.everything = View(whole, settings)

    def refresh(self, *, grown: bool) -> None:
        """The whole is another now; `grown` if only by entries at its end."""
        if grown:
            for part, _ in self._goals.values():
                part.refresh()
        else:
            self._goals.clear()
            self.everything = View(self.everything.corpus, self._settings)

    def goal(self, goal: str) -> View:
        """The entries about exactly this goal (ledger L5)."""
        if goal not in self._goals:
            part = Part(self.everything.corpus, goal)
            view = View(part, self._settings)
            if not len(part):
                return view  # nobody can make us remember goals that there are not
            self._goals[goal] = part, view
        return self._goals[goal][1]

    def project(
        self, view: View, text: str, budget: int, *, version: str | None, counter: str | None
    ) -> ContextProjection:
        counting = self.counting(counter)
        shown = view.filled(text, budget, counter=counting, version=version)
        return ContextProjection(
            entries=shown,
            summary=f"{len(shown)} shown of {view.summary()}",
            total_entries=len(view.corpus),
            token_count=sum(entry.tokens for entry in shown),
            algorithm_version=view.algorithm(version).version,
            token_budget=budget,
            counter=counting.name,
        )

    def reflect(self, budget: int, *, counter: str | None = None) -> Reflection:
        """Failures, successes and reflections by goal: those that matter most within the budget,
        the newest first of equals."""
        counting = self.counting(counter)
        corpus = self.everything.corpus
        importance = corpus.columns.importance
        telling = [Ranked(importance[n], n, is_found=True) for n in corpus.columns.telling()]

        def terms(position: int) -> dict[str, float]:
            return {"importance": importance[position]}

        shown = Fitting(corpus, counting, budget, terms).fill(sorted(telling, reverse=True))
        return Reflection(
            goals=tuple(self._evidence(goal, shown) for goal in _by_name(corpus)),
            total_entries=len(corpus),
            token_count=sum(entry.tokens for entry in shown),
            algorithm_version=self.everything.algorithm(None).version,
            token_budget=budget,
            counter=counting.name,
        )

    def summarize(self, scope: str | None) -> str:
        """Progress for a person: a line of numbers, and what happened last about each goal."""
        view = self.everything if scope is None else self.goal(scope)
        columns, entries = view.corpus.columns, view.corpus.entries
        if not len(view.corpus):
            return "nothing yet"
        first, last = min(columns.moments), max(columns.moments)
        lines = [f"{view.summary()}; {Instant(first)} … {Instant(last)}"]
        counts, ends = columns.by_goal(), columns.last_of_goals()
        for goal in _by_name(view.corpus):
            told = f"{counts[goal]} about no goal"
            own = told if goal is None else f"{goal}: {self.goal(goal).summary()}"
            lines.append(f"{own}; last: {_start(entries[ends[goal]])}")
        return "\n".join(lines)

    def log(self, *, goal: str | None, limit: int, cursor: str | None) -> LedgerPage:
        """Entries in order, after the one that the cursor names; UsageError for a foreign one."""
        corpus = (self.everything if goal is None else self.goal(goal)).corpus
        start = 0
        if cursor is not None:
            before = corpus.position_of(cursor)
            if before is None:
                raise UsageError("this cursor belongs to another question; ask the same one again")
            start = before + 1
        found = corpus.entries[start : start + limit]
        more = start + limit < len(corpus)
        return LedgerPage(
            tuple(plainly_shown(one, self.counter) for one in found),
            len(corpus),
            found[-1].revision_id if more else None,
        )

    def counting(self, name: str | None) -> TokenCounter:
        return self.counter if name in (None, self.counter.name) else counter_named(str(name))

    def _evidence(self, goal: str | None, shown: Sequence[ShownEntry]) -> GoalEvidence:
        columns = self.everything.corpus.columns
        about = columns.about(goal)
        own = tuple(one for one in shown if one.goal_id == goal)
        return GoalEvidence(goal, len(about), columns.tagged(about), own)


def _by_name(corpus: Corpus) -> list[str | None]:
    """The goals that entries of a corpus are about."""
    return sorted(corpus.columns.by_goal(), key=lambda goal: (goal is None, goal or ""))


def _start(found: LedgerEntry) -> str:
    text = " ".join(found.entry.content.split())
    return text if len(text) <= _LAST else text[: _LAST - 1] + "…"
