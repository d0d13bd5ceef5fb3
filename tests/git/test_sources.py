"""A source's repository is only read and nothing in it is run; renames without touching it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.errors import PcpfsError
from pcpfs.git import Repository, renames

Person = Callable[..., str]


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\necho \"$@\" >> '{tmp_path / 'sprung'}'\nexit 1\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def source(tmp_path: Path, person: Person, trap: Path) -> Path:
    """A repository with some history, and then a configuration that runs a program on anything."""
    folder = tmp_path / "source"
    folder.mkdir()
    person(folder, "init", "-q", "-b", "main")
    text = "".join(f"line {n}\n" for n in range(40))
    (folder / "a.py").write_text(text)
    (folder / "b.py").write_text("b\n")
    person(folder, "add", ".")
    person(folder, "commit", "-q", "-m", "first")
    person(folder, "mv", "a.py", "c.py")
    (folder / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n")
    person(folder, "add", ".")
    person(folder, "commit", "-q", "-m", "second")
    set_traps(folder, trap)
    return folder


def set_traps(folder: Path, trap: Path) -> None:
    hooks = folder / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "reference-transaction", "post-checkout", "fsmonitor"):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    with (folder / ".git/config").open("a") as config:
        config.write(
            f"""
[core]
    fsmonitor = {trap}
    pager = {trap}
    editor = {trap}
    sshCommand = {trap}
    alternateRefsCommand = {trap}
    untrackedCache = true
[diff]
    external = {trap}
[diff "trap"]
    textconv = {trap}
    command = {trap}
[filter "trap"]
    clean = {trap}
    smudge = {trap}
    process = {trap}
    required = true
[log]
    showSignature = true
[gpg]
    program = {trap}
[credential]
    helper = {trap}
[pager]
    log = {trap}
    diff = {trap}
[alias]
    log = !{trap}
    rev-list = !{trap}
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{trap} %S
    promisor = true
    partialclonefilter = blob:none
    uploadpack = {trap}
"""
        )


def everything(folder: Path) -> dict[str, tuple[int, int, int, bytes]]:
    return {
        path.relative_to(folder).as_posix(): (
            (found := path.lstat()).st_mtime_ns,
            found.st_ino,
            found.st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }


def read_all(folder: Path) -> list[object]:
    repository = Repository.open(folder)
    second, first = repository.log()
    return [
        repository.head(),
        repository.branch(),
        repository.first_commit(),
        repository.diff_tree(first.commit, second.commit),
        repository.renames(first.commit, second.commit),
        repository.ls_tree(second.commit),
        list(repository.show_blobs([f"{second.commit}:c.py", "1" * 40])),
        repository.blobs_at(first.commit, ["a.py", "c.py"]),
        repository.get_config("core.pager"),
        repository.is_shallow(),
    ]


def test_a_hostile_source_is_read_without_running_or_writing_anything(
    source: Path, tmp_path: Path
) -> None:
    before = everything(source)
    head, branch, first, changes, moved, *_ = read_all(source)
    assert (branch, moved) == ("main", [("a.py", "c.py")])
    assert head != first
    assert len(changes) == 3  # type: ignore[arg-type]
    assert everything(source) == before
    assert not (tmp_path / "sprung").exists()


def test_an_object_that_is_not_there_is_never_fetched(
    source: Path, tmp_path: Path, trap: Path
) -> None:
    """A partial clone fetches what it lacks, from wherever its configuration says."""
    repository = Repository.open(source)
    head = repository.head()
    assert head is not None
    (lost,) = (e.blob for e in repository.ls_tree(head) if e.path == "b.py")
    (source / ".git/objects" / lost[:2] / lost[2:]).unlink()
    for url in (f"ext::{trap} %S", str(tmp_path), "ssh://localhost/x", "https://localhost:1/x"):
        config = (source / ".git/config").read_text()
        (source / ".git/config").write_text(config + f'[remote "origin"]\n\turl = {url}\n')
        try:
            assert list(repository.show_blobs([lost])) == [None]
        except PcpfsError as error:
            assert error.code in ("unavailable", "corrupt")  # noqa: PT017 (either is an answer)
    assert not (tmp_path / "sprung").exists()


def test_the_traps_of_these_tests_do_spring(source: Path, tmp_path: Path, person: Person) -> None:
    (source / "b.py").write_text("changed\n")
    with pytest.raises(Exception, match="non-zero exit status"):
        person(source, "diff", "HEAD")
    assert (tmp_path / "sprung").exists()


TEXT = b"".join(b"line %d\n" % n for n in range(40))


def test_renames_are_found_without_a_repository() -> None:
    gone = {"a": TEXT, "b": TEXT.upper(), "caf\udce9": b"1\n2\n3\n", "z": b"nothing alike"}
    new = {"x/a": TEXT + b"more\n", "b2": TEXT.upper(), "n\nl": b"1\n2\n3\n", "y": b"\0\1\2"}
    assert renames(gone, new) == [("b", "b2"), ("caf\udce9", "n\nl"), ("a", "x/a")]
    assert renames({}, new) == renames(gone, {}) == []


def test_one_old_file_is_renamed_to_one_new_file_only() -> None:
    ((old, new),) = renames({"a": TEXT}, {"b": TEXT, "c": TEXT, "d/a": TEXT})
    assert old == "a"
    assert new in ("b", "c", "d/a")


def test_many_renames_are_found_at_once() -> None:
    gone = {f"old/{n}": b"%d\n" % n * 20 for n in range(300)}
    new = {f"new/{n}": b"%d\n" % n * 20 for n in range(300)}
    assert dict(renames(gone, new)) == {f"old/{n}": f"new/{n}" for n in range(300)}


def test_renaming_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    renames({"a": TEXT}, {"b": TEXT})
    assert os.listdir(tmp_path) == ["home"]
