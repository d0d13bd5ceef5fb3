"""Committing: exactly these paths, on top of whatever is there, beside a person's own git."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.disk import Disk
from pcpfs.errors import Busy, Conflict, InvalidName, NotFound, Unavailable
from pcpfs.git import Git
from pcpfs.git import Person as Author
from pcpfs.model.instants import Instant

NOW = Instant.read("2026-03-01T12:00:00Z")
Person = Callable[..., str]

ODD_NAMES = (
    'q"uote',
    "new\nline",
    "tab\there",
    "back\\slash",
    "\\n",
    "caf\udce9",
    "ü/名前",
    "sp ace/ x",
    "-dash",
    ":(top)magic",
    "*",
    "[a]",
    "#x",
    '"whole"',
    "trailing ",
    "missing",
    "a missing",
)


def save(git: Git, files: dict[str, bytes], message: str = "save") -> str:
    """What a store does: put the files in place, then commit them."""
    for path, data in files.items():
        Disk().write(git.work_tree / path, data)
    return git.commit(files.items(), message, NOW)


def committed(git: Git) -> dict[str, bytes | None]:
    head = git.head()
    assert head is not None
    entries = git.ls_tree(head)
    contents = git.show_blobs(entry.blob for entry in entries)
    return dict(zip((entry.path for entry in entries), contents, strict=True))


def test_a_new_repository_is_empty_and_has_a_branch(git: Git) -> None:
    assert git.head() is None
    assert git.branch() == "main"
    assert git.log() == []
    assert git.first_commit() is None
    assert not (git.git_dir / "hooks").exists()


def test_files_come_back_and_the_work_tree_is_clean(git: Git, person: Person) -> None:
    files = {"a": b"1\r\n2\n", "b/c": b"", "b/d": b"\0\xff---", "e": b"x" * 3_000_000}
    commit = save(git, files)
    assert git.head() == commit
    assert committed(git) == files
    assert person(git.work_tree, "status", "--porcelain") == ""
    person(git.work_tree, "fsck", "--strict")


def test_odd_names_come_back(git: Git, person: Person) -> None:
    files = {name: os.fsencode(name) for name in ODD_NAMES}
    first = save(git, files)
    assert committed(git) == files
    assert person(git.work_tree, "status", "--porcelain") == ""
    git.commit([(name, None) for name in ODD_NAMES], "gone", NOW)
    assert committed(git) == {}
    second = git.head()
    assert second is not None
    assert {c.path for c in git.diff_tree(git.log()[1].commit, second)} == set(ODD_NAMES)
    assert first == git.log()[1].commit


@pytest.mark.parametrize(
    "path", ["", "/abs", "a//b", "a/", ".", "../x", "a/../b", ".git/x", "a/.GIT/hooks", "nul\0"]
)
def test_paths_that_leave_the_work_tree_are_refused(git: Git, path: str) -> None:
    with pytest.raises(InvalidName):
        git.commit([(path, b"x")], "bad", NOW)
    assert git.head() is None


def test_contents_may_come_from_files_and_paths_may_go(git: Git, tmp_path: Path) -> None:
    save(git, {"a": b"1", "b": b"2", "c": b"3"})
    (tmp_path / "payload").write_bytes(b"from a file")
    (git.work_tree / "b").unlink()
    git.commit([("a", tmp_path / "payload"), ("b", None), ("never", None)], "change", NOW)
    assert committed(git) == {"a": b"from a file", "c": b"3"}


def test_a_file_may_become_a_folder_and_back(git: Git, person: Person) -> None:
    save(git, {"a": b"1"})
    (git.work_tree / "a").unlink()
    save(git, {"a/b": b"2"})
    Disk().remove_tree(git.work_tree / "a")
    save(git, {"a": b"3"})
    assert committed(git) == {"a": b"3"}
    assert person(git.work_tree, "status", "--porcelain") == ""
    (git.work_tree / "a").unlink()
    Disk().write(git.work_tree / "a/b", b"4")
    git.commit([("a/b", b"4"), ("a", None)], "whatever the order", NOW)
    assert committed(git) == {"a/b": b"4"}
    assert person(git.work_tree, "status", "--porcelain") == ""


def test_the_message_author_and_time_are_kept(git: Git) -> None:
    message = "Add “x”\n\nBody: not a trailer\n\nPcpfs-Page: pg_1\nPcpfs-Actor: ann\n"
    git.commit([("a", b"1")], message, NOW, Author("Ann <evil>\ncommitter x <y> 0 +0000", "a@b"))
    (entry,) = git.log()
    assert entry.subject == "Add “x”"
    assert entry.at == NOW
    assert entry.author == "Ann evilcommitter x y 0 +0000"
    assert entry.trailers == {"Pcpfs-Page": "pg_1", "Pcpfs-Actor": "ann"}


def test_other_changes_of_a_person_stay_as_they_are(git: Git, person: Person) -> None:
    save(git, {"a": b"1", "b": b"1"})
    (git.work_tree / "a").write_bytes(b"edited")
    (git.work_tree / "new").write_bytes(b"staged")
    (git.work_tree / "b").write_bytes(b"staged")
    person(git.work_tree, "add", "new", "b")
    save(git, {"ours": b"1"})
    assert person(git.work_tree, "status", "--porcelain") == " M a\nM  b\nA  new\n"
    assert committed(git) == {"a": b"1", "b": b"1", "ours": b"1"}


def test_an_edit_of_a_committed_path_is_seen_as_unstaged(git: Git, person: Person) -> None:
    Disk().write(git.work_tree / "a", b"edited meanwhile")
    git.commit([("a", b"ours")], "save", NOW)
    assert person(git.work_tree, "status", "--porcelain") == " M a\n"
    assert git.tracked_status() == [(" M", "a")]


def test_a_detached_head_is_committed_to(git: Git, person: Person) -> None:
    first = save(git, {"a": b"1"})
    person(git.work_tree, "checkout", "-q", "--detach")
    second = save(git, {"b": b"2"})
    assert git.branch() is None
    assert git.head() == second
    assert person(git.work_tree, "rev-parse", "main").strip() == first


def test_a_branch_with_an_odd_name_is_committed_to(git: Git, person: Person) -> None:
    save(git, {"a": b"1"})
    person(git.work_tree, "checkout", "-q", "-b", "feature/ü-x")
    commit = save(git, {"b": b"2"})
    assert git.branch() == "feature/ü-x"
    assert git.head() == commit


def test_a_linked_work_tree_is_committed_to(git: Git, person: Person, tmp_path: Path) -> None:
    save(git, {"a": b"1"})
    person(git.work_tree, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked tree"))
    linked = Git.open(tmp_path / "linked tree")
    assert linked.branch() == "side"
    assert linked.common_dir == git.git_dir
    commit = save(linked, {"b": b"2"})
    assert linked.head() == commit
    assert committed(git) == {"a": b"1"}
    assert person(linked.work_tree, "status", "--porcelain") == ""


def test_a_head_in_packed_refs_is_found(git: Git, person: Person) -> None:
    commit = save(git, {"a": b"1"})
    person(git.work_tree, "pack-refs", "--all")
    assert not (git.git_dir / "refs/heads/main").exists()
    assert git.head() == commit
    assert save(git, {"b": b"1"}) == git.head()


def test_a_sha256_repository_works(tmp_path: Path, person: Person) -> None:
    person(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "r")
    git = Git.open(tmp_path / "r")
    assert len(save(git, {"a": b"1"})) == 64
    save(git, {"b": b"2"})
    assert committed(git) == {"a": b"1", "b": b"2"}
    assert person(git.work_tree, "status", "--porcelain") == ""


def test_a_waiting_merge_is_not_committed_into(git: Git, person: Person) -> None:
    save(git, {"a": b"1"})
    person(git.work_tree, "checkout", "-q", "-b", "side")
    save(git, {"b": b"2"})
    person(git.work_tree, "checkout", "-q", "main")
    head = save(git, {"c": b"2"})
    person(git.work_tree, "merge", "-q", "--no-commit", "--no-ff", "side")
    with pytest.raises(Unavailable, match=r"a merge in .* is not finished"):
        save(git, {"d": b"3"})
    assert git.head() == head
    assert git.unfinished() == "merge"
    person(git.work_tree, "merge", "--abort")
    assert git.unfinished() is None
    save(git, {"d": b"3"})


def test_a_held_index_is_told_and_the_same_call_later_commits(git: Git, person: Person) -> None:
    head = save(git, {"a": b"1"})
    files = {"b": b"2", "new\nline": b"3"}
    with open(git.git_dir / "index.lock", "wb"):
        started = time.monotonic()
        with pytest.raises(Busy, match=r"not committed yet.*index\.lock"):
            save(git, files)
        assert time.monotonic() - started < 10
    assert git.head() == head
    (git.git_dir / "index.lock").unlink()
    save(git, files)
    assert committed(git) == {"a": b"1"} | files
    assert person(git.work_tree, "status", "--porcelain") == ""
    assert person(git.work_tree, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"


def test_an_index_that_was_left_behind_can_be_refreshed(git: Git, person: Person) -> None:
    save(git, {"a": b"1", "gone": b"1"})
    files = {"b": b"2", "new\nline": b"3"}
    for path, data in files.items():
        Disk().write(git.work_tree / path, data)
    (git.work_tree / "gone").unlink()
    git.commit([*files.items(), ("gone", None)], "x", NOW, refresh=False)
    assert person(git.work_tree, "status", "--porcelain") != ""
    git.refresh_index([*files, "gone", "never/there"])
    assert person(git.work_tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="processes cannot be seen here")
def test_a_lock_that_a_killed_git_left_is_removed(git: Git, person: Person, name: str) -> None:
    save(git, {"a": b"1"})
    (git.git_dir / name).touch()
    save(git, {"b": b"2"})
    assert person(git.work_tree, "status", "--porcelain") == ""
    assert not (git.git_dir / name).exists()


def test_the_lock_of_a_person_who_writes_a_message_is_left_alone(
    git: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(git, {"a": b"1"})
    (git.work_tree / "a").write_bytes(b"2")
    (tmp_path / "editor").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "editor").chmod(0o755)
    monkeypatch.setenv("GIT_EDITOR", str(tmp_path / "editor"))
    lock = git.git_dir / "index.lock"
    commit = [*["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-a"]]
    with subprocess.Popen(commit, cwd=git.work_tree, start_new_session=True) as theirs:
        while not (git.git_dir / "COMMIT_EDITMSG").exists():
            time.sleep(0.01)
        with pytest.raises(Busy):
            save(git, {"b": b"2"})
        assert lock.exists()
        os.killpg(theirs.pid, signal.SIGKILL)


def test_a_lock_that_goes_away_is_waited_for(git: Git, person: Person) -> None:
    save(git, {"a": b"1"})
    lock = git.git_dir / "index.lock"
    lock.touch()
    threading.Timer(0.3, lock.unlink).start()
    save(git, {"b": b"2"})
    assert person(git.work_tree, "status", "--porcelain") == ""


def test_the_index_has_our_files_before_the_branch_has(git: Git, person: Person) -> None:
    """So whoever finds our commit as parent finds our files in the index too."""
    save(git, {"a": b"1"})
    with open(git.git_dir / "refs/heads/main.lock", "wb"), pytest.raises(Busy):
        save(git, {"b": b"2"})
    assert person(git.work_tree, "status", "--porcelain") == "A  b\n"
    (git.git_dir / "refs/heads/main.lock").unlink()
    person(git.work_tree, "commit", "-q", "-m", "mine")
    save(git, {"b": b"2"})
    assert committed(git) == {"a": b"1", "b": b"2"}
    assert person(git.work_tree, "status", "--porcelain") == ""


def save_however_busy(git: Git, name: str) -> None:
    """On a slow machine they can win every race of one call: the same call does it later."""
    for _ in range(20):
        with contextlib.suppress(Busy):
            save(git, {name: b""})
            return
    raise AssertionError(f"{name} was never committed")


def test_a_person_who_commits_all_the_time_loses_nothing_and_neither_do_we(
    git: Git, person: Person
) -> None:
    save(git, {"start": b""})
    ended = threading.Event()
    theirs: list[str] = []

    def commits_all_the_time() -> None:
        while not ended.is_set():
            name = f"theirs-{len(theirs)}"
            (git.work_tree / name).write_bytes(b"")
            try:
                person(git.work_tree, "add", name)
                person(git.work_tree, "commit", "-q", "-m", name)
            except subprocess.CalledProcessError:
                continue  # their git found ours at work and said so; they try again
            theirs.append(name)
            time.sleep(0.01)

    thread = threading.Thread(target=commits_all_the_time)
    thread.start()
    ours = [f"ours-{n}" for n in range(20)]
    try:
        for name in ours:
            save_however_busy(git, name)
    finally:
        ended.set()
        thread.join()
    assert set(committed(git)) >= {*ours, *theirs, "start"}
    assert len(theirs) > 0


def test_a_vanished_file_ends_a_commit_without_a_trace(git: Git, tmp_path: Path) -> None:
    head = save(git, {"a": b"1"})
    many: list[tuple[str, bytes | Path | None]] = [(f"f{n}", b"x" * 99_999) for n in range(50)]
    with pytest.raises(FileNotFoundError):
        git.commit([*many, ("b", tmp_path / "nowhere")], "half", NOW)
    assert git.head() == head
    assert list(git.git_dir.glob("fast_import_crash*")) == []


def test_a_git_that_gives_up_in_the_middle_is_told(git: Git) -> None:
    head = save(git, {"a": b"1"})
    (git.git_dir / "objects/pack").rmdir()
    (git.git_dir / "objects/pack").write_bytes(b"")
    with pytest.raises(Unavailable, match="fast-import failed"):
        git.commit([(f"f{n}", b"x" * 99_999) for n in range(50)], "half", NOW)
    assert git.head() == head


PROGRAM = """
import sys
from pathlib import Path
from pcpfs.git import Git
from pcpfs.model.instants import Instant
git = Git.open(Path(sys.argv[1]))
n = len(git.log())
while True:
    (git.work_tree / f"f{n}").write_bytes(b"x" * n)
    print(git.commit([(f"f{n}", b"x" * n)], f"n {n}", Instant(n)), flush=True)
    n += 1
"""


def test_a_killed_writer_loses_nothing_that_it_acknowledged(git: Git, person: Person) -> None:
    chance = random.Random(1)
    acknowledged: list[str] = []
    for _ in range(4):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(git.work_tree)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        ) as writer:
            assert writer.stdout is not None
            acknowledged.append(writer.stdout.readline().strip())
            time.sleep(chance.random() / 10)
            os.killpg(writer.pid, signal.SIGKILL)
            acknowledged += writer.stdout.read().split()
    person(git.work_tree, "fsck", "--strict")
    assert set(acknowledged) <= {entry.commit for entry in git.log()}
    assert {letters for letters, _ in git.tracked_status()} <= {"A "}
    there = {path.name: path.read_bytes() for path in git.work_tree.glob("f*")}
    save(git, there)
    assert committed(git) == there
    assert person(git.work_tree, "status", "--porcelain") == ""


def test_a_large_index_is_split_and_a_small_one_whole(git: Git, person: Person) -> None:
    save(git, {"a": b"1"})
    assert list(git.git_dir.glob("sharedindex.*")) == []
    git.commit([(f"{n % 100}/{n:0200}", b"") for n in range(9000)], "many", NOW)
    git.commit([("b", b"1")], "one more", NOW)
    assert len(list(git.git_dir.glob("sharedindex.*"))) == 1
    assert person(git.work_tree, "ls-files").count("\n") == 9002


def test_a_store_is_not_made_inside_another_repository(tmp_path: Path, person: Person) -> None:
    person(tmp_path, "init", "-q", "outer")
    (tmp_path / "outer/a/b").mkdir(parents=True)
    with pytest.raises(Conflict, match="--nested"):
        Git.init(tmp_path / "outer/a/b")
    with pytest.raises(Conflict, match="already"):
        Git.init(tmp_path / "outer", nested=True)
    nested = Git.init(tmp_path / "outer/a/b", nested=True)
    save(nested, {"x": b"1"})
    assert person(tmp_path / "outer", "log", "--all", "--format=%H") == ""


def test_a_folder_without_a_repository_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        Git.open(tmp_path)
    with pytest.raises(NotFound):
        Git.open(tmp_path / "nowhere")


def test_configuration_is_kept(git: Git) -> None:
    assert git.get_config("pcpfs.x") is None
    for value in ("--global", "a\nb", "ü", ""):
        git.set_config("pcpfs.x", value)
        assert git.get_config("pcpfs.x") == value


def test_info_files_are_written_when_they_differ(git: Git) -> None:
    path = git.git_dir / "info/exclude"
    git.lay_info(Disk(), "exclude", "/local/\n")
    inode = path.stat().st_ino
    git.lay_info(Disk(), "exclude", "/local/\n")
    assert path.stat().st_ino == inode
    git.lay_info(Disk(), "exclude", "/other/\n")
    assert path.read_text() == "/other/\n"
