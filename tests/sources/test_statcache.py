"""The stat cache: believed only where it cannot lie, disposable, and exact about times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.sources.dating import valid_from_of
from pcpfs.sources.scanned import Candidate, Reason, Scan, Skipped, Stat
from pcpfs.sources.statcache import Entry, StatCache

SECOND = 1_000_000
EARLY, NOW, LATER = Instant(1_000 * SECOND), Instant(2_000 * SECOND), Instant(3_000 * SECOND)
OLD = Stat(1, 10, 5 * 10**9, 5 * 10**9)


def digest(text: str) -> Digest:
    return Digest.of(text.encode())


def seen(files: dict[str, Stat], *skipped: Skipped, covered: tuple[str, ...] = ("",)) -> Scan:
    found = tuple(Candidate(path, stat, digest(path)) for path, stat in sorted(files.items()))
    return Scan(found, skipped, covered, device=7)


STATS = st.builds(
    Stat,
    st.integers(0, 2**64 - 1),
    st.integers(0, 2**60),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-(2**63), 2**63 - 1),
)
INSTANTS = st.builds(Instant, st.integers(-(2**62), 2**62))
ENTRIES = st.builds(
    Entry, STATS, INSTANTS, INSTANTS, st.none() | st.builds(digest, st.text(max_size=3))
)
PATHS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0")
    | st.characters(categories=["Cs"]).filter(lambda c: "\udc80" <= c <= "\udcff"),
    min_size=1,
)


@given(st.dictionaries(PATHS, ENTRIES), st.integers(0, 2**63 - 1), st.integers(0, 3))
def test_a_cache_comes_back_from_its_bytes(
    entries: dict[str, Entry], device: int, most: int
) -> None:
    entries = {
        path.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"): entry
        for path, entry in entries.items()
    }
    mounts = set(list(entries)[:most])
    again = StatCache.from_bytes(StatCache.of(entries, device, mounts).to_bytes())
    assert {path: again.get(path) for path in entries} == entries
    assert (len(again), again.device, again.mounts) == (len(entries), device, mounts)


def test_a_mount_is_remembered_until_a_look_at_its_place_says_otherwise() -> None:
    cache = StatCache().after(replace(seen({"m/a": OLD, "n/b": OLD}), mounts=("m", "n")), NOW)
    assert cache.mounts == {"m", "n"}
    assert cache.after(seen({}, covered=("m/a", "o")), NOW).mounts == {"m", "n"}
    away = Skipped("m", Reason.UNREADABLE, directory=True)
    assert cache.after(seen({}, away), NOW).mounts == {"m"}


@given(st.data())
def test_a_damaged_cache_is_an_empty_one(data: st.DataObject) -> None:
    raw = bytearray(StatCache().after(seen({"a": OLD, "b": OLD}), NOW).to_bytes())
    position = data.draw(st.integers(0, len(raw) - 1))
    raw[position] ^= data.draw(st.integers(1, 255))
    assert len(StatCache.from_bytes(bytes(raw))) == 0
    assert len(StatCache.from_bytes(bytes(raw[:position]))) == 0


def test_save_hands_over_what_from_bytes_reads() -> None:
    written: list[bytes] = []
    StatCache().after(seen({"a": OLD}), NOW).save(written.append)
    assert StatCache.from_bytes(written[0]).last_seen("a") == NOW


@pytest.mark.parametrize("changed", range(4))
def test_any_change_of_the_stat_ends_the_trust(changed: int) -> None:
    entry = Entry(OLD, NOW, NOW, digest("x"))
    assert entry.trusted(OLD)
    assert not entry.trusted(OLD._replace(**{OLD._fields[changed]: 4}))


@pytest.mark.parametrize(
    ("modified", "changed", "trusted"),
    [(2.1, 0.2, True), (1.9, 0.2, False), (2.1, 0.05, False), (-100, 0.2, False)],
)
def test_a_file_must_have_been_quiet_when_it_was_read(
    modified: float, changed: float, trusted: bool
) -> None:
    now = NOW.microseconds * 1000
    stat = Stat(1, 1, now - int(modified * 10**9), now - int(changed * 10**9))
    assert Entry(stat, NOW, NOW, digest("x")).trusted(stat) is trusted


def test_last_seen_moves_on_while_nothing_changes_but_the_reading_stays_dated() -> None:
    first = StatCache().after(seen({"a": OLD}), EARLY)
    second = first.after(seen({"a": OLD}), NOW).get("a")
    assert second is not None
    assert (second.read_at, second.seen) == (EARLY, NOW)


def test_what_could_not_be_read_or_was_not_looked_at_keeps_its_entry() -> None:
    first = StatCache().after(seen({"a/x": OLD, "b/x": OLD, "c/x": OLD}), EARLY)
    unreadable = Skipped("a", Reason.UNREADABLE, directory=True)
    assert first.after(seen({}, unreadable), NOW).last_seen("a/x") == EARLY
    assert first.after(seen({}, unreadable), NOW).last_seen("b/x") is None
    part = first.after(seen({}, covered=("b",)), NOW)
    assert [part.last_seen(path) for path in ("a/x", "b/x", "c/x")] == [EARLY, None, EARLY]


def test_the_verdict_binary_is_remembered() -> None:
    binary = Skipped("a", Reason.BINARY, stat=OLD)
    entry = StatCache().after(seen({}, binary), NOW).get("a")
    assert entry == Entry(OLD, NOW, NOW, None)


@pytest.mark.parametrize(
    ("mtime_ns", "last_seen", "expected"),
    [
        (1_500_000_000_999, None, Instant(1_500_000_000)),
        (4_000_000_000_000_000, None, Instant(4_000_000_000_000)),
        (-1, None, Instant(-1)),
        (2**63 - 1, None, Instant((2**63 - 1) // 1000)),
        (999 * 10**9, EARLY, NOW),
        (1_000 * 10**9, EARLY, NOW),
        (1_000 * 10**9 + 1_000, EARLY, Instant(1_000 * SECOND + 1)),
        (9_000 * 10**9, EARLY, Instant(9_000 * SECOND)),
        (300_000_000 * 10**12, None, NOW),
        (-(70_000_000 * 10**12), EARLY, NOW),
    ],
)
def test_bytes_are_true_since_their_mtime_unless_the_bytes_before_held_later(
    mtime_ns: int, last_seen: Instant | None, expected: Instant
) -> None:
    assert valid_from_of(mtime_ns, last_seen, NOW) == expected
