"""The purpose-scoped views of a thread (ledger L4): what each may see, ranked, within budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pcpfs.errors import UsageError
from pcpfs.ledger.corpus import Corpus, LedgerEntry
from pcpfs.ledger.counting import DEFAULT, TokenCounter, counter_named
from pcpfs.ledger.fitting import Fitting, plainly_shown
from pcpfs.ledger.ranking import Algorithm, Bm25, Hybrid, Ranked, algorithm_named
from pcpfs.ledger.words import Words
from pcpfs.model.context import (
    IMPORTANCE,
    ContextProjection,
    GoalEvidence,
    LedgerPage,
    Reflection,
    ShownEntry,
)
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
    """Some entries, and all that is known of these alone."""

    def __init__(self, words: Words, settings: Settings) -> None:
        self.corpus = Corpus(words)
        self.tagged: Counter[str] = Counter()
        self.goals: Counter[str | None] = Counter()
        self._settings = settings
        self._algorithms: dict[str | None, Algorithm] = {}

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        self.corpus.add(entries)
        for found in entries:
            self.goals[found.entry.goal_id] += 1
            self.tagged.update(tag for tag in found.entry.tags if tag in IMPORTANCE)

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
        told = ", ".join(f"{self.tagged[tag]} {tag}" for tag in IMPORTANCE if self.tagged[tag])
        count = len(self.corpus)
        return f"{count} {'entry' if count == 1 else 'entries'}" + (f": {told}" if told else "")


class Views:
    """The views of one thread: of everything, and of each goal by itself."""

    def __init__(self, settings: Settings) -> None:
        settings.ranking()  # a wrong name is told now
        self.counter = counter_named(settings.counter)
        self._settings = settings
        self._words = Words()
        self._goals: dict[str, View] = {}
        self.everything = View(self._words, settings)

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        return self.everything.corpus.entries

    def add(self, entries: Sequence[LedgerEntry]) -> None:
        """Entries that come after all that are known."""
        self.everything.add(entries)
        for goal, view in self._goals.items():
            view.add(_about(entries, goal))

    def start_over(self, entries: Sequence[LedgerEntry]) -> None:
        """All entries, in an order that is new."""
        self.everything = View(self._words, self._settings)
        self._goals.clear()
        self.add(entries)

    def goal(self, goal: str) -> View:
        """The entries about exactly this goal (ledger L5)."""
        if goal not in self._goals:
            view = View(self._words, self._settings)
            view.add(_about(self.entries, goal))
            if not len(view.corpus):
                return view  # nobody can make us remember goals that there are not
            self._goals[goal] = view
        return self._goals[goal]

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
        view = self.everything
        telling = [
            Ranked(found.entry.importance, position, is_found=True)
            for position, found in enumerate(self.entries)
            if not IMPORTANCE.keys().isdisjoint(found.entry.tags)
        ]

        def terms(position: int) -> dict[str, float]:
            return {"importance": view.corpus.importance[position]}

        shown = Fitting(view.corpus, counting, budget, terms).fill(sorted(telling, reverse=True))
        return Reflection(
            goals=tuple(self._evidence(goal, shown) for goal in _by_name(view.goals)),
            total_entries=len(view.corpus),
            token_count=sum(entry.tokens for entry in shown),
            algorithm_version=view.algorithm(None).version,
            token_budget=budget,
            counter=counting.name,
        )

    def summarize(self, scope: str | None) -> str:
        """Progress for a person: a line of numbers, and what happened last about each goal."""
        view = self.everything if scope is None else self.goal(scope)
        if not len(view.corpus):
            return "nothing yet"
        entries = view.corpus.entries
        times = sorted(found.entry.timestamp for found in (entries[0], entries[-1]))
        lines = [f"{view.summary()}; {times[0]} … {times[1]}"]
        last = {found.entry.goal_id: found for found in entries}
        for goal in _by_name(view.goals):
            own = (
                self.goal(goal).summary()
                if goal is not None
                else f"{view.goals[None]} about no goal"
            )
            lines.append(f"{'' if goal is None else goal + ': '}{own}; last: {_start(last[goal])}")
        return "\n".join(lines)

    def log(self, *, goal: str | None, limit: int, cursor: str | None) -> LedgerPage:
        """Entries in order, after the page that the cursor names; UsageError for a foreign one."""
        corpus = (self.everything if goal is None else self.goal(goal)).corpus
        start = 0
        if cursor is not None:
            known = [n for n, found in enumerate(corpus.entries, 1) if found.page_id == cursor]
            if not known:
                raise UsageError("this cursor belongs to another question; ask the same one again")
            start = known[-1]
        found = corpus.entries[start : start + limit]
        more = start + limit < len(corpus)
        return LedgerPage(
            tuple(plainly_shown(one, self.counter) for one in found),
            len(corpus),
            found[-1].page_id if more else None,
        )

    def counting(self, name: str | None) -> TokenCounter:
        return self.counter if name in (None, self.counter.name) else counter_named(str(name))

    def _evidence(self, goal: str | None, shown: Sequence[ShownEntry]) -> GoalEvidence:
        view = self.everything if goal is None else self.goal(goal)
        about = _about(self.entries, None) if goal is None else view.corpus.entries
        tags = Counter(tag for found in about for tag in found.entry.tags if tag in IMPORTANCE)
        return GoalEvidence(
            goal, len(about), dict(tags), tuple(one for one in shown if one.goal_id == goal)
        )


def _about(entries: Sequence[LedgerEntry], goal: str | None) -> list[LedgerEntry]:
    return [found for found in entries if found.entry.goal_id == goal]


def _by_name(goals: Counter[str | None]) -> list[str | None]:
    return sorted(goals, key=lambda goal: (goal is None, goal or ""))


def _start(found: LedgerEntry) -> str:
    text = " ".join(found.entry.content.split())
    return text if len(text) <= _LAST else text[: _LAST - 1] + "…"
