"""What killed processes leave is found and removed; nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.litter import litter
from pcpfs.store.upkeeping.maintain import maintain
from tests.store.workplace import Workplace

OLD_NS = 1_000_000_000_000_000_000
LEFT = (
    ".git/fast_import_crash_123",
    ".git/pcpfs/.tmp-1-2-3",
    ".git/pcpfs/.tmp-4/0",
    ".pcpfs/.tmp-abc.sqlite",
    ".pcpfs/.tmp-abc.sqlite-wal",
    ".git/objects/tmp_objdir-bulk-fsync-x/3f/aa",
    ".git/objects/pack/tmp_pack_x",
    ".git/objects/pack/.tmp-99-pack-x.idx",
    ".git/objects/3f/tmp_obj_x",
)


def left_behind(place: Workplace) -> list[Path]:
    files = [place.path / name for name in LEFT]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"half")
        for path in (file, file.parent):
            os.utime(path, ns=(OLD_NS, OLD_NS))
    return files


def test_a_sound_store_has_no_litter(place: Workplace) -> None:
    place.write("# One\n")
    place.session.flush_indexes()
    assert litter(place.store) == ()


def test_litter_is_named_and_maintain_removes_it(place: Workplace) -> None:
    page = place.write("# One\n").page_id
    files = left_behind(place)
    report = maintain(place.store)
    assert [file for file in files if file.exists()] == []
    assert len(report.removed) == len(LEFT)
    assert place.session.payload(page) == b"# One\n"
    assert fsck(place.store).ok
    assert litter(place.store) == ()


def test_what_may_still_be_in_the_making_is_left_alone(place: Workplace) -> None:
    fresh = [place.path / ".git/objects/pack/tmp_pack_x", place.path / ".pcpfs/.tmp-x.sqlite"]
    now = place.clock.now().microseconds * 1000
    for file in fresh:
        file.write_bytes(b"half")
        os.utime(file, ns=(now, now))
    assert litter(place.store) == ()
