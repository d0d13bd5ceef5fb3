"""What is kept of a thread is disposable: it makes answers fast and never changes them."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pcpfs.ledger import ContextEntry, Settings, StoreLedger
from pcpfs.ledger.events import event_of, namespace_of
from pcpfs.ledger.thread import LEDGER_LOCK, Thread
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from tests.events.test_segments import cloned, pull
from tests.ledger.threads import CHUNK, answers, files_of, folder_of, in_full, kept
from tests.store.workplace import START, Workplace, paths_of

TEXTS = ("The tide is high.", "pump failure", "the the the", "数据库 🙂", "", "tide " * 40)


def entry(number: int, text: str | None = None, **given: object) -> ContextEntry:
    moment = Instant(START.microseconds + (number * 37 % 11) * 1_000_000)
    content = TEXTS[number % len(TEXTS)] if text is None else text
    goal = (None, "g1", "g2")[number % 3]
    tags = ((), ("failure",), ("success", "tide"), ("reflection",))[number % 4]
    importance = (number * 7 % 11) / 10 if number * 7 % 11 <= 10 else 0.5
    return ContextEntry(
        "tool:t",
        content,
        moment,
        tags,
        importance,
        **{"goal_id": goal, **given},  # type: ignore[arg-type]
    )


def ingest(place: Workplace, *entries: ContextEntry) -> list[str]:
    return [one.page_id for one in place.session.ingest("thread:t", list(map(event_of, entries)))]


def filled(place: Workplace, count: int = 10) -> None:
    """A thread of some entries, in three segments, kept."""
    for start in range(0, count, 4):
        ingest(place, *map(entry, range(start, min(start + 4, count))))
    agrees(place)


def agrees(place: Workplace) -> None:
    """A new process answers as if it had read everything."""
    assert kept(place).ask(answers) == answers(in_full(place))


def stamps(place: Workplace) -> dict[str, int]:
    """When each file was last written."""
    return {file.name: file.stat().st_mtime_ns for file in files_of(place)}


def test_answers_are_those_of_the_whole_thread(place: Workplace) -> None:
    filled(place, 23)
    before = stamps(place)
    agrees(place)
    assert stamps(place) == before  # nothing was made again


def test_new_entries_extend_what_is_kept(place: Workplace) -> None:
    filled(place, 10)
    before = stamps(place)
    follower = kept(place)
    follower.ask(answers)
    ingest(place, entry(10), entry(11), entry(12))
    agrees(place)
    after = stamps(place)
    assert [name for name in before if before[name] == after[name]] == ["0", "1"]
    assert follower.ask(answers) == answers(in_full(place))
    ingest(place, entry(13))
    assert follower.ask(answers) == answers(in_full(place))


def test_a_change_elsewhere_in_the_store_reads_no_thread_again(place: Workplace) -> None:
    filled(place)
    before = stamps(place)
    place.write("A page.")
    agrees(place)
    chunks = [name for name in before if name.isdigit()]
    after = stamps(place)
    assert [after[name] for name in chunks] == [before[name] for name in chunks]


def test_a_merge_that_interleaves_is_followed(place: Workplace, tmp_path: Path) -> None:
    filled(place, 9)
    other = cloned(place, tmp_path / "other")
    follower = kept(place)
    follower.ask(answers)
    ingest(place, entry(20), entry(21), entry(22))
    ingest(other, entry(30), entry(31), entry(32), entry(33))
    follower.ask(answers)
    pull(place, other)
    assert follower.ask(answers) == answers(in_full(place))
    agrees(place)
    other.close()


def test_withdrawing_and_restoring_is_followed(place: Workplace) -> None:
    filled(place, 5)
    (page,) = ingest(place, entry(5, "withdrawn tide"))
    ingest(place, entry(6), entry(7))
    agrees(place)
    place.session.tombstone(page, "mistaken")
    agrees(place)
    ingest(place, entry(8))
    agrees(place)
    place.session.restore(page, "it was right")
    agrees(place)


def test_what_follows_a_withdrawn_entry_stays_behind_what_came_before(place: Workplace) -> None:
    """Also where the clock of its writer says otherwise."""
    moment = Instant(START.microseconds + 99_000_000)
    ingest(place, ContextEntry("s", "first", moment))
    (page,) = ingest(place, ContextEntry("s", "second", moment))
    ingest(place, ContextEntry("s", "third", START))
    place.session.tombstone(page, "mistaken")
    log = kept(place).ask(lambda views: views.log(goal=None, limit=9, cursor=None))
    assert [shown.content for shown in log.entries] == ["first", "third"]


DAMAGES: dict[str, Callable[[Path], object]] = {
    "lost": os.unlink,
    "cut": lambda file: file.write_bytes(file.read_bytes()[:-3]),
    "other": lambda file: file.write_bytes(b"{}\n" * 99),
}


@pytest.mark.parametrize("name", ["state", "told", "0", "2"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_made_again(damage: str, name: str, place: Workplace) -> None:
    filled(place)
    follower = kept(place)
    follower.ask(lambda views: views.everything.summary())
    DAMAGES[damage](folder_of(place) / name)
    agrees(place)
    ingest(place, entry(50))
    assert follower.ask(answers) == answers(in_full(place))
    agrees(place)


def test_any_byte_that_changed_is_found(place: Workplace) -> None:
    filled(place, 6)
    expected = answers(in_full(place))
    for file in files_of(place):
        raw = file.read_bytes()
        step = max(1, len(raw) // 7)
        for number in range(0, len(raw), step):
            file.write_bytes(raw[:number] + bytes([raw[number] ^ 1]) + raw[number + 1 :])
            assert kept(place).ask(answers) == expected, f"{file.name} at byte {number}"


def test_what_another_user_made_is_not_believed(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place)
    theirs = tmp_path / "theirs"
    monkeypatch.setenv("XDG_STATE_HOME", str(theirs))
    (theirs / "pcpfs").mkdir(parents=True)
    (theirs / "pcpfs" / "secret").write_bytes(b"x" * 32)
    before = (folder_of(place) / "state").read_bytes()
    agrees(place)
    assert (folder_of(place) / "state").read_bytes() != before


def test_a_copied_store_goes_on_by_itself(place: Workplace, tmp_path: Path) -> None:
    filled(place)
    shutil.copytree(place.path, tmp_path / "copy")
    copy = Workplace.at(tmp_path / "copy")
    agrees(copy)
    ingest(place, entry(60), entry(61))
    ingest(copy, entry(70), entry(71), entry(72))
    agrees(copy)
    agrees(place)
    # Whoever brings the folder of one into the other gets no entries with it.
    shutil.rmtree(copy.path / ".pcpfs" / "ledger")
    shutil.copytree(place.path / ".pcpfs" / "ledger", copy.path / ".pcpfs" / "ledger")
    agrees(copy)
    copy.close()


def test_removing_the_folder_is_harmless_at_any_time(place: Workplace) -> None:
    filled(place)
    follower = kept(place)
    follower.ask(lambda views: views.everything.summary())
    shutil.rmtree(place.path / ".pcpfs" / "ledger")
    assert follower.ask(answers) == answers(in_full(place))
    shutil.rmtree(place.path / ".pcpfs")
    assert follower.ask(answers) == answers(in_full(place))
    agrees(place)


def test_reindex_makes_it_anew(place: Workplace) -> None:
    filled(place)
    place.store.reindex()
    assert not (place.path / ".pcpfs" / "ledger").exists()
    agrees(place)


def test_an_older_state_that_comes_back_is_brought_up_to_date(
    place: Workplace, tmp_path: Path
) -> None:
    filled(place, 6)
    shutil.copytree(folder_of(place), tmp_path / "old")
    ingest(place, *map(entry, range(6, 13)))
    agrees(place)
    newer = {file.name for file in files_of(place)}
    for name in ("state", "told", "0", "1"):
        shutil.copy(tmp_path / "old" / name, folder_of(place) / name)
        agrees(place)
    assert newer <= {file.name for file in files_of(place)}


def test_two_followers_replace_each_others_files(place: Workplace) -> None:
    filled(place, 6)
    one, two = kept(place), kept(place)
    for number in range(6, 12):
        asking, other = (one, two) if number % 2 else (two, one)
        ingest(place, entry(number))
        # The other has the last state in memory, and its last chunk is replaced under it.
        assert asking.ask(answers) == answers(in_full(place))
        assert other.ask(answers) == answers(in_full(place))


def test_what_cannot_be_kept_is_answered_from_memory(place: Workplace) -> None:
    filled(place)
    shutil.rmtree(place.path / ".pcpfs" / "ledger")
    (place.path / ".pcpfs" / "ledger").write_text("not a folder")
    follower = kept(place)
    assert follower.ask(answers) == answers(in_full(place))
    ingest(place, entry(80))
    assert follower.ask(answers) == answers(in_full(place))


def test_a_line_that_is_lost_costs_itself_until_it_is_back(place: Workplace) -> None:
    filled(place)
    file = paths_of(place.path, "*.jsonl")[1]
    sound = file.read_bytes()
    file.write_bytes(sound.replace(b"tool:t", b"tool:x", 1))
    agrees(place)
    damaged = kept(place).ask(lambda views: len(views.everything.corpus))
    assert damaged == 9
    file.write_bytes(sound)
    agrees(place)
    assert kept(place).ask(lambda views: len(views.everything.corpus)) == 10


def test_a_text_that_is_lost_is_read_again_when_it_is_back(place: Workplace) -> None:
    ingest(place, entry(0, "tide " * 210_000))
    filled(place, 6)
    (payload,) = (f for f in (place.path / "scopes").rglob("payloads/*/*/*"))
    sound = payload.read_bytes()
    payload.unlink()
    shutil.rmtree(place.path / ".pcpfs" / "ledger")
    agrees(place)
    payload.write_bytes(sound)
    agrees(place)


def test_chunks_that_are_no_longer_needed_go(place: Workplace) -> None:
    pages = ingest(place, *map(entry, range(9)))
    agrees(place)
    assert {"0", "1", "2"} <= {file.name for file in files_of(place)}
    for page in pages[:6]:
        place.session.tombstone(page, "mistaken")
    agrees(place)
    assert {file.name for file in files_of(place)} == {"state", "told", "0"}


def test_what_is_little_is_taken_in_before_somebody_asks(place: Workplace) -> None:
    ingest(place, *map(entry, range(6)))
    kept(place).keep_up()
    before = stamps(place)
    agrees(place)
    assert stamps(place) == before
    for number in range(10, 16):
        ingest(place, entry(number))
    kept(place).keep_up()  # more segments than a writer wants to wait for
    assert stamps(place) == before
    agrees(place)


def test_keeping_up_waits_for_nobody_and_fails_for_nothing(place: Workplace) -> None:
    ingest(place, entry(1))
    with place.store.disk.lock(place.store.local_folder / LEDGER_LOCK, 0):
        kept(place).keep_up()
    assert not (place.path / ".pcpfs" / "ledger").exists()
    (place.path / ".pcpfs" / "ledger").write_text("not a folder")
    kept(place).keep_up()
    agrees(place)


def test_a_writer_who_may_not_read_keeps_nothing_and_spoils_nothing(place: Workplace) -> None:
    filled(place)
    before = {file.name: file.read_bytes() for file in files_of(place)}
    place.session.governing.grant("thread:t", Principal("agent:mute"), ["write"])
    mute = Session(place.store, Principal("agent:mute"))
    mute.ingest("thread:t", [event_of(entry(30))])
    theirs = Thread(mute, namespace_of("t"), Settings(), CHUNK)
    theirs.keep_up()
    assert theirs.ask(lambda views: len(views.everything.corpus)) == 0
    assert {file.name: file.read_bytes() for file in files_of(place)} == before
    agrees(place)


def test_a_reader_of_the_thread_uses_what_its_owner_keeps(place: Workplace) -> None:
    filled(place)
    place.session.governing.grant("thread:t", Principal("agent:reader"), ["read"])
    agrees(place)
    before = stamps(place)
    reader = Thread(
        Session(place.store, Principal("agent:reader")), namespace_of("t"), Settings(), CHUNK
    )
    assert reader.ask(answers) == answers(in_full(place))
    assert stamps(place) == before


def test_many_entries_are_kept_by_their_writer(place: Workplace) -> None:
    ledger = StoreLedger(place.session, "t")
    ledger.ingest_all([entry(n, "x") for n in range(999)])
    assert not (place.path / ".pcpfs" / "ledger").exists()
    asyncio.run(ledger.ingest(entry(999, "y")))
    before = stamps(place)
    view = asyncio.run(StoreLedger(place.session, "t").project("y", 1))
    assert ([shown.content for shown in view.entries], view.total_entries) == (["y"], 1000)
    assert stamps(place) == before


def test_recency_is_kept_too(place: Workplace) -> None:
    filled(place)
    how = Settings(half_life_days=0.0001)
    assert kept(place, settings=how).ask(answers) == answers(in_full(place, settings=how))


ACTIONS = ("ingest", "ingest", "withdraw", "restore", "lose", "damage", "put back", "elsewhere")


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(st.data())
def test_whatever_happens_the_answers_are_those_of_the_whole_thread(
    empty_store: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("any") / "store"
    shutil.copytree(empty_store, path)
    place = Workplace.at(path)
    follower, number, pages, old = kept(place), 0, [], path.parent / "old"
    for action in data.draw(st.lists(st.sampled_from(ACTIONS), min_size=2, max_size=7)):
        folder = path / ".pcpfs" / "ledger"
        if action == "ingest":
            more = data.draw(st.integers(1, 6))
            pages += ingest(place, *map(entry, range(number, number + more)))
            number += more
        elif action == "elsewhere":
            place.write(f"page {number}")
        elif action in ("withdraw", "restore") and pages:
            page = data.draw(st.sampled_from(pages))
            if action == "withdraw":
                place.session.tombstone(page, "x")
            else:
                place.session.restore(page, "x")
        elif action == "lose" and folder.exists():
            shutil.rmtree(data.draw(st.sampled_from([folder, folder.parent])))
        elif action == "damage" and folder.exists():
            file = data.draw(st.sampled_from([f for f in files_of(place) if f.stat().st_size]))
            raw = bytearray(file.read_bytes())
            raw[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
            file.write_bytes(raw)
        elif action == "put back" and folder.exists():
            if old.exists():
                name = data.draw(st.sampled_from(sorted(os.listdir(old))))
                shutil.copy(old / name, folder_of(place) / name)
            else:
                shutil.copytree(folder_of(place), old)
        expected = answers(in_full(place))
        assert kept(place).ask(answers) == expected
        assert follower.ask(answers) == expected
    place.close()
