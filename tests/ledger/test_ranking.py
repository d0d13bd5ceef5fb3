"""What each algorithm looks at, and that its answers depend on nothing else."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest

from pcpfs.errors import UsageError
from pcpfs.ledger import ContextEntry, ContextProjection, MemoryLedger, Settings
from pcpfs.ledger.ranking import algorithm_named
from pcpfs.model.instants import Instant

DAY = 86_400_000_000


def ledger(*entries: ContextEntry, **how: object) -> MemoryLedger:
    found = MemoryLedger("t", settings=Settings(**how))  # type: ignore[arg-type]
    for entry in entries:
        asyncio.run(found.ingest(entry))
    return found


def entry(content: str, day: int = 0, **given: object) -> ContextEntry:
    return ContextEntry("s", content, Instant(day * DAY), **given)  # type: ignore[arg-type]


def project(found: MemoryLedger, query: str, **how: str) -> ContextProjection:
    return asyncio.run(found.project(query, 10_000, **how))  # type: ignore[arg-type]


def contents(view: ContextProjection) -> list[str]:
    return [shown.content for shown in view.entries]


def test_an_entry_matters_as_its_tags_say_unless_its_writer_says_otherwise() -> None:
    by_tags = {"failure": 0.8, "success": 0.6, "reflection": 0.9, "other": 0.5}
    for tag, importance in by_tags.items():
        assert entry("x", tags=[tag]).importance == importance
        assert entry("x", tags=[tag], importance=0.5).importance == 0.5
    assert entry("x", tags=["failure", "reflection"]).importance == 0.9
    for wrong in (float("nan"), 1.1, -0.1):
        with pytest.raises(UsageError, match="between 0 and 1"):
            entry("x", importance=wrong)


def test_v1_looks_at_goal_tags_and_importance_alone() -> None:
    found = ledger(
        entry("pump", 0),
        entry("b", 1, goal_id="pump repair"),
        entry("c", 2, tags=["pump"]),
        entry("d", 3, importance=0.9),
    )
    view = project(found, "pump", algorithm="v1_keyword")
    assert contents(view) == ["b", "c", "d", "pump"]
    assert view.algorithm_version == "v1_keyword"
    assert view.entries[0].terms == {"tags": 0.0, "goal": 1.0, "importance": 0.25}


def test_v2_finds_words_in_other_forms_and_parts_of_names() -> None:
    found = ledger(entry("The pumps were leaking"), entry("see getUserById()"), entry("数据库很慢"))
    assert contents(project(found, "leaked pump"))[0] == "The pumps were leaking"
    assert contents(project(found, "user id"))[0] == "see getUserById()"
    assert contents(project(found, "数据库"))[0] == "数据库很慢"


def test_rare_words_weigh_more_than_common_ones() -> None:
    texts = [entry(f"tide report {n}") for n in range(20)]
    found = ledger(*texts, entry("tide table of Bergen"))
    assert contents(project(found, "tide report Bergen"))[0] == "tide table of Bergen"


def test_words_that_all_have_decide_nothing_but_are_found_alone() -> None:
    found = ledger(entry("tide one", importance=0.1), entry("tide two", importance=0.9))
    assert contents(project(found, "tide")) == ["tide two", "tide one"]
    assert contents(project(found, "tide one"))[0] == "tide one"
    assert contents(project(found, "the of and"))[0] == "tide two"


def test_with_a_half_life_newer_entries_come_first() -> None:
    entries = [entry("pump old", 0), entry("pump new", 30)]
    assert contents(project(ledger(*entries[::-1], half_life_days=7), "pump")) == [
        "pump new",
        "pump old",
    ]
    view = project(ledger(*entries, half_life_days=30), "pump")
    assert [shown.terms["recency"] for shown in view.entries] == [0.5, 0.25]
    assert "recency" not in project(ledger(*entries), "pump").entries[0].terms


class Flavours:
    """An embedder of two dimensions: sweet and sour."""

    name = "flavours"
    asked = 0

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += len(texts)
        return [
            [float("honey" in t or "sweet" in t), float("lemon" in t or "sour" in t)] for t in texts
        ]


def test_an_embedder_adds_nearness_in_meaning() -> None:
    embedder = Flavours()
    found = ledger(entry("lemon juice"), entry("honey cake"), embedder=embedder)
    view = project(found, "something sweet")
    assert contents(view)[0] == "honey cake"
    assert view.algorithm_version == "hybrid_flavours"
    assert view.entries[0].terms["meaning"] == 3.0
    asyncio.run(found.ingest(entry("sour cream")))
    before = embedder.asked
    assert contents(project(found, "sour"))[0] == "sour cream"
    assert embedder.asked == before + 2
    assert project(found, "sour", algorithm="v1_keyword").algorithm_version == "v1_keyword"


def test_an_algorithm_that_is_not_known_is_told_at_once() -> None:
    with pytest.raises(UsageError, match="v1_keyword, v2_bm25"):
        algorithm_named("v3")
    with pytest.raises(UsageError, match="no algorithm"):
        MemoryLedger("t", settings=Settings(algorithm="v3"))
    with pytest.raises(UsageError, match="half-life"):
        MemoryLedger("t", settings=Settings(half_life_days=0))


def test_scores_depend_on_the_entries_not_on_when_they_were_asked_for() -> None:
    chance = random.Random(7)
    vocabulary = [f"{a}{b}" for a in "bcdfg" for b in ("ap", "el", "ir")]
    entries = [
        entry(" ".join(chance.choices(vocabulary, k=chance.randint(1, 40))), n) for n in range(120)
    ]
    asked, quiet = MemoryLedger("t"), MemoryLedger("t")
    for number, one in enumerate(entries):
        asyncio.run(asked.ingest(one))
        asyncio.run(quiet.ingest(one))
        if number % 7 == 0:
            project(asked, "bap cel")
    first, second = (project(found, "bap cel gir") for found in (asked, quiet))
    assert first == second


def test_many_entries_come_in_full_order() -> None:
    """More than are sorted at first."""
    found = ledger(*(entry(f"tide n{n}", importance=(n * 37 % 101) / 101) for n in range(3000)))
    view = asyncio.run(found.project("tide", 1 << 30))
    scores = [shown.score for shown in view.entries]
    assert len(view.entries) == 3000
    assert scores == sorted(scores, reverse=True)
    assert len({shown.page_id for shown in view.entries}) == 3000
