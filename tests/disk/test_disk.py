"""What the disk promises when nothing fails, and how it speaks when something does."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from pcpfs_conformance.broken_disks import FailingCalls

from pcpfs.disk import LITTER, SYNC_ALL_FROM, Disk, SystemCalls
from pcpfs.errors import Busy, InvalidName, PcpfsError, ReadOnly, StorageFull, Unavailable

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("data", [b"", b"---\r\n\xff\0", b"x" * 5_000_000])
def test_bytes_come_back_as_they_went(tmp_path: Path, data: bytes) -> None:
    Disk().write(tmp_path / "a" / "b" / "file", data)
    assert Disk().read(tmp_path / "a" / "b" / "file") == data
    assert files(tmp_path) == {"a/b/file": data}


def test_writing_replaces_a_file(tmp_path: Path) -> None:
    disk = Disk()
    disk.write(tmp_path / "f", b"old and longer")
    disk.write(tmp_path / "f", b"new")
    disk.write_volatile(tmp_path / "g", b"old and longer")
    disk.write_volatile(tmp_path / "g", b"new")
    assert files(tmp_path) == {"f": b"new", "g": b"new"}


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("outside")
    Disk().write(tmp_path / "link", b"12345678")
    assert (tmp_path / "outside").read_bytes() == b"precious"
    assert not (tmp_path / "link").is_symlink()


def test_write_once_leaves_the_first_file_alone(tmp_path: Path) -> None:
    disk = Disk()
    disk.write_once(tmp_path / "f", b"same")
    before = os.stat(tmp_path / "f")
    disk.write_once(tmp_path / "f", b"same")
    assert os.stat(tmp_path / "f").st_ino == before.st_ino


def test_write_once_heals_a_file_that_a_copy_tore(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"wh")
    (tmp_path / "g").symlink_to("nowhere")
    Disk().write_once(tmp_path / "f", b"whole")
    Disk().write_once(tmp_path / "g", b"nowhere")
    assert files(tmp_path) == {"f": b"whole", "g": b"nowhere"}


def test_a_missing_file_is_for_the_caller_to_judge(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"")
    for path in ("none", "none/below", "f/below"):
        with pytest.raises(FileNotFoundError):
            Disk().read(tmp_path / path)
    with pytest.raises(FileNotFoundError):
        Disk().move(tmp_path / "none", tmp_path / "new")
    assert Disk().remove(tmp_path / "none") is False
    assert Disk().remove_tree(tmp_path / "none") is False
    assert Disk().sweep(tmp_path / "none") == 0


def test_reading_a_folder_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot read"):
        Disk().read(tmp_path)


def test_odd_names_can_be_written(tmp_path: Path) -> None:
    for name in ("new\nline", 'q"uote', "caf\udce9", " ", "名前"):
        Disk().write(tmp_path / name / name, os.fsencode(name))
        assert Disk().read(tmp_path / name / name) == os.fsencode(name)


def test_moving_makes_the_folders_and_replaces(tmp_path: Path) -> None:
    disk = Disk()
    disk.write(tmp_path / "a", b"1")
    disk.write(tmp_path / "x/y/b", b"2")
    disk.move(tmp_path / "a", tmp_path / "x/y/b")
    disk.move(tmp_path / "x", tmp_path / "p/q")
    assert files(tmp_path) == {"p/q/y/b": b"1"}


def test_removing_a_tree_never_follows_links(tmp_path: Path) -> None:
    disk = Disk()
    disk.write(tmp_path / "outside/f", b"precious")
    disk.write(tmp_path / "tree/a/f", b"1")
    (tmp_path / "tree/a/link").symlink_to(tmp_path / "outside")
    (tmp_path / "tree/file-link").symlink_to(tmp_path / "outside/f")
    assert disk.remove_tree(tmp_path / "tree") is True
    assert files(tmp_path) == {"outside/f": b"precious"}


def test_relative_paths_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    disk = Disk()
    disk.write("f", b"1")
    disk.write("a/g", b"2")
    with disk.batch("staging") as batch:
        batch.write("h", b"3")
        batch.write_once("b/i", b"4")
    assert files(tmp_path) == {"f": b"1", "a/g": b"2", "h": b"3", "b/i": b"4"}


@pytest.mark.parametrize("count", [0, 1, SYNC_ALL_FROM - 1, SYNC_ALL_FROM, 500])
def test_a_batch_appears_as_a_whole_at_its_end(tmp_path: Path, count: int) -> None:
    wanted = {f"{n % 7}/{n}": b"%d" % n for n in range(count)}
    with Disk().batch(tmp_path / "staging") as batch:
        for name, data in wanted.items():
            batch.write_once(tmp_path / "out" / name, data)
        assert not (tmp_path / "out").exists()
    assert files(tmp_path / "out") == wanted
    assert list((tmp_path / "staging").iterdir()) == []


def test_a_batch_writes_over_and_removes(tmp_path: Path) -> None:
    for name in ("kept", "changed", "gone"):
        Disk().write(tmp_path / "out" / name, b"old")
    with Disk().batch(tmp_path / "staging") as batch:
        batch.write(tmp_path / "out/changed", b"new")
        batch.write_once(tmp_path / "out/kept", b"old")
        batch.unlink(tmp_path / "out/gone")
        batch.unlink(tmp_path / "out/never-there")
    assert files(tmp_path / "out") == {"kept": b"old", "changed": b"new"}


def test_a_guard_is_asked_right_before_its_file_appears(tmp_path: Path) -> None:
    for name in ("kept", "changed"):
        Disk().write(tmp_path / "out" / name, b"old")
    with Disk().staged_in(tmp_path / "staging").batch() as batch:
        for name in ("kept", "changed"):
            file = tmp_path / "out" / name
            batch.write(file, b"ours", lambda file=file: file.read_bytes() == b"old")  # type: ignore[misc]
        (tmp_path / "out/kept").write_bytes(b"a person's")
    assert batch.refused == {str(tmp_path / "out/kept")}
    assert files(tmp_path / "out") == {"kept": b"a person's", "changed": b"ours"}
    assert list((tmp_path / "staging").iterdir()) == []


def test_an_error_inside_a_batch_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> None:
        with Disk().batch(tmp_path / "staging") as batch:
            batch.write(tmp_path / "out", b"1")
            raise KeyError

    with pytest.raises(KeyError):
        interrupted()
    assert files(tmp_path) == {}


def test_a_sweep_removes_what_a_crash_left(tmp_path: Path) -> None:
    Disk().write(tmp_path / f"{LITTER}1/0", b"unfinished")
    Disk().write(tmp_path / f"{LITTER}2", b"unfinished")
    Disk().write(tmp_path / "file.tmp-", b"kept")
    assert Disk().sweep(tmp_path) == 2
    assert files(tmp_path) == {"file.tmp-": b"kept"}


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (errno.ENOSPC, StorageFull, "storage_full"),
        (errno.EDQUOT, StorageFull, "storage_full"),
        (errno.EROFS, ReadOnly, "read_only"),
        (errno.EACCES, ReadOnly, "read_only"),
        (errno.EPERM, ReadOnly, "read_only"),
        (errno.EIO, Unavailable, "unavailable"),
        (errno.ENAMETOOLONG, InvalidName, "invalid_name"),
    ],
)
def test_errors_of_the_system_are_translated_once(
    tmp_path: Path, error: int, kind: type[PcpfsError], code: str
) -> None:
    disk = Disk(FailingCalls(SystemCalls(), 1, error))
    with pytest.raises(kind) as caught:
        disk.write(tmp_path / "some-file", b"1")
    assert caught.value.code == code
    assert "some-file" in caught.value.message
    assert isinstance(caught.value.__cause__, OSError)


def test_a_name_that_is_too_long_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidName, match="shorter"):
        Disk().write(tmp_path / ("x" * 300), b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_full_disk_is_told_by_the_real_system_call() -> None:
    with pytest.raises(OSError, match="No space") as caught, open("/dev/full", "wb", 0) as full:
        full.write(b"x")
    assert caught.value.errno == errno.ENOSPC


@pytest.fixture
def others_folder() -> Iterator[Path]:
    """A folder with one file that this process may read but not change; root becomes nobody."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Disk().write(folder / "f", b"old")
        folder.chmod(0o555)
        if AS_ROOT:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            if AS_ROOT:
                os.seteuid(0)
            folder.chmod(0o700)


def test_a_read_only_folder_is_told_and_keeps_its_files(others_folder: Path) -> None:
    disk = Disk()
    for attempt in (
        lambda: disk.write(others_folder / "f", b"new"),
        lambda: disk.write(others_folder / "p/q", b"new"),
        lambda: disk.remove(others_folder / "f"),
        lambda: disk.remove_tree(others_folder / "f"),
        lambda: disk.batch(others_folder / "staging").__enter__(),
        lambda: disk.lock(others_folder / "lock").__enter__(),
    ):
        with pytest.raises(ReadOnly, match="check the permissions"):
            attempt()
    assert files(others_folder) == {"f": b"old"}


def test_a_file_in_the_place_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"1")
    with pytest.raises(Unavailable):
        Disk().write(tmp_path / "f" / "below", b"2")
    assert files(tmp_path) == {"f": b"1"}


def test_a_lock_keeps_others_out_and_says_so(tmp_path: Path) -> None:
    with Disk().lock(tmp_path / "locks" / "store"):
        started = time.monotonic()
        with (
            pytest.raises(Busy, match="--wait"),
            Disk().lock(tmp_path / "locks" / "store", wait_seconds=0.2),
        ):
            pass
        assert 0.15 < time.monotonic() - started < 5
    with Disk().lock(tmp_path / "locks" / "store", wait_seconds=0):
        pass


def test_one_at_a_time_holds_a_lock(tmp_path: Path) -> None:
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with Disk().lock(tmp_path / "lock"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_a_lock_goes_with_a_killed_process(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pcpfs.disk import Disk\n"
        "with Disk().lock(sys.argv[1]):\n  print('held', flush=True)\n  time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(Busy), Disk().lock(tmp_path / "lock", wait_seconds=0):
            pass
        other.kill()
        other.wait()
        with Disk().lock(tmp_path / "lock", wait_seconds=5):
            pass


def test_a_file_that_is_there_is_no_lock_and_stays(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("of another program")
    for _ in range(2):
        with Disk().lock(tmp_path / "lock", wait_seconds=0):
            assert (tmp_path / "lock").exists()


def test_a_lock_file_that_its_holder_removes_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []

    def work(name: int) -> None:
        for _ in range(200):
            with suppress(Busy), Disk().lock(tmp_path / "lock", wait_seconds=0):
                inside.append(name)
                time.sleep(0)
                assert inside == [name]
                inside.clear()
                (tmp_path / "lock").unlink()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [None] * 4


def test_a_lock_that_others_may_not_open_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "lock").mkdir()
    with pytest.raises(Unavailable, match="lock"), Disk().lock(tmp_path / "lock"):
        pass


def test_an_error_inside_a_lock_frees_it(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Disk().lock(tmp_path / "lock"):
        raise KeyError
    with Disk().lock(tmp_path / "lock", wait_seconds=0):
        pass
