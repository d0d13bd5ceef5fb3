"""The ledger in a store: one commit for what comes at once, one order in all clones."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.errors import InvalidName, KeyReused, Unavailable, UsageError
from pcpfs.ledger import ContextEntry, StoreLedger
from pcpfs.ledger.corpus import LedgerEntry
from pcpfs.ledger.order import Placed, goes_on, in_order
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.model.requests import EventDraft
from pcpfs.store.upkeeping.fsck import fsck
from tests.events.test_segments import cloned, pull
from tests.store.workplace import START, Workplace, paths_of

ALL = 1_000_000


def entry(content: str, second: int = 0, **given: object) -> ContextEntry:
    moment = Instant(START.microseconds + second * 1_000_000)
    return ContextEntry("tool:t", content, moment, **given)  # type: ignore[arg-type]


def of(place: Workplace, thread: str = "t") -> StoreLedger:
    return StoreLedger(place.session, thread)


def log(ledger: StoreLedger) -> list[str]:
    return [shown.content for shown in ledger.log(limit=1000).entries]


def test_entries_that_come_at_once_are_one_commit(place: Workplace) -> None:
    before = place.commits()

    async def at_once() -> None:
        ledger = of(place)
        await asyncio.gather(*(ledger.ingest(entry(f"n{n}")) for n in range(50)))

    asyncio.run(at_once())
    assert place.commits() == before + 1
    assert log(of(place)) == [f"n{n}" for n in range(50)]


def test_of_a_batch_only_the_caller_at_fault_hears_of_it(place: Workplace) -> None:
    asyncio.run(of(place).ingest(entry("first", key="k")))

    async def at_once() -> list[object]:
        ledger = of(place)
        given = [
            entry("good"),
            entry("other bytes", key="k"),
            entry("x", tags=["\n"]),
            entry("fine"),
        ]
        return list(await asyncio.gather(*map(ledger.ingest, given), return_exceptions=True))

    answers = asyncio.run(at_once())
    assert isinstance(answers[1], KeyReused)
    assert isinstance(answers[2], InvalidName)
    assert log(of(place)) == ["first", "good", "fine"]


def test_a_key_takes_an_entry_in_once(place: Workplace) -> None:
    for _ in range(2):
        asyncio.run(of(place).ingest(entry("one", key="k")))
    assert log(of(place)) == ["one"]
    assert asyncio.run(of(place).persist("t")) == 1


def test_a_log_of_keys_that_two_clones_used_comes_to_its_end(
    place: Workplace, tmp_path: Path
) -> None:
    asyncio.run(of(place).ingest(entry("start")))
    other = cloned(place, tmp_path / "other")
    for second, (where, text) in enumerate(((place, "here"), (other, "there"))):
        same = entry("same", second, key="same", goal_id="g")
        own = entry(text, second, key="own", goal_id="g")
        of(where).ingest_all([same, own])
    pull(place, other)
    whole = log(of(place))
    assert sorted(whole) == ["here", "same", "same", "start", "there"]
    for goal, expected in ((None, whole), ("g", whole[1:])):
        found, cursor = [], None
        for _ in expected:
            page = of(place).log(goal=goal, limit=1, cursor=cursor)
            found += [shown.content for shown in page.entries]
            cursor = page.cursor
        assert (found, cursor) == (expected, None)


@pytest.mark.parametrize("how", [(), ("--rebase",)], ids=["merge", "rebase"])
def test_a_merge_interleaves_and_reorders_no_writer(
    how: tuple[str, ...], place: Workplace, tmp_path: Path
) -> None:
    of(place).ingest_all([entry("start", 0)])
    other = cloned(place, tmp_path / "other")
    # Each writer's clock goes backwards within its own entries.
    of(place).ingest_all([entry("a1", 50), entry("a2", 10), entry("a3", 60)])
    of(other).ingest_all([entry("b1", 40), entry("b2", 55), entry("b3", 5)])
    followed = of(other)
    assert log(followed) == ["start", "b1", "b2", "b3"]
    pull(other, place, *how)
    pull(place, other)
    expected = ["start", "b1", "a1", "a2", "b2", "b3", "a3"]
    assert log(followed) == log(of(place)) == log(of(other)) == expected
    assert asyncio.run(followed.project("b3", ALL)).total_entries == 7
    of(place).ingest_all([entry("after both", 1)])
    assert log(of(place)) == [*expected, "after both"]
    other.close()


def test_a_ledger_follows_what_others_write(place: Workplace) -> None:
    mine, theirs = of(place), of(place)
    mine.ingest_all([entry("one")])
    assert log(theirs) == ["one"]
    theirs.ingest_all([entry("two")])
    assert log(mine) == ["one", "two"]
    place.session.ingest("thread:t", [EventDraft(b"by event", "text/plain")])
    shown = mine.log().entries[-1]
    assert (shown.content, shown.source, shown.importance) == ("by event", "user:anna", 0.5)


def test_what_is_withdrawn_is_in_no_view_and_stays_in_the_store(place: Workplace) -> None:
    ledger = of(place)
    one, _ = ledger.ingest_all([entry("wrong", goal_id="g"), entry("right", goal_id="g")])
    place.session.tombstone(one.page_id, "mistaken")
    assert log(ledger) == ["right"]
    assert asyncio.run(ledger.project_for_subagent("g", ALL)).total_entries == 1
    assert asyncio.run(ledger.persist("t")) == 2
    place.session.restore(one.page_id, "it was right")
    assert log(ledger) == ["wrong", "right"]


def test_a_secret_is_withheld_and_its_entry_is_kept(place: Workplace) -> None:
    text = "push with ghp_" + "a1B2" * 9 + " and see"
    of(place).ingest_all([entry(text)])
    assert log(of(place)) == ["push with [withheld: github-token] and see"]
    assert not any(b"ghp_" in file.read_bytes() for file in paths_of(place.path, "*.jsonl"))


def test_persist_says_when_git_cannot_commit(place: Workplace) -> None:
    ledger = of(place)
    ledger.ingest_all([entry("one")])
    merging = place.path / ".git" / "CHERRY_PICK_HEAD"
    merging.write_text(place.git("rev-parse", "HEAD"))
    ledger.ingest_all([entry("two")])
    with pytest.raises(Unavailable, match="written"):
        asyncio.run(ledger.persist("t"))
    assert log(ledger) == ["one", "two"]
    merging.unlink()
    assert asyncio.run(ledger.persist("t")) == 2
    assert place.git("status", "--porcelain") == ""
    assert fsck(place.store).problems == ()


def test_a_damaged_line_costs_only_itself(place: Workplace) -> None:
    of(place).ingest_all([entry(f"n{n}", 9 - n) for n in range(4)])
    (file,) = paths_of(place.path, "*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"n2"', b'"nX"'))
    assert log(of(place)) == ["n0", "n1", "n3"]
    place.store.reindex()
    assert log(of(place)) == ["n0", "n1", "n3"]


def test_a_foreign_event_that_says_odd_things_is_an_entry_all_the_same(place: Workplace) -> None:
    odd = [{"importance": "nan"}, {"importance": "many"}, {"importance": "7"}, {"other": "x"}]
    events = [EventDraft(b"odd", "text/plain", about=about) for about in odd]
    place.session.ingest("thread:t", events)
    shown = of(place).log().entries
    assert [(s.source, s.importance) for s in shown] == [("user:anna", 0.5)] * 4


def test_entries_that_wait_for_each_other_come_last_and_are_not_lost() -> None:
    found = LedgerEntry("pg", entry("x"))
    knot = [Placed("a", ("lost",), found, "b"), Placed("b", ("a",), found)]
    order = in_order([*knot, Placed("c", (), found)])
    assert [placed.revision for placed in order] == ["c", "a", "b"]


def test_large_entries_and_odd_texts_come_back(place: Workplace) -> None:
    texts = ["x" * (1 << 21), "", "\u2028\x00 nul", "\ud83d half", "ünï \r\n"]
    of(place).ingest_all([entry(text) for text in texts])
    assert log(of(place)) == [*texts[:3], "\\ud83d half", texts[4]]


@pytest.mark.parametrize("thread", ["../x", "a/b", "", "x\x00", "."])
def test_a_thread_that_would_be_no_scope_is_refused(thread: str, place: Workplace) -> None:
    with pytest.raises(InvalidName):
        of(place, thread)


@pytest.mark.parametrize("thread", ["A thread", "Ünï", "a:b", "tree", "con", "x=41"])
def test_threads_with_odd_names_stay_apart(thread: str, place: Workplace) -> None:
    of(place, thread).ingest_all([entry("mine")])
    of(place, "other").ingest_all([entry("other")])
    again = of(place, "other")
    assert asyncio.run(again.restore(thread))
    assert log(again) == ["mine"]


def test_an_agent_may_keep_a_ledger(place: Workplace) -> None:
    place.session.principal = Principal("agent:worker")
    of(place).ingest_all([entry("one")])
    assert "agent:worker" in place.git("log", "-1", "--format=%an")


def test_only_its_own_thread_is_persisted(place: Workplace) -> None:
    with pytest.raises(UsageError, match="of the thread t"):
        asyncio.run(of(place).persist("another"))


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_order_of_arrival_gives_the_same_order(data: st.DataObject) -> None:
    """Writers of any number of entries with any clocks, who saw any of what was there."""
    written: list[Placed] = []
    lines: list[list[str]] = [[] for _ in range(3)]
    for number in range(data.draw(st.integers(1, 12))):
        own = lines[data.draw(st.integers(0, 2))]
        seen = (
            data.draw(st.sets(st.sampled_from([p.revision for p in written]))) if written else set()
        )
        after = tuple(sorted({*seen, *own[-1:]}))
        one = entry("x", data.draw(st.integers(0, 3)))
        revision = f"rev_{data.draw(st.integers(0, 9))}_{number:02}"
        written.append(Placed(revision, after, LedgerEntry(f"pg_{number}", one)))
        own.append(revision)
    order = [placed.revision for placed in in_order(written)]
    shuffled = data.draw(st.permutations(written))
    assert [placed.revision for placed in in_order(shuffled)] == order
    assert sorted(order) == sorted(placed.revision for placed in written)
    for own in lines:
        assert [revision for revision in order if revision in own] == own


def test_only_what_comes_after_everything_is_appended() -> None:
    def placed(name: str, *after: str) -> Placed:
        return Placed(name, after, LedgerEntry(name, entry(name)))

    assert goes_on({"a", "b"}, [placed("c", "a", "b"), placed("d", "c")])
    assert goes_on(set(), [placed("a")])
    assert not goes_on({"a", "b"}, [placed("c", "a")])
    assert not goes_on({"a"}, [placed("b", "a"), placed("c", "a")])
