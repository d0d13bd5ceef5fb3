"""Opening: nothing is lost that can be derived, a crash is finished, and others may be at work."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pcpfs.errors import Busy, Corrupt, NotFound, Unavailable
from pcpfs.model.answers import plain
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
from pcpfs.store.fsck import fsck
from tests.store.workplace import START, Workplace, contents, paths_of, truth

CHECKOUT = Path(__file__).parents[2]


def answers(place: Workplace) -> object:
    """Everything that is asked of a store, in order."""
    session = place.session
    pages = [row.page_id for row in place.store.catalog.pages()]
    found = [session.search(words) for words in ("apple", "apple pear", "ap*", '"red apple"')]
    about = [
        (session.manifest(p), session.log(p), session.relations(p), session.facets(p))
        for p in pages
    ]
    return plain([found, about, session.scopes(), session.conflicts(), session.suspects()])


def fill(place: Workplace) -> None:
    """A little of everything that authored pages can be."""
    first = place.write("red apple\n", title="One", tags=("t",))
    other = place.write("pear and apple\n", path="notes/x.md", scope="project:b")
    place.revise(first.page_id, "green apple\n")
    place.revise(first.page_id, "blue apple\n", branch=first.revision_id)
    place.session.link(other.page_id, "supports", first.page_id)
    place.session.archive(place.write("apple pie\n").page_id, "done")
    place.session.tombstone(place.write("rotten apple\n").page_id, "wrong")
    place.write("apple\n", path="notes/x.md", scope="project:b")


class TestDisposable:
    def test_without_its_caches_a_store_gives_the_same_answers_in_the_same_order(
        self, place: Workplace
    ) -> None:
        fill(place)
        before = answers(place)
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert answers(again) == before
        assert fsck(again.store).ok
        assert again.git("status", "--porcelain") == ""
        again.close()

    def test_a_reindex_gives_the_same_answers(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        assert place.store.reindex() == 5
        assert answers(place) == before

    def test_a_git_clone_gives_the_same_answers(self, place: Workplace, tmp_path: Path) -> None:
        fill(place)
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone")
        assert answers(clone) == answers(place)
        assert fsck(clone.store).ok
        clone.close()

    @pytest.mark.parametrize(
        "damage",
        [
            lambda file: file.write_bytes(b"garbage" * 1000),
            lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
            lambda file: file.unlink(),
        ],
        ids=["garbage", "half", "missing"],
    )
    def test_a_damaged_catalog_is_built_anew(
        self, place: Workplace, damage: Callable[[Path], object]
    ) -> None:
        fill(place)
        before = answers(place)
        place.close()
        damage(place.path / ".pcpfs/catalog.sqlite")
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_catalog_with_damage_inside_is_named_and_can_go(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.close()
        file = place.path / ".pcpfs/catalog.sqlite"
        raw = bytearray(file.read_bytes())
        raw[8192:-4096] = bytes(len(raw) - 8192 - 4096)
        file.write_bytes(raw)
        again = place.reopened()
        with pytest.raises(Corrupt, match=r"remove the folder \.pcpfs"):
            answers(again)
        again.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_catalog_of_another_version_is_built_anew(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.store.catalog.set_meta("version", "0")
        place.store.catalog.db.execute("DROP TABLE span")
        again = place.reopened()
        assert answers(again) == before
        again.close()

    def test_a_log_that_an_old_catalog_left_harms_no_new_one(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        copy = place.path.parent / "copy"
        shutil.copytree(place.path, copy)  # the catalog's write-ahead log is full now
        (copy / ".pcpfs/catalog.sqlite").write_bytes(b"garbage" * 1000)
        other = Workplace.at(copy, place.clock)
        assert answers(other) == before
        assert fsck(other.store).ok
        other.close()

    def test_a_catalog_that_vanishes_under_an_open_store_comes_back(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        shutil.rmtree(place.path / ".pcpfs")
        assert answers(place) == before
        assert place.write("apple\n").created

    def test_somebody_elses_index_is_never_opened(self, place: Workplace, tmp_path: Path) -> None:
        fill(place)
        before = answers(place)
        place.session.flush_indexes()
        place.close()
        folder = place.path / ".pcpfs/index"
        for name in contents(folder):
            if name != "lock":
                (folder / name).write_bytes(b"\x80\x04cos\nsystem\n(S'touch evil'\ntR.")
        again = place.reopened()
        assert answers(again) == before
        again.close()


class TestCopies:
    def test_a_copied_folder_is_a_new_clone_with_all_that_was_in_it(self, place: Workplace) -> None:
        fill(place)
        before, clone = answers(place), place.store.local.clone
        copy = place.path.parent / "copy"
        shutil.copytree(place.path, copy)
        other = Workplace.at(copy)
        assert other.store.local.clone != clone
        assert other.store.store_id == place.store.store_id
        assert answers(other) == before
        other.close()

    def test_the_same_folder_stays_the_same_clone(self, place: Workplace) -> None:
        clone = place.store.local.clone
        assert place.reopened().store.local.clone == clone

    def test_a_moved_folder_works_on(self, place: Workplace) -> None:
        fill(place)
        before = answers(place)
        place.close()
        moved = place.path.parent / "moved to ünïcode"
        place.path.rename(moved)
        other = Workplace.at(moved)
        assert answers(other) == before
        assert other.write("more apple\n").created
        assert other.git("status", "--porcelain") == ""
        other.close()


class TestTogether:
    def test_two_sessions_see_each_others_writes(self, place: Workplace) -> None:
        other = Workplace.at(place.path, place.clock)
        page = place.write("apple\n", path="x.md").page_id
        assert other.session.payload(page) == b"apple\n"
        other.revise(page, "pear\n")
        assert place.session.payload(page) == b"pear\n"
        assert len(place.session.search("pear").results) == 1
        assert place.session.search("apple").results == ()
        other.close()

    def test_writers_in_two_processes_lose_nothing(self, place: Workplace) -> None:
        script = """
import sys
from pathlib import Path
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, draft
store = Store.open(Path(sys.argv[1]))
session = Session(store, ANNA)
for number in range(6):
    session.write("project:a", draft(f"{sys.argv[2]} {number}\\n", title=f"{sys.argv[2]}{number}"))
"""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])}
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", script, str(place.path), name],
                env=environment,
                stderr=subprocess.PIPE,
            )
            for name in ("left", "right")
        ]
        for writer in writers:
            _, messages = writer.communicate(timeout=60)
            assert writer.returncode == 0, messages.decode()
        expected = {f"{name} {n}\n".encode() for name in ("left", "right") for n in range(6)}
        assert set(place.tree().values()) == expected
        assert len(place.session.search("left", limit=20).results) == 6
        assert place.commits() == 1 + 12
        assert place.git("status", "--porcelain") == ""
        assert fsck(place.store).ok

    def test_a_held_lock_is_busy_for_writers_and_nothing_for_readers(
        self, place: Workplace
    ) -> None:
        page = place.write("apple\n").page_id
        impatient = Workplace.at(place.path, wait=0.1)
        with place.store.writing("test", place.session.principal):
            with pytest.raises(Busy, match="--wait"):
                impatient.write("pear\n")
            assert impatient.session.payload(page) == b"apple\n"
            assert len(impatient.session.search("apple").results) == 1
        assert impatient.write("pear\n").created
        impatient.close()

    def test_what_a_pull_brings_is_seen(self, place: Workplace, tmp_path: Path) -> None:
        page = place.write("one\n", path="x.md").page_id
        place.git("clone", "-q", str(place.path), str(tmp_path / "clone"))
        clone = Workplace.at(tmp_path / "clone")
        assert clone.session.payload(page) == b"one\n"
        place.revise(page, "two apples\n")
        new = place.write("new\n").page_id
        clone.git("pull", "-q", "--ff-only")
        assert clone.session.payload(page) == b"two apples\n"
        assert clone.session.payload(new) == b"new\n"
        assert len(clone.session.search("apples").results) == 1
        assert clone.revise(page, "three\n").created
        assert clone.tree()["x.md"] == b"three\n"
        assert clone.git("status", "--porcelain") == ""
        clone.close()

    def test_another_branch_shows_its_own_pages(self, place: Workplace) -> None:
        place.git("branch", "early")
        page = place.write("one\n").page_id
        place.git("checkout", "-q", "early")
        with pytest.raises(NotFound):
            place.session.payload(page)
        assert place.session.search("one").results == ()
        place.git("checkout", "-q", "main")
        assert place.session.payload(page) == b"one\n"
        assert len(place.session.search("one").results) == 1


class TestIntents:
    """What a crash leaves: an intent, and all, some or none of the files that it names."""

    def crash(self, place: Workplace, kept: Callable[[str], bool]) -> tuple[str, list[str]]:
        """A write that got as far as some of its files: no catalog, no commit, no tree."""
        page = place.write("kept\n", path="kept.md").page_id
        before, head = contents(place.path), place.git("rev-parse", "HEAD").strip()
        written = place.write("apple\n", path="x.md")
        new = [n for n in contents(place.path) if n not in before and n.startswith("scopes/")]
        place.close()
        place.git("reset", "-q", "--soft", head)
        place.git("reset", "-q")
        for name in new:
            if "/tree/" in name or not kept(name):
                (place.path / name).unlink()
        shutil.rmtree(place.path / ".pcpfs")
        intent = [
            "write: crashed",
            [["Pcpfs-Operation", "write"]],
            "user:anna",
            [name for name in new if "/tree/" not in name],
        ]
        (place.path / ".git/pcpfs/intent.json").write_text(json.dumps(intent))
        assert place.git("rev-parse", "HEAD").strip() == head
        return page, [written.page_id, written.revision_id]

    def test_all_files_are_there_and_the_operation_is_finished(self, place: Workplace) -> None:
        kept, (page, revision) = self.crash(place, lambda name: True)
        again = place.reopened()
        assert again.session.manifest(page).heads == (revision,)
        assert again.tree() == {"kept.md": b"kept\n", "x.md": b"apple\n"}
        assert again.git("log", "-1", "--format=%s").strip() == "write: crashed"
        assert again.git("status", "--porcelain") == ""
        assert not (place.path / ".git/pcpfs/intent.json").exists()
        assert fsck(again.store).ok
        assert again.session.payload(kept) == b"kept\n"
        again.close()

    def test_the_change_is_missing_and_nothing_has_happened(self, place: Workplace) -> None:
        kept, (page, _) = self.crash(place, lambda name: "/chg_" not in name)
        again = place.reopened()
        with pytest.raises(NotFound):
            again.session.manifest(page)
        assert again.session.payload(kept) == b"kept\n"
        assert again.write("apple\n", path="x.md").created
        assert again.tree() == {"kept.md": b"kept\n", "x.md": b"apple\n"}
        assert again.git("status", "--porcelain") == ""
        again.close()

    def test_no_file_is_there_and_nothing_has_happened(self, place: Workplace) -> None:
        kept, (page, _) = self.crash(place, lambda name: False)
        again = place.reopened()
        with pytest.raises(NotFound):
            again.session.manifest(page)
        assert again.session.payload(kept) == b"kept\n"
        assert again.git("status", "--porcelain") == ""
        assert fsck(again.store).ok
        assert not (place.path / ".git/pcpfs/intent.json").exists()
        again.close()

    @pytest.mark.parametrize("raw", [b"", b"{gar", b"[]", b'["a",[],"user:anna",[5]]', b"\xff"])
    def test_an_intent_that_is_garbage_harms_nothing(self, place: Workplace, raw: bytes) -> None:
        page = place.write("apple\n").page_id
        place.close()
        (place.path / ".git/pcpfs/intent.json").write_bytes(raw)
        again = place.reopened()
        assert again.session.payload(page) == b"apple\n"
        assert again.write("pear\n").created
        again.close()

    def test_a_half_written_temporary_file_is_nothing(self, place: Workplace) -> None:
        page = place.write("apple\n").page_id
        for file in paths_of(place.path, "chg_*")[:1]:
            (file.parent / ".tmp-1234").write_bytes(b"{half")
            (file.parent / (file.name + ".tmp")).write_bytes(b"{half")
        place.close()
        shutil.rmtree(place.path / ".pcpfs")
        again = place.reopened()
        assert again.session.payload(page) == b"apple\n"
        again.close()


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
        sound, page = self.bad(place, UnknownEvent({"type": "granted", "to": "user:bob"}))
        again = self.opened(place, sound)
        assert again.session.payload(page) == b"apple\n"
        assert again.session.damages() == ()
        again.revise(page, "more apple\n")
        assert any(b'"granted"' in raw for raw in truth(place.path).values())
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


class TestConfig:
    def test_a_folder_without_a_store_is_not_found(self, tmp_path: Path) -> None:
        with pytest.raises(NotFound, match="pcpfs init"):
            Workplace.at(tmp_path)

    @pytest.mark.parametrize(
        "change",
        [
            ("format = 0", "format = 99"),
            ("format = 0", ""),
            ("format = 0", 'format = "0"'),
            ("store_id", "shop_id"),
            ('owner = "user:anna"', 'owner = "anna"'),
            ('owner = "user:anna"', "owner = ["),
            ('"global"', '"everything"'),
        ],
        ids=repr,
    )
    def test_settings_that_make_no_sense_are_named(
        self, place: Workplace, change: tuple[str, str]
    ) -> None:
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace(*change))
        with pytest.raises(Corrupt, match=r"pcpfs\.toml"):
            place.reopened()

    def test_a_person_may_edit_the_settings(self, place: Workplace) -> None:
        place.write("apple\n")
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace('"whoosh"', '"memory"') + "\n# mine\n")
        again = place.reopened()
        assert again.session.index_state().engine == "memory"
        assert len(again.session.search("apple").results) == 1
        again.close()

    def test_an_engine_that_is_not_installed_is_named(self, place: Workplace) -> None:
        place.write("apple\n")
        place.close()
        file = place.path / "pcpfs.toml"
        file.write_text(file.read_text().replace('"whoosh"', '"tantivy"'))
        again = place.reopened()
        with pytest.raises(Unavailable, match="tantivy"):
            again.session.search("apple")
        assert again.write("apple\n").created
        again.close()
