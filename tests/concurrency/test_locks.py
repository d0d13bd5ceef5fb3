"""Who has to wait, and what happens to those who do not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pcpfs.disk import AnyPath, Disk
from pcpfs.store.searches.index_seal import is_sealed, seal
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.system_locks import acquire
from tests.cli.running import COMMAND
from tests.concurrency.crowd import crowd
from tests.store.workplace import ANNA, Workplace


def command(place: Workplace, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, "-C", str(place.path), *words],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        input=b"# New\n",
        check=False,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="there are no copies of a process")
def test_what_was_let_go_of_is_free_whoever_else_has_the_file_open(tmp_path: Path) -> None:
    release = acquire(str(tmp_path / "lock"), 0)
    start, begun = os.pipe()
    copy = os.fork()  # as one that another thread starts, until it becomes another program
    if copy == 0:
        os.close(begun)
        os.read(start, 1)
        os._exit(0)
    try:
        release()
        acquire(str(tmp_path / "lock"), 0)()
    finally:
        os.close(start)
        os.close(begun)
        os.waitpid(copy, 0)


def test_an_index_that_goes_while_somebody_looks_is_not_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    seal(folder, Disk())
    assert is_sealed(folder, Disk())
    read = Disk.read

    def read_and_lose(disk: Disk, path: AnyPath) -> bytes:
        content = read(disk, path)
        shutil.rmtree(folder)
        return content

    monkeypatch.setattr(Disk, "read", read_and_lose)
    assert not is_sealed(folder, Disk())


def test_an_index_that_goes_while_it_is_opened_is_made_anew(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("# Tide\n", path="tide.md")
    place.session.flush_indexes()
    again = place.reopened()
    mkdir = Path.mkdir

    def lose_and_make(folder: Path, *args: Any, **options: Any) -> None:
        monkeypatch.setattr(Path, "mkdir", mkdir)
        shutil.rmtree(folder)
        raise FileExistsError(17, "File exists", str(folder))  # it was there a moment ago

    monkeypatch.setattr(Path, "mkdir", lose_and_make)
    assert [hit.title for hit in again.session.search("tide").results] == ["Tide"]
    assert Path.mkdir is mkdir
    again.close()


def test_a_command_that_waited_in_vain_says_so_and_exits_with_7(place: Workplace) -> None:
    with place.store.writing("test", ANNA):
        done = command(place, "--json", "--wait", "0.2", "write", "--scope", "project:a", "-")
    assert done.returncode == 7, done
    assert json.loads(done.stdout)["error"]["code"] == "busy"
    assert command(place, "write", "--scope", "project:a", "-").returncode == 0


def test_while_a_git_command_holds_the_index_a_write_is_kept_and_committed_later(
    place: Workplace,
) -> None:
    lock = place.path / ".git/index.lock"
    with lock.open("w"):
        written = place.write("# One\n", path="one.md")
    assert written.commit is None
    assert any("not committed yet" in warning for warning in written.warnings)
    assert place.session.payload(written.page_id) == b"# One\n"
    lock.unlink(missing_ok=True)
    again = place.reopened()
    assert again.git("log", "-1", "--format=%s") == "write: One\n"
    assert again.git("status", "--porcelain") == ""
    assert fsck(again.store).ok
    again.close()


def test_processes_that_meet_a_new_clone_at_once_are_one_clone(
    place: Workplace, tmp_path: Path
) -> None:
    for number in range(5):
        place.write(f"# Page {number}\n")
    clone = tmp_path / "clone"
    place.git("clone", "-q", str(place.path), str(clone))
    told = crowd(*[("opener", {"store": str(clone)})] * 8)
    assert told.of("error") == []
    assert {line["pages"] for line in told.of("opened")} == {5}
    assert len({line["clone"] for line in told.of("opened")}) == 1
    assert len({line["catalog"] for line in told.of("opened")}) == 1


def test_what_another_session_flushed_is_found_by_one_that_had_the_index_open(
    place: Workplace,
) -> None:
    place.write("# First apple\n")
    place.session.flush_indexes()
    other = Workplace.at(place.path, place.clock)
    assert len(other.session.search("apple").results) == 1
    for number in range(60):
        place.write(f"# Apple {number}\n")
    place.session.flush_indexes()
    assert len(other.session.search("apple", limit=100).results) == 61
    place.store.reindex()
    assert len(other.session.search("apple", limit=100).results) == 61
    assert len(place.session.search("apple", limit=100).results) == 61
    other.close()


def test_an_index_whose_writer_died_is_built_anew(place: Workplace) -> None:
    place.write("# First apple\n")
    place.session.flush_indexes()
    place.close()
    for sealed in (place.path / ".pcpfs/index").rglob("seal.json"):
        sealed.unlink()
    again = place.reopened()
    assert len(again.session.search("apple").results) == 1
    assert fsck(again.store).ok
    again.close()


def test_manifest_and_bytes_are_read_from_one_moment(place: Workplace) -> None:
    page = place.write("one\n").page_id
    manifest, payload = place.session.read(page)
    other = Workplace.at(place.path, place.clock)
    other.revise(page, "two\n")
    assert place.session.payload(manifest.revision_id) == payload == b"one\n"
    assert place.session.read(page)[1] == b"two\n"
    other.close()
