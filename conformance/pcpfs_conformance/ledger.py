"""The contract of ContextProtocol as a pytest class: subclass it and provide the fixture `backend`.

    class TestMine(LedgerContract):
        @pytest.fixture
        def backend(self, tmp_path: Path) -> LedgerBackend:
            return MyBackend(tmp_path)

A backend opens the ledger of a thread, as a new process would, and can be made to crash: then all
that was not acknowledged may be gone, and nothing else. `broken_promises` runs the tests without
pytest, which is how the mutants in `ledger_mutants` are shown to be found.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import PcpfsError
from pcpfs.model.context import ContextEntry, ContextProjection
from pcpfs.model.instants import Instant
from pcpfs.ports import ContextProtocol

Answer = TypeVar("Answer")
START = Instant.read("2040-01-01T00:00:00Z").microseconds
ALL = 1_000_000
"""A budget in which everything fits."""


class LedgerBackend(Protocol):
    """What the contract needs besides the protocol itself."""

    def open(self, thread_id: str) -> ContextProtocol:
        """The ledger of a thread that may be new, as if in a new process."""
        ...

    def crash(self) -> None:
        """End all open ledgers without warning, as a power cut does."""
        ...


def run(work: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(work)


def entry(content: str, number: int = 0, **given: Any) -> ContextEntry:
    """An entry at second `number`."""
    moment = Instant(START + number * 1_000_000)
    return ContextEntry(**{"source": "tool:test", "content": content, "timestamp": moment, **given})


def contents(view: ContextProjection) -> list[str]:
    return [shown.content for shown in view.entries]


def cost(text: str) -> int:
    """The default unit of account."""
    return -(-len(text.encode("utf-8")) // 4)


async def ingested(ledger: ContextProtocol, *entries: ContextEntry) -> None:
    """One after the other: each is acknowledged before the next is given."""
    for one in entries:
        await ledger.ingest(one)


async def ingested_at_once(ledger: ContextProtocol, *entries: ContextEntry) -> None:
    await asyncio.gather(*map(ledger.ingest, entries))


class LedgerContract:
    """What every ledger promises (spec ledger L1 to L7)."""

    # L1: nothing is lost, nothing reordered

    def test_every_entry_is_kept_as_it_was(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        given = entry(
            "Text.", 5, tags=("a", "failure"), importance=0.8, goal_id="g", source="user:x"
        )
        run(ingested(ledger, given))
        (shown,) = run(ledger.project("text", ALL)).entries
        assert (shown.source, shown.content, shown.timestamp) == (
            "user:x",
            "Text.",
            given.timestamp,
        )
        assert (shown.tags, shown.importance, shown.goal_id) == (("a", "failure"), 0.8, "g")

    def test_equal_entries_are_two(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("same"), entry("same")))
        assert run(ledger.project("same", ALL)).total_entries == 2

    def test_acknowledged_entries_outlive_a_crash(self, backend: LedgerBackend) -> None:
        run(ingested(backend.open("t"), *(entry(f"entry {n}", n) for n in range(7))))
        backend.crash()
        view = run(backend.open("t").project("entry", ALL))
        assert sorted(contents(view)) == [f"entry {n}" for n in range(7)]

    def test_a_ledger_goes_on_after_a_restart(self, backend: LedgerBackend) -> None:
        run(ingested(backend.open("t"), entry("before")))
        again = backend.open("t")
        run(ingested(again, entry("after", 1)))
        assert sorted(contents(run(again.project("", ALL)))) == ["after", "before"]

    def test_entries_that_are_ingested_at_once_are_all_kept(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")

        async def at_once() -> None:
            await asyncio.gather(*(ledger.ingest(entry(f"n{n}", n)) for n in range(25)))

        run(at_once())
        assert len(contents(run(backend.open("t").project("", ALL)))) == 25

    def test_what_one_writer_wrote_stays_in_its_order(self, backend: LedgerBackend) -> None:
        """Also where the writer's clock goes backwards: equals are shown newest first."""
        ledger = backend.open("t")
        run(ingested(ledger, *(entry(f"step {n}", 100 - n) for n in range(9))))
        expected = [f"step {n}" for n in reversed(range(9))]
        for one in (ledger, backend.open("t")):
            assert contents(run(one.project("nothing of this", ALL))) == expected

    # L2: budgets

    @pytest.mark.parametrize("budget", [0, 1, 2, 7, 8, 9, 40, 41, 1000])
    def test_no_view_exceeds_its_budget(self, budget: int, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        texts = ["short", "数据库" * 9, "🙂👩‍👩‍👧" * 5, "<|endoftext|> <|im_start|>", "a. " * 50]
        run(ingested(ledger, *(entry(text, n, goal_id="g") for n, text in enumerate(texts))))
        for view in (
            run(ledger.project("short 数据库", budget)),
            run(ledger.project_for_subagent("g", budget)),
        ):
            assert view.token_count == sum(map(cost, contents(view))) <= budget

    def test_an_entry_that_fits_exactly_is_shown(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("x" * 40), entry("y" * 41, 1)))
        assert contents(run(ledger.project("zzz", 21))) == ["y" * 41, "x" * 40]

    def test_a_view_is_not_empty_when_something_relevant_fits(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("tide", 0)))
        run(ingested_at_once(ledger, *(entry(f"tide {'long ' * 500}", n) for n in range(1, 90))))
        assert contents(run(ledger.project("tide", 1))) == ["tide"]

    def test_an_entry_that_is_too_long_is_cut_at_a_sentence(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        text = "First sentence here. " + "Second one follows. " * 200
        run(ingested(ledger, entry(text)))
        (shown,) = run(ledger.project("sentence", 60)).entries
        assert shown.content.startswith("First sentence here. Second one follows.")
        assert shown.remainder is not None
        start, end = shown.remainder.bytes
        assert shown.content.encode().startswith(text.encode()[:start].rstrip())
        assert text.encode()[:start].endswith(b".")
        assert end == len(text.encode())
        assert shown.page_id in shown.content
        assert cost(shown.content) <= 60

    # L3, L6: ranking

    def test_what_was_asked_for_comes_first(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        others = (entry(f"something else {n}", n) for n in range(20))
        run(ingested(ledger, entry("The harbour pump failed at noon.")))
        run(ingested_at_once(ledger, *others))
        assert contents(run(ledger.project("harbour pump", ALL)))[0].startswith("The harbour")

    def test_of_equals_the_more_important_comes_first(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("pump a", importance=0.9), entry("pump b", 1, importance=0.1)))
        assert contents(run(ledger.project("pump", ALL))) == ["pump a", "pump b"]

    def test_each_entry_says_its_terms_and_the_view_its_algorithm(
        self, backend: LedgerBackend
    ) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("pump", tags=("failure",)), entry("tide", 1)))
        view = run(ledger.project("pump failure", ALL))
        for shown in view.entries:
            assert shown.terms
            assert shown.score == pytest.approx(sum(shown.terms.values()), abs=1e-5)
        scores = [shown.score for shown in view.entries]
        assert scores == sorted(scores, reverse=True)
        module = run(ledger.get_retrieval_module())
        assert view.algorithm_version == module.algorithm_version
        assert module.algorithm_version

    def test_the_same_question_has_the_same_answer(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested_at_once(ledger, *(entry(f"pump {n % 3}", n % 4) for n in range(30))))
        first = run(ledger.project("pump 1", 30))
        assert run(ledger.project("pump 1", 30)) == first
        assert run(backend.open("t").project("pump 1", 30)) == first

    # L4, L5: views and isolation

    @pytest.mark.parametrize(
        "goal",
        [
            "g1",
            "G1",
            "g",
            "g1*",
            "%",
            "_",
            "g2' OR '1'='1",
            "g1\x00",
            "g1 ",
            "*",
            ".*",
            "\u00e9",
            "e\u0301",
        ],
    )
    def test_a_subagent_sees_its_goal_alone(self, goal: str, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        names = ["g1", "g2", "g11", "\u00e9", None]
        run(ingested(ledger, *(entry(f"secret of {n}", goal_id=n) for n in names)))
        view = run(ledger.project_for_subagent(goal, ALL))
        assert {shown.goal_id for shown in view.entries} <= {goal}
        assert len(view.entries) == names.count(goal)

    @pytest.mark.parametrize("text", ["g2", "hidden word", "word of nobody", "", "*"])
    def test_retrieval_finds_nothing_of_other_goals(
        self, text: str, backend: LedgerBackend
    ) -> None:
        module = run(_with_two_goals(backend).get_retrieval_module())
        for found in (
            module.retrieve_by_goal_relevance("g1", text),
            module.retrieve_by_goal_relevance("g1", execution_context=text, limit=9),
        ):
            assert [shown.content for shown in found] == ["word of one"]

    @settings(
        max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None
    )
    @given(data=st.data())
    def test_no_text_reaches_another_goal(
        self, backend: LedgerBackend, data: st.DataObject
    ) -> None:
        text = st.one_of(
            st.text(max_size=30),
            st.sampled_from(["g1", "g2", "goal_id:g2", "hidden word", '"hidden"', "g1 OR g2"]),
        )
        goal, query = data.draw(text), data.draw(text)
        ledger = _with_two_goals(backend)
        module = run(ledger.get_retrieval_module())
        found = module.retrieve_by_goal_relevance(goal, query, execution_context=query, limit=50)
        view = run(ledger.project_for_subagent(goal, ALL))
        for shown in (*found, *view.entries):
            assert shown.goal_id == goal

    def test_nothing_about_other_goals_shows_in_a_subagents_view(
        self, backend: LedgerBackend
    ) -> None:
        """The same answer, to the last number, whether there are other goals or not."""
        own = [entry("pump one", 1, goal_id="g1"), entry("pump two", 2, goal_id="g1")]
        alone, among = backend.open("alone"), backend.open("among")
        run(ingested(alone, *own))
        run(
            ingested(
                among, own[0], entry("pump pump pump", 1, goal_id="g2", tags=("failure",)), own[1]
            )
        )
        views = [run(ledger.project_for_subagent("g1", 100)) for ledger in (alone, among)]
        assert views[0].summary == views[1].summary
        assert views[0].total_entries == views[1].total_entries == 2
        scored = [[(s.content, s.score, dict(s.terms)) for s in view.entries] for view in views]
        assert scored[0] == scored[1]

    def test_the_orchestrator_sees_every_goal(self, backend: LedgerBackend) -> None:
        ledger = _with_two_goals(backend)
        assert {s.goal_id for s in run(ledger.project("word", ALL)).entries} == {"g1", "g2", None}

    def test_retrieval_is_bounded_by_limit_and_budget(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, *(entry(f"pump {n:03}", n, goal_id="g") for n in range(30))))
        module = run(ledger.get_retrieval_module())
        assert len(module.retrieve_by_goal_relevance("g", "pump", limit=4)) == 4
        found = module.retrieve_by_goal_relevance("g", "pump", token_budget=7)
        assert sum(cost(shown.content) for shown in found) <= 7
        assert len(found) == 3

    def test_a_summary_tells_progress(self, backend: LedgerBackend) -> None:
        ledger = _with_two_goals(backend)
        text = run(ledger.summarize())
        assert "g1" in text
        assert "g2" in text
        assert "g2" not in run(ledger.summarize("g1"))

    # persist and restore

    def test_persist_counts_what_others_ingested_too(self, backend: LedgerBackend) -> None:
        run(ingested(backend.open("t"), entry("one"), entry("two", 1)))
        ledger = backend.open("t")
        run(ingested(ledger, entry("three", 2)))
        assert run(ledger.persist("t")) == 3

    def test_only_a_thread_that_exists_is_restored(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        assert not run(ledger.restore("t"))
        run(ingested(ledger, entry("one")))
        assert run(ledger.restore("t"))
        assert run(backend.open("other").restore("t"))
        assert not run(ledger.restore("another"))

    def test_a_restored_ledger_is_of_that_thread(self, backend: LedgerBackend) -> None:
        run(ingested(backend.open("first"), entry("of a")))
        ledger = backend.open("second")
        run(ingested(ledger, entry("of b")))
        assert contents(run(ledger.project("of", ALL))) == ["of b"]
        run(ledger.restore("first"))
        run(ingested(ledger, entry("more of a", 1)))
        assert sorted(contents(run(ledger.project("of", ALL)))) == ["more of a", "of a"]
        assert contents(run(backend.open("second").project("of", ALL))) == ["of b"]

    def test_a_failed_restore_changes_nothing(self, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("one")))
        run(ledger.restore("nowhere"))
        assert contents(run(ledger.project("", ALL))) == ["one"]

    @pytest.mark.parametrize("budget", [-1, 1.5, True])
    def test_a_budget_that_is_none_is_refused(self, budget: Any, backend: LedgerBackend) -> None:
        ledger = backend.open("t")
        run(ingested(ledger, entry("one")))
        with pytest.raises(PcpfsError):
            run(ledger.project("one", budget))


def _with_two_goals(backend: LedgerBackend) -> ContextProtocol:
    ledger = backend.open("two-goals")
    if not run(ledger.project("", ALL)).total_entries:
        entries = [
            entry("word of one", 1, goal_id="g1"),
            entry("hidden word of two", 2, goal_id="g2"),
            entry("word of nobody", 3),
        ]
        run(ingested(ledger, *entries))
    return ledger


def broken_promises(contract: LedgerContract, backend: Callable[[], LedgerBackend]) -> list[str]:
    """The names of the contract's tests that this backend fails, each with a backend of its own.
    Of tests with parameters, one of the first that fails counts."""
    failed = []
    for name, test in inspect.getmembers(contract, inspect.ismethod):
        if not name.startswith("test_"):
            continue
        for parameters in _parameters(test):
            try:
                test(backend=backend(), **parameters)
            except (Exception, pytest.fail.Exception):
                failed.append(name)
                break
    return failed


def _parameters(test: Any) -> list[dict[str, Any]]:
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    return [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]
