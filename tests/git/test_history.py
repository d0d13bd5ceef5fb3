"""Reading a repository: what was, what differs, where it began."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.errors import InvalidName
from pcpfs.git import CommitId, Git, LogEntry, Repository, TreeChange, find_repository
from pcpfs.model.instants import Instant

Person = Callable[..., str]

FIRST = Instant.read("2026-03-01T12:00:00Z")
SECOND = Instant.read("2026-03-02T12:00:00Z")
THIRD = Instant.read("2026-03-03T12:00:00Z")


@pytest.fixture
def commits(git: Git) -> tuple[CommitId, CommitId, CommitId]:
    return (
        git.commit([("a", b"1"), ("b/c", b"2"), ("new\nline", b"3")], "first", FIRST),
        git.commit([("a", b"1+"), ("b/d", b"4")], "second\n\nPcpfs-Page: pg_1\n", SECOND),
        git.commit([("b/c", None), ("new\nline", b"5")], "third", THIRD),
    )


def subjects(entries: list[LogEntry]) -> list[str]:
    return [entry.subject for entry in entries]


def test_the_log_is_newest_first_and_of_the_given_paths(
    git: Git, commits: tuple[CommitId, ...]
) -> None:
    assert subjects(git.log()) == ["third", "second", "first"]
    assert subjects(git.log(limit=2)) == ["third", "second"]
    assert subjects(git.log(["a"])) == ["second", "first"]
    assert subjects(git.log(["b"])) == ["third", "second", "first"]
    assert subjects(git.log(["new\nline"], limit=1)) == ["third"]
    assert git.log(["never"]) == []
    assert [entry.commit for entry in git.log()] == list(reversed(commits))
    assert [entry.at for entry in git.log()] == [THIRD, SECOND, FIRST]
    assert git.log()[0].parents == (commits[1],)
    assert git.log()[1].trailers == {"Pcpfs-Page": "pg_1"}


@pytest.mark.parametrize("path", ["--output=owned", "-p", ":(glob)**", "*", "../outside", "!a"])
def test_a_path_is_never_an_option_or_a_pattern(
    git: Git, commits: tuple[CommitId, ...], path: str
) -> None:
    if path.startswith(".."):
        with pytest.raises(Exception, match="outside"):
            git.log([path])
    else:
        assert git.log([path]) == []
        assert git.ls_tree(commits[0], path) == []
    assert not (git.work_tree / "owned").exists()


@pytest.mark.parametrize("text", ["HEAD", "--all", "main", "", "-1", "0" * 39, "A" * 40])
def test_only_a_full_id_is_a_commit(text: str) -> None:
    with pytest.raises(InvalidName):
        CommitId(text)


def test_differences_say_what_and_which_blobs(git: Git, commits: tuple[CommitId, ...]) -> None:
    first, second, third = commits
    blobs = {entry.path: entry.blob for entry in git.ls_tree(first)}
    now = {entry.path: entry.blob for entry in git.ls_tree(third)}
    assert git.diff_tree(first, third) == [
        TreeChange("a", "M", blobs["a"], now["a"]),
        TreeChange("b/c", "D", blobs["b/c"], None),
        TreeChange("b/d", "A", None, now["b/d"]),
        TreeChange("new\nline", "M", blobs["new\nline"], now["new\nline"]),
    ]
    assert git.diff_tree(second, second) == []
    assert [c.path for c in git.diff_tree(None, first)] == ["a", "b/c", "new\nline"]


def test_a_folder_of_a_commit_can_be_listed(git: Git, commits: tuple[CommitId, ...]) -> None:
    assert [entry.path for entry in git.ls_tree(commits[1], "b")] == ["b/c", "b/d"]
    assert {entry.mode for entry in git.ls_tree(commits[1])} == {"100644"}


def test_blobs_come_in_the_order_asked_and_absence_is_an_answer(
    git: Git, commits: tuple[CommitId, ...]
) -> None:
    first, _, third = commits
    a = git.ls_tree(first)[0].blob
    names = [f"{third}:a", a, "0" * 40, f"{first}:b", f"{first}:nope", "--batch", f"{first}:b/c"]
    assert list(git.show_blobs(names)) == [b"1+", b"1", None, None, None, None, b"2"]
    assert list(git.show_blobs([])) == []
    assert git.blobs_at(first, ["new\nline", "a", "b", "never", "a\nb"])[1:] == [a, *[None] * 3]
    assert git.blobs_at(first, ["new\nline"]) == [git.ls_tree(first)[2].blob]


def test_a_blob_whose_name_has_a_line_feed_is_asked_for_by_id(
    git: Git, commits: tuple[CommitId, ...]
) -> None:
    with pytest.raises(InvalidName, match="by its id"):
        list(git.show_blobs([f"{commits[0]}:new\nline"]))


def test_reading_blobs_can_stop_early(git: Git) -> None:
    commit = git.commit([(f"f{n}", b"x" * 200_000) for n in range(40)], "many", FIRST)
    contents = git.show_blobs(f"{commit}:f{n}" for n in range(40))
    assert next(contents) == b"x" * 200_000
    contents.close()  # type: ignore[attr-defined]  # it is a generator; the process must end


def test_renames_between_commits_are_those_of_git(git: Git) -> None:
    lines = [b"line %d\n" % n for n in range(50)]
    before = git.commit(
        [("same", b"".join(lines)), ("edited", b"".join(reversed(lines))), ("kept", b"k\n")],
        "before",
        FIRST,
    )
    edited = b"".join([*list(reversed(lines))[:-3], b"changed\n"])
    moves = [("same", None), ("edited", None), ("x/same", b"".join(lines)), ("e\tdited", edited)]
    after = git.commit([*moves, ("other", b"k\n")], "after", SECOND)
    assert git.renames(before, after) == [("edited", "e\tdited"), ("same", "x/same")]


def test_the_first_commit_is_the_same_in_every_clone(
    git: Git, commits: tuple[CommitId, ...], person: Person, tmp_path: Path
) -> None:
    person(tmp_path, "clone", "-q", str(git.work_tree), "clone")
    clone = Repository.open(tmp_path / "clone")
    assert clone.first_commit() == git.first_commit() == commits[0]
    person(clone.work_tree, "checkout", "-q", "--orphan", "other")
    person(clone.work_tree, "commit", "-q", "-m", "another beginning")
    person(clone.work_tree, "merge", "-q", "--allow-unrelated-histories", "-m", "m", "origin/main")
    assert clone.first_commit() not in (None, commits[0])


def test_a_shallow_history_has_no_first_commit(
    git: Git, commits: tuple[CommitId, ...], person: Person, tmp_path: Path
) -> None:
    person(tmp_path, "clone", "-q", "--depth=1", git.work_tree.as_uri(), "clone")
    clone = Repository.open(tmp_path / "clone")
    assert clone.is_shallow()
    assert clone.first_commit() is None
    assert clone.head() == commits[2]


def test_the_repository_around_a_path_is_found(git: Git, tmp_path: Path) -> None:
    (git.work_tree / "a/b").mkdir(parents=True)
    assert find_repository(git.work_tree / "a/b/file") == git.work_tree
    assert find_repository(git.work_tree) == git.work_tree
    assert find_repository(tmp_path) is None


def test_what_only_looks_like_a_repository_is_none(tmp_path: Path) -> None:
    (tmp_path / "empty/.git").mkdir(parents=True)
    (tmp_path / "text").mkdir()
    (tmp_path / "text/.git").write_bytes(b"\xff not a pointer")
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere/.git").write_text("gitdir: ../none")
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/.git")
    for name in ("empty", "text", "nowhere", "pipe"):
        assert find_repository(tmp_path / name) is None


@pytest.mark.parametrize(
    "head", [b"", b"ref: refs/heads/../../../../outside", b"ref: HEAD", b"\xff\xfe", b"0" * 40]
)
def test_a_head_that_says_nothing_useful_is_no_crash(
    git: Git, commits: tuple[CommitId, ...], head: bytes
) -> None:
    (git.work_tree.parent / "outside").write_text("secret text")
    (git.git_dir / "HEAD").write_bytes(head)
    assert git.head() in (None, "0" * 40)
