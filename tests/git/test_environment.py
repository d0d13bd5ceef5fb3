"""Nothing but what we say counts: not the user's configuration, not inherited variables."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.disk import Disk
from pcpfs.errors import Unavailable
from pcpfs.git import Git, renames
from pcpfs.model.instants import Instant

NOW = Instant.read("2026-03-01T12:00:00Z")
Person = Callable[..., str]

FILES = {
    "crlf.txt": b"1\r\n2\r\n",
    "lf.txt": b"1\n2\n",
    "mixed.md": b"$Id$ \r\n\n",
    "ignored.log": b"1",
    "caf\udce9 ü": b"\xff\xfe1\0",
}


def make_store(folder: Path) -> Git:
    folder.mkdir()
    git = Git.init(folder)
    git.lay_info(Disk(), "attributes", "* -text -filter -ident -working-tree-encoding -merge\n")
    return git


def life(folder: Path) -> tuple[Git, list[object]]:
    """A store does all that it ever does; what it saw."""
    git = make_store(folder)
    for path, data in FILES.items():
        Disk().write(folder / path, data)
    first = git.commit(FILES.items(), "first", NOW)
    Disk().write(folder / "lf.txt", b"1\n3\n")
    second = git.commit([("lf.txt", b"1\n3\n"), ("crlf.txt", None)], "second\n\nA: b\n", NOW)
    (folder / "crlf.txt").unlink()
    seen: list[object] = [first, second, git.head(), git.branch(), git.first_commit()]
    seen += [git.log(), git.log(["lf.txt"], 1), git.diff_tree(first, second), git.ls_tree(second)]
    seen += [list(git.show_blobs([f"{first}:{path}" for path in FILES])), git.tracked_status()]
    seen += [git.renames(first, second), git.get_config("core.bare")]
    seen += [renames({"a": b"1\n2\n3\n4\n"}, {"b": b"1\n2\n3\n4\n5\n", "c": b""})]
    return git, seen


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A program that leaves a mark when it is run, and fails."""
    program = tmp_path / "trap"
    program.write_text(f"#!/bin/sh\necho \"$0 $@\" >> '{tmp_path / 'sprung'}'\nexit 1\n")
    program.chmod(0o755)
    return program


def hostile_configuration(trap: Path, hooks: Path) -> str:
    return f"""
[commit]
    gpgSign = true
    template = {trap}
[tag]
    gpgSign = true
[gpg]
    program = {trap}
[core]
    hooksPath = {hooks}
    autocrlf = true
    safecrlf = true
    quotePath = true
    attributesFile = {hooks}/attributes
    excludesFile = {hooks}/excludes
    fsmonitor = {trap}
    editor = {trap}
    pager = {trap}
    sshCommand = {trap}
    abbrev = 5
    ignoreCase = true
    splitIndex = true
    fileMode = false
[init]
    templateDir = {hooks}/template
    defaultBranch = odd
    defaultObjectFormat = sha256
[filter "trap"]
    clean = {trap}
    smudge = {trap}
    process = {trap}
    required = true
[diff]
    external = {trap}
    renames = copies
    noprefix = true
    orderFile = {hooks}/excludes
[diff "trap"]
    textconv = {trap}
    command = {trap}
[log]
    showSignature = true
    decorate = full
    follow = true
    date = relative
[format]
    pretty = oneline
[status]
    showUntrackedFiles = all
    renames = copies
    branch = true
[user]
    useConfigOnly = true
[i18n]
    commitEncoding = latin1
    logOutputEncoding = utf-16
[fetch]
    fsckObjects = true
[color]
    ui = always
[fastimport]
    unpackLimit = 1
"""


def set_traps(home: Path, trap: Path) -> None:
    hooks = home / "hooks"
    (hooks / "template/hooks").mkdir(parents=True)
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change"):
        shutil.copy(trap, hooks / name)
        shutil.copy(trap, hooks / "template/hooks" / name)
    (hooks / "attributes").write_text("* filter=trap diff=trap text=auto eol=crlf ident\n")
    (hooks / "excludes").write_text("*\n")
    (home / ".gitconfig").write_text(hostile_configuration(trap, hooks))
    (home / ".config/git").mkdir(parents=True)
    shutil.copy(home / ".gitconfig", home / ".config/git/config")
    shutil.copy(hooks / "attributes", home / ".config/git/attributes")
    shutil.copy(hooks / "excludes", home / ".config/git/ignore")


def test_a_hostile_configuration_changes_nothing(
    tmp_path: Path, home: Path, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, expected = life(tmp_path / "quiet")
    set_traps(home, trap)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    git, seen = life(tmp_path / "store")
    assert seen == expected
    assert not (tmp_path / "sprung").exists()
    assert not (git.git_dir / "hooks").exists()


def test_the_traps_of_these_tests_do_spring(
    tmp_path: Path, home: Path, trap: Path, person: Person
) -> None:
    git, _ = life(tmp_path / "store")
    set_traps(home, trap)
    (git.work_tree / "new").write_bytes(b"")
    with pytest.raises(Exception, match="non-zero exit status"):
        person(git.work_tree, "commit", "--allow-empty", "-q", "-m", "x")
    assert (tmp_path / "sprung").exists()


def test_inherited_variables_change_nothing(
    tmp_path: Path, trap: Path, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, expected = life(tmp_path / "quiet")
    other, _ = life(tmp_path / "other")
    before = person(other.work_tree, "log", "--format=raw", "--all")
    leaks = {
        "GIT_DIR": str(other.git_dir),
        "GIT_WORK_TREE": str(other.work_tree),
        "GIT_COMMON_DIR": str(other.git_dir),
        "GIT_INDEX_FILE": str(other.git_dir / "index"),
        "GIT_OBJECT_DIRECTORY": str(other.git_dir / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(other.git_dir / "objects"),
        "GIT_NAMESPACE": "elsewhere",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(trap),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={trap}'",
        "GIT_EXTERNAL_DIFF": str(trap),
        "GIT_PAGER": str(trap),
        "GIT_EDITOR": str(trap),
        "GIT_SSH": str(trap),
        "GIT_AUTHOR_NAME": "",
        "GIT_COMMITTER_DATE": "1999-01-01T00:00:00Z",
        "GIT_TRACE": str(tmp_path / "sprung"),
        "GIT_TEMPLATE_DIR": str(tmp_path),
        "GIT_CEILING_DIRECTORIES": str(tmp_path),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_QUARANTINE_PATH": str(tmp_path),
        "LC_ALL": "de_DE.UTF-8",
        "LANGUAGE": "de",
    }
    for name, value in leaks.items():
        monkeypatch.setenv(name, value)
    _, seen = life(tmp_path / "store")
    assert seen == expected
    assert not (tmp_path / "sprung").exists()
    for name in leaks:
        monkeypatch.delenv(name)
    assert person(other.work_tree, "log", "--format=raw", "--all") == before


def test_committed_attributes_do_not_touch_bytes(
    tmp_path: Path, trap: Path, person: Person
) -> None:
    git = make_store(tmp_path / "store")
    person(git.work_tree, "config", "filter.trap.clean", str(trap))
    attributes = b"* text=auto eol=crlf filter=trap working-tree-encoding=UTF-16 ident\n"
    files = {".gitattributes": attributes, "a": b"1\n2\r\n"}
    for path, data in files.items():
        Disk().write(git.work_tree / path, data)
    commit = git.commit(files.items(), "x", NOW)
    assert list(git.show_blobs([f"{commit}:a"])) == [files["a"]]
    assert git.tracked_status() == []
    assert not (tmp_path / "sprung").exists()


def test_git_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="git is not installed"):
        Git.init(tmp_path)


def test_git_that_is_too_old_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/bin/sh\necho git version 2.20.1\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(Unavailable, match=r"git 2\.32 or newer is needed.*2\.20\.1"):
        Git.init(tmp_path)


def test_a_store_whose_folder_is_gone_is_named(tmp_path: Path) -> None:
    git = make_store(tmp_path / "store")
    shutil.rmtree(git.work_tree)
    with pytest.raises(Unavailable, match="is gone"):
        git.commit([("a", b"1")], "x", NOW)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away"
)
class TestAnotherUsersRepository:
    @pytest.fixture
    def foreign(self, tmp_path: Path) -> Path:
        git = make_store(tmp_path / "foreign")
        os.chown(git.work_tree, 65534, 65534)
        return git.work_tree

    def test_it_is_refused_with_the_way_out(self, foreign: Path) -> None:
        with pytest.raises(Unavailable, match=r"git config --global --add safe\.directory"):
            Git.open(foreign)

    @pytest.mark.parametrize("pattern", ["{}", "*"])
    def test_the_users_own_word_opens_it(self, foreign: Path, home: Path, pattern: str) -> None:
        entry = pattern.format(foreign)
        (home / ".gitconfig").write_text(f'[safe]\n\tdirectory = "{entry}"\n')
        assert Git.open(foreign).commit([("a", b"1")], "x", NOW)

    def test_a_withdrawn_word_does_not(self, foreign: Path, home: Path) -> None:
        (home / ".gitconfig").write_text(
            f'[safe]\n\tdirectory = "{foreign}"\n\tdirectory =\n\tdirectory = "{foreign}/x"\n'
        )
        with pytest.raises(Unavailable):
            Git.open(foreign)
