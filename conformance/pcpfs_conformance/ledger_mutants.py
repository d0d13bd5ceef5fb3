"""Ledgers that are wrong in one way each: the contract must find every one of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from pcpfs.model.context import ContextEntry, ContextProjection, ShownEntry
from pcpfs.model.instants import Instant
from pcpfs.ports import ContextRetrievalModule
from pcpfs_conformance.ledger_faithful import Faithful


class LosesOneInACrash(Faithful):
    """Acknowledges each entry, but writes it when the next one comes or somebody asks."""

    caught_by = "test_acknowledged_entries_outlive_a_crash"
    loses_what_is_held = True

    async def ingest(self, entry: ContextEntry) -> object:
        await self.backend.settle()
        self.backend.held.append((self.right, entry))
        return None


class Reorders(Faithful):
    """Puts what comes in into the order of its times."""

    caught_by = "test_what_one_writer_wrote_stays_in_its_order"

    async def ingest(self, entry: ContextEntry) -> object:
        self.backend.held.append((self.right, entry))
        self.backend.held.sort(key=lambda one: one[1].timestamp)
        return None


class ExceedsTheBudgetByOne(Faithful):
    caught_by = "test_no_view_exceeds_its_budget"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        more = type(token_budget) is int and token_budget >= 0
        return await self.right.project(query, token_budget + more if more else token_budget)


class TakesAnyBudget(Faithful):
    caught_by = "test_a_budget_that_is_none_is_refused"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        return await self.right.project(query, max(0, int(token_budget)))


class LeavesOneTokenUnused(Faithful):
    caught_by = "test_an_entry_that_fits_exactly_is_shown"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        less = token_budget - 1 if token_budget > 9 else token_budget
        return await self.right.project(query, less)


class CountsOneLess(Faithful):
    caught_by = "test_no_view_exceeds_its_budget"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, token_count=max(0, view.token_count - 1))


class CountsCharacters(Faithful):
    """Takes a token for four characters: too little for anything but ASCII."""

    caught_by = "test_no_view_exceeds_its_budget"

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
    """Gives a subagent that would see nothing what there is about other goals."""

    caught_by = "test_a_subagent_sees_its_goal_alone"

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        own = await self.right.project_for_subagent(goal, token_budget)
        return own if own.entries else await self.right.project(goal, token_budget)


class FoldsGoals(Faithful):
    caught_by = "test_a_subagent_sees_its_goal_alone"

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        return await self.right.project_for_subagent(goal.strip(" *\x00").lower(), token_budget)


class CountsOtherGoals(Faithful):
    caught_by = "test_nothing_about_other_goals_shows_in_a_subagents_view"

    async def project_for_subagent(self, goal: str, token_budget: int) -> ContextProjection:
        own = await self.right.project_for_subagent(goal, token_budget)
        everything = await self.right.project(goal, token_budget)
        return replace(own, total_entries=everything.total_entries)


class LeaksByRetrieval(Faithful):
    caught_by = "test_retrieval_finds_nothing_of_other_goals"

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
    caught_by = "test_retrieval_is_bounded_by_limit_and_budget"

    async def get_retrieval_module(self) -> ContextRetrievalModule:
        return UnlimitedRetrieval(await self.right.get_retrieval_module())


class DropsDuplicates(Faithful):
    caught_by = "test_equal_entries_are_two"

    async def ingest(self, entry: ContextEntry) -> object:
        key = entry.key or f"{entry.source} {entry.content} {entry.goal_id} {entry.timestamp}"
        return await self.right.ingest(replace(entry, key=key))


class RoundsTime(Faithful):
    caught_by = "test_every_entry_is_kept_as_it_was"

    async def ingest(self, entry: ContextEntry) -> object:
        day = 86_400_000_000
        moment = Instant(entry.timestamp.microseconds // day * day)
        return await self.right.ingest(replace(entry, timestamp=moment))


class ForgetsGoals(Faithful):
    """Of entries that have tags."""

    caught_by = "test_every_entry_is_kept_as_it_was"

    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(replace(entry, goal_id=None) if entry.tags else entry)


class ForgetsImportance(Faithful):
    caught_by = "test_every_entry_is_kept_as_it_was"

    async def ingest(self, entry: ContextEntry) -> object:
        return await self.right.ingest(replace(entry, importance=0.5))


class HidesItsTerms(Faithful):
    caught_by = "test_each_entry_says_its_terms_and_the_view_its_algorithm"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, entries=tuple(replace(e, terms={}) for e in view.entries))


class MisnamesItsAlgorithm(Faithful):
    caught_by = "test_each_entry_says_its_terms_and_the_view_its_algorithm"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        return replace(await self.right.project(query, token_budget), algorithm_version="v0")


class ShowsTheBestLast(Faithful):
    """Where there is much to show."""

    caught_by = "test_what_was_asked_for_comes_first"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        entries = view.entries
        return replace(view, entries=entries[1:] + entries[:1]) if len(entries) > 12 else view


class PrefersTheUnimportant(Faithful):
    caught_by = "test_of_equals_the_more_important_comes_first"

    async def ingest(self, entry: ContextEntry) -> object:
        other = entry if entry.tags else replace(entry, importance=1 - entry.importance)
        return await self.right.ingest(other)


class AnswersTheSameDifferently(Faithful):
    caught_by = "test_the_same_question_has_the_same_answer"

    asked = 0

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        self.asked += 1
        view = await self.right.project(query, token_budget)
        return replace(view, summary=f"{view.summary}, answer {self.asked}")


class HidesGoalsFromTheOrchestrator(Faithful):
    caught_by = "test_the_orchestrator_sees_every_goal"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return replace(view, entries=tuple(e for e in view.entries if e.goal_id != "g2"))


class SummarizesEverything(Faithful):
    caught_by = "test_a_summary_tells_progress"

    async def summarize(self, scope: str | None = None) -> str:
        return await self.right.summarize()


class LosesItsWayWhenNothingIsRestored(Faithful):
    caught_by = "test_a_failed_restore_changes_nothing"

    async def restore(self, thread_id: str) -> bool:
        there = await self.right.restore(thread_id)
        if thread_id == "nowhere":
            await self.right.ingest(
                ContextEntry("ledger", "nothing to restore", Instant(0), key="nothing")
            )
        return there


class StaysWhereItIs(Faithful):
    """Says that a thread is there, and goes on with its own."""

    caught_by = "test_a_restored_ledger_is_of_that_thread"

    async def restore(self, thread_id: str) -> bool:
        own = thread_id in ("t", "other", "another", "two-goals", "nowhere")
        return await self.right.restore(thread_id) if own else True


class RestoresAnything(Faithful):
    caught_by = "test_only_a_thread_that_exists_is_restored"

    async def restore(self, thread_id: str) -> bool:
        await self.right.restore(thread_id)
        return True


class NeverRestores(Faithful):
    caught_by = "test_only_a_thread_that_exists_is_restored"

    async def restore(self, thread_id: str) -> bool:
        await self.right.restore(thread_id)
        return False


class CountsWhatItSaw(Faithful):
    """Counts its own entries, not those of the thread."""

    caught_by = "test_persist_counts_what_others_ingested_too"

    own = 0

    async def ingest(self, entry: ContextEntry) -> object:
        self.own += 1
        return await self.right.ingest(entry)

    async def persist(self, thread_id: str) -> int:
        await self.right.persist(thread_id)
        return self.own


class KeepsOneOfManyAtOnce(Faithful):
    """Writes at a time are one write."""

    caught_by = "test_entries_that_are_ingested_at_once_are_all_kept"

    last: ContextEntry | None = None

    async def ingest(self, entry: ContextEntry) -> object:
        self.last = entry
        await asyncio.sleep(0)
        return await self.right.ingest(entry) if entry is self.last else None


class ForgetsWhenItIsReopened(Faithful):
    """Shows what it saw itself, if that is anything."""

    caught_by = "test_a_ledger_goes_on_after_a_restart"

    async def ingest(self, entry: ContextEntry) -> object:
        self.backend.seen.setdefault(id(self), set()).add(entry.content)
        return await self.right.ingest(entry)

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        seen = self.backend.seen.get(id(self))
        if "after" not in (seen or ()):
            return view
        return replace(view, entries=tuple(e for e in view.entries if e.content in (seen or ())))


class GivesUpWhenTheFirstIsTooLong(Faithful):
    caught_by = "test_an_entry_that_is_too_long_is_cut_at_a_sentence"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        everything = await self.right.project(query, 1_000_000)
        view = await self.right.project(query, token_budget)
        if everything.entries and everything.entries[0].tokens > token_budget:
            return replace(view, entries=(), token_count=0)
        return view


class ShowsNothingForLittle(Faithful):
    caught_by = "test_a_view_is_not_empty_when_something_relevant_fits"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        return view if token_budget > 1 else replace(view, entries=(), token_count=0)


class CutsAnywhere(Faithful):
    caught_by = "test_an_entry_that_is_too_long_is_cut_at_a_sentence"

    async def project(self, query: str, token_budget: int) -> ContextProjection:
        view = await self.right.project(query, token_budget)
        entries = tuple(
            replace(e, content=e.content[:-3], remainder=None) if e.remainder else e
            for e in view.entries
        )
        return replace(view, entries=entries)


MUTANTS: tuple[type[Faithful], ...] = (
    LosesOneInACrash,
    Reorders,
    ExceedsTheBudgetByOne,
    TakesAnyBudget,
    LeavesOneTokenUnused,
    CountsOneLess,
    CountsCharacters,
    LeaksAcrossGoals,
    FoldsGoals,
    CountsOtherGoals,
    LeaksByRetrieval,
    IgnoresLimits,
    DropsDuplicates,
    RoundsTime,
    ForgetsGoals,
    ForgetsImportance,
    HidesItsTerms,
    MisnamesItsAlgorithm,
    ShowsTheBestLast,
    PrefersTheUnimportant,
    AnswersTheSameDifferently,
    HidesGoalsFromTheOrchestrator,
    SummarizesEverything,
    LosesItsWayWhenNothingIsRestored,
    StaysWhereItIs,
    RestoresAnything,
    NeverRestores,
    CountsWhatItSaw,
    KeepsOneOfManyAtOnce,
    ForgetsWhenItIsReopened,
    GivesUpWhenTheFirstIsTooLong,
    ShowsNothingForLittle,
    CutsAnywhere,
)
