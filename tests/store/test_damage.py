"""A page whose files are wrong is left out and named; the others do not notice."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from pcpfs.errors import Corrupt
from pcpfs.model.changes import (
    Change,
    Event,
    LifecycleSet,
    Named,
    Observed,
    RevisionWritten,
    UnknownEvent,
)
from pcpfs.model.ids import ChangeId, RevisionId
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import START, Workplace, paths_of, truth


class TestDamage:
    """A page whose files are wrong is left out and named; the others do not notice."""

    def bad(self, place: Workplace, *events: Event) -> tuple[str, str]:
        """A sound page, and one with a correctly named change that says these events."""
        sound = place.write("sound apple\n").page_id
        page = place.write("apple\n").page_id
        (file,) = [f for f in paths_of(place.path, "chg_*") if page in f.parts]
        body = Change.decode(file.read_bytes(), "x")
        raw = replace(body, after=(ChangeId(file.stem),), events=events).encode()
        (file.parent / f"{ChangeId.of(raw)}.json").write_bytes(raw)
        return sound, page

    def opened(self, place: Workplace, sound: str) -> Workplace:
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert again.session.payload(sound) == b"sound apple\n"
        titles = {hit.title for hit in again.session.search("apple").results}
        assert "sound apple" in titles
        assert again.write("more\n").created
        return again

    @pytest.mark.parametrize(
        "event",
        [
            Named("../../../../evil.md"),
            Named("con.md"),
            Named(""),
            Observed(RevisionId("rev_" + "0" * 64), START, "first", "python-1"),
            RevisionWritten(RevisionId("rev_" + "0" * 64)),
        ],
        ids=repr,
    )
    def test_a_hostile_change_takes_only_its_page_away(
        self, place: Workplace, event: Event
    ) -> None:
        sound, page = self.bad(place, event)
        again = self.opened(place, sound)
        named = {damage.page_id for damage in again.session.damages()}
        assert named == {page} or again.session.payload(page) == b"apple\n"
        again.close()

    def test_an_observation_of_an_authored_page_takes_only_that_away(
        self, place: Workplace
    ) -> None:
        written = place.write("apple\n")
        (file,) = [f for f in paths_of(place.path, "chg_*") if written.page_id in f.parts]
        body = Change.decode(file.read_bytes(), "x")
        event = Observed(written.revision_id, START, "first", "python-1")
        raw = replace(body, after=(ChangeId(file.stem),), events=(event,)).encode()
        (file.parent / f"{ChangeId.of(raw)}.json").write_bytes(raw)
        again = self.opened(place, place.write("sound apple\n").page_id)
        again.close()

    def test_events_of_a_later_format_are_skipped_and_kept(self, place: Workplace) -> None:
        sound, page = self.bad(place, UnknownEvent({"type": "embargoed", "to": "user:bob"}))
        again = self.opened(place, sound)
        assert again.session.payload(page) == b"apple\n"
        assert again.session.damages() == ()
        again.revise(page, "more apple\n")
        assert any(b'"embargoed"' in raw for raw in truth(place.path).values())
        again.close()

    @pytest.mark.parametrize("raw", [b"[" * 100_000, b"{}", b"not json", b"\xff"])
    def test_a_change_that_is_no_change_takes_only_its_page_away(
        self, place: Workplace, raw: bytes
    ) -> None:
        sound, page = self.bad(place)
        (folder,) = {f.parent for f in paths_of(place.path, "chg_*") if page in f.parts}
        (folder / f"{ChangeId.of(raw)}.json").write_bytes(raw)
        again = self.opened(place, sound)
        assert page in {damage.page_id for damage in again.session.damages()}
        assert not fsck(again.store).ok
        again.close()

    @pytest.mark.parametrize("kind", ["chg_*", "rev_*"])
    def test_a_flipped_byte_takes_only_its_page_away(self, place: Workplace, kind: str) -> None:
        sound, page = self.bad(place, LifecycleSet("active", ""))
        file = next(f for f in paths_of(place.path, kind) if page in f.parts)
        raw = bytearray(file.read_bytes())
        raw[20] ^= 1
        file.write_bytes(raw)
        again = self.opened(place, sound)
        assert page in {damage.page_id for damage in again.session.damages()}
        report = fsck(again.store)
        assert file.relative_to(place.path).as_posix() in {p.path for p in report.problems}
        again.close()

    def test_a_flipped_byte_in_a_scope_change_is_named(self, place: Workplace) -> None:
        sound = place.write("sound apple\n").page_id
        (file,) = [f for f in paths_of(place.path, "chg_*") if "scope" in f.parts]
        raw = bytearray(file.read_bytes())
        raw[20] ^= 1
        file.write_bytes(raw)
        again = self.opened(place, sound)
        report = fsck(again.store)
        assert file.relative_to(place.path).as_posix() in {p.path for p in report.problems}
        again.close()

    def test_a_page_whose_first_change_is_missing_is_incomplete_and_no_error(
        self, place: Workplace
    ) -> None:
        sound = place.write("sound apple\n").page_id
        first = place.write("apple\n")
        revised = place.revise(first.page_id, "pear\n").page_id
        gone = place.write("rotten apple\n").page_id
        place.session.tombstone(gone, "wrong")
        for file in paths_of(place.path, "chg_*"):
            raw = file.read_bytes()
            if {revised, gone} & set(file.parts) and b'"after":[]' in raw:
                file.unlink()
        again = self.opened(place, sound)
        assert again.session.manifest(revised).incomplete
        assert again.session.payload(revised) == b"pear\n"
        again.close()

    @pytest.mark.parametrize(
        "folder",
        ["Old Copy/pages", "a b/c/scope", "=zz/pages", "tree/pages", "project/a (2)/pages"],
    )
    def test_a_strange_folder_among_the_scopes_is_left_alone(
        self, place: Workplace, folder: str
    ) -> None:
        sound = place.write("sound apple\n").page_id
        (place.path / "scopes" / folder / "x").mkdir(parents=True)
        (place.path / "scopes" / folder / "x/y").write_text("mine")
        again = self.opened(place, sound)
        assert (place.path / "scopes" / folder / "x/y").read_text() == "mine"
        again.close()

    def test_a_page_that_a_pull_damages_is_named_and_healed_by_the_next(
        self, place: Workplace
    ) -> None:
        sound, page = self.bad(place, Named("../evil.md"))
        place.git("add", "-A")
        place.git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "-m", "hostile")
        assert place.session.payload(sound) == b"sound apple\n"
        place.git("revert", "--no-edit", "HEAD", "-n")
        place.git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "-q", "-m", "back")
        assert place.session.payload(page) == b"apple\n"
        assert place.session.damages() == ()

    def test_a_damaged_memory_of_this_clone_is_named_and_can_go(self, place: Workplace) -> None:
        page = place.write("apple\n").page_id
        place.close()
        for name in ("local.sqlite-wal", "local.sqlite-shm"):
            (place.path / ".git/pcpfs" / name).unlink(missing_ok=True)
        (place.path / ".git/pcpfs/local.sqlite").write_bytes(b"garbage" * 1000)
        with pytest.raises(Corrupt, match=r"local\.sqlite is damaged"):
            place.reopened()
        (place.path / ".git/pcpfs/local.sqlite").unlink()
        again = place.reopened()
        assert again.session.payload(page) == b"apple\n"
        again.close()
