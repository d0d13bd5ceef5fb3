"""Upkeep packs and clears up, beside everybody else, and changes nothing that a store says."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing

import pytest

from pcpfs.errors import Busy
from pcpfs.git.maintenance import Loose, loose_about, stored
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.maintain import MAINTENANCE_LOCK, maintain
from pcpfs.store.upkeeping.upkeep import Upkeep
from tests.store.workplace import Workplace, contents


@pytest.fixture
def busy(place: Workplace) -> Workplace:
    """A store with some twenty saves."""
    page = place.write("0\n", path="x.md")
    for number in range(1, 20):
        place.revise(page.page_id, f"{number}\n")
    return place


def test_many_loose_objects_become_one_pack(busy: Workplace) -> None:
    before = contents(busy.path / "scopes")
    log = busy.git("log", "--format=%H", "--", "scopes/project/a/tree/x.md")
    report = maintain(busy.store)
    assert report.before.loose > 200
    assert (report.after.loose, report.after.packs) == (0, 1)
    assert contents(busy.path / "scopes") == before
    assert busy.git("log", "--format=%H", "--", "scopes/project/a/tree/x.md") == log
    assert (busy.path / ".git/objects/info/commit-graphs").is_dir()
    assert fsck(busy.store).ok


def test_it_is_incremental_a_large_pack_is_left_alone(busy: Workplace) -> None:
    maintain(busy.store)
    packs = busy.path / ".git" / "objects" / "pack"
    (first,) = packs.glob("*.pack")
    busy.write("one more\n", path="y.md")
    maintain(busy.store)
    assert first in set(packs.glob("*.pack"))
    assert len(list(packs.glob("*.pack"))) == 2
    assert stored(busy.store.git).loose == 0


def test_a_second_time_nothing_is_to_do(busy: Workplace) -> None:
    maintain(busy.store)
    files = sorted((busy.path / ".git" / "objects").rglob("*"))
    report = maintain(busy.store)
    assert (report.removed, report.indexed) == ((), 0)
    assert report.before == report.after
    assert sorted((busy.path / ".git" / "objects").rglob("*")) == files


def test_unreachable_objects_are_kept(busy: Workplace) -> None:
    blob = busy.git("hash-object", "-w", "pcpfs.toml").strip()
    file = busy.path / "lost.txt"
    file.write_text("a person's lost text\n")
    lost = busy.git("hash-object", "-w", "lost.txt").strip()
    file.unlink()
    maintain(busy.store)
    assert busy.git("cat-file", "-t", blob) == busy.git("cat-file", "-t", lost) == "blob\n"


def test_litter_goes_and_what_may_be_in_use_stays(busy: Workplace) -> None:
    git, caches = busy.path / ".git", busy.path / ".pcpfs"
    for path in (git / "fast_import_crash_123", git / "pcpfs" / ".tmp-1-2-3"):
        path.write_text("litter")
    (git / "pcpfs" / ".tmp-4-5-6").mkdir()
    (git / "pcpfs" / ".tmp-4-5-6" / "0").write_text("litter")
    old, fresh = caches / ".tmp-old.sqlite", caches / ".tmp-new.sqlite"
    now = busy.clock.time.microseconds / 1_000_000
    for path, age in ((old, 90_000), (fresh, 10)):
        path.write_text("a catalog in the making")
        os.utime(path, (now - age, now - age))
    busy.git("update-ref", "refs/pcpfs/pending", "HEAD")
    report = maintain(busy.store)
    assert report.removed == (
        ".git/fast_import_crash_123",
        ".git/pcpfs/.tmp-1-2-3",
        ".git/pcpfs/.tmp-4-5-6",
        ".pcpfs/.tmp-old.sqlite",
    )
    assert fresh.exists()
    assert busy.git("for-each-ref", "refs/pcpfs") == ""


def test_what_waits_for_the_text_index_is_taken_in(busy: Workplace) -> None:
    waiting = busy.session.index_state().pending
    assert maintain(busy.store).indexed == waiting > 0
    assert busy.session.index_state().pending == 0


def test_two_at_once_are_one_too_many(busy: Workplace) -> None:
    with (
        busy.store.disk.lock(busy.store.local_folder / MAINTENANCE_LOCK, 0),
        pytest.raises(Busy),
    ):
        maintain(busy.store)


def test_others_read_and_write_meanwhile(busy: Workplace) -> None:
    done, failures = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            with closing(Workplace.at(busy.path)) as other:
                for number in range(12):
                    page = other.write(f"meanwhile {number}\n", path=f"m/{number}.md")
                    assert other.session.payload(page.page_id) == b"meanwhile %d\n" % number
                    assert other.session.log(page.page_id)
        except BaseException as error:  # shown by the test below
            failures.append(error)
        finally:
            done.set()

    worker = threading.Thread(target=work)
    worker.start()
    rounds = 0
    while not done.is_set() or not rounds:
        maintain(busy.store)
        rounds += 1
    worker.join()
    assert failures == []
    assert fsck(busy.store).ok
    assert len(busy.tree()) == 13


def test_what_loose_objects_take_is_known(busy: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pcpfs.git.maintenance._SAMPLED", range(256))
    files = [path.lstat() for path in (busy.path / ".git/objects").glob("[0-9a-f][0-9a-f]/*")]
    taken = sum(stat.st_blocks * 512 for stat in files)
    assert loose_about(busy.store.git) == Loose(len(files), taken)


@pytest.mark.parametrize("much", [Loose(1, 1 << 40), Loose(1 << 40, 1)])
def test_idle_moments_pack_what_has_become_much(
    busy: Workplace, monkeypatch: pytest.MonkeyPatch, much: Loose
) -> None:
    upkeep = Upkeep(busy.store)
    upkeep.turn()
    assert stored(busy.store.git).packs == 0
    monkeypatch.setattr("pcpfs.store.upkeeping.upkeep.WORTH_PACKING", much)
    for _ in range(200):
        upkeep.turn()
        if stored(busy.store.git).loose == 0:
            break
        threading.Event().wait(0.05)
    upkeep.end()
    assert stored(busy.store.git).packs == 1
    assert fsck(busy.store).ok


def test_idle_moments_shorten_the_logs_of_catalog_and_local_state_once_nobody_reads(
    busy: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pcpfs.store.catalogs.databases._MOST_LOG", 0)
    logs = [next(busy.path.rglob(f"{name}.sqlite-wal")) for name in ("catalog", "local")]
    reader = sqlite3.connect(logs[0].with_name("catalog.sqlite"), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM page").fetchall()
    busy.write("One more.\n")
    upkeep = Upkeep(busy.store)
    upkeep.turn()
    assert logs[0].stat().st_size > 0
    reader.close()
    upkeep.turn()
    assert [log.stat().st_size for log in logs] == [0, 0]
    assert fsck(busy.store).ok
