"""A copied or downloaded store: nothing in it is executed, unpickled or believed."""

from __future__ import annotations

import os
import pickle
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pcpfs.errors import Unavailable
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.feed import Cursor, Feed
from pcpfs.store.searches.index_seal import SEAL
from pcpfs.store.undo import undo
from pcpfs.store.upkeeping.fsck import fsck
from pcpfs.store.upkeeping.maintain import maintain
from pcpfs.store.upkeeping.repair import repair
from tests.store.workplace import ANNA, SCOPE, Workplace

HOOKS = (
    "pre-commit", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-auto-gc",
    "post-index-change", "reference-transaction", "fsmonitor-watchman", "post-rewrite",
)  # fmt: skip


def program(folder: Path) -> Path:
    """One that leaves a file beside itself when it runs."""
    file = folder / "witness.sh"
    file.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/has-run\ncat\n')
    file.chmod(0o755)
    return file


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Path]:
    """A program that must not run."""
    yield program(tmp_path)
    ran = tmp_path / "has-run"
    assert not ran.exists(), ran.read_text()


@pytest.fixture
def copied(place: Workplace, tmp_path: Path) -> Path:
    """A store with some history, copied with all that is in its folder."""
    page = place.write("apple\n", path="x.md")
    place.revise(page.page_id, "green apple\n")
    place.session.search("apple")
    place.session.flush_indexes()
    place.close()
    shutil.copytree(place.path, tmp_path / "copied", symlinks=True)
    return tmp_path / "copied"


def used(path: Path, tmp_path: Path) -> None:
    """Everything that a person may do with a store."""
    place = Workplace.at(path)
    page = place.write("pear\n", path="y.md")
    place.revise(page.page_id, "green pear\n")
    place.tree_file("x.md").write_text("an edit\n")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): pass\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(tmp_path / "code", Namespace(SCOPE)))
        sources.sync()
    assert place.session.search("green").results
    place.session.diff(page.page_id)
    place.session.log(page.page_id)
    list(Feed(place.store).since(Cursor(None)))
    undo(place.store, ANNA, _first_change(place, page.page_id))
    maintain(place.store)
    fsck(place.store)
    place.store.git.tracked_status()
    place.store.reindex()
    repair(place.store)
    place.close()


def _first_change(place: Workplace, page: str) -> str:
    entries = [e for e in Feed(place.store).since(Cursor(None)) if e.page_id == page]
    return entries[-1].change_id


def test_hooks_and_programs_of_its_configuration_never_run(
    copied: Path, witness: Path, tmp_path: Path
) -> None:
    hooks = copied / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(witness, hooks / name)
    run = str(witness)
    (copied / ".git" / "config").write_text(
        (copied / ".git" / "config").read_text()
        + f"""
[core]
    hooksPath = {hooks}
    fsmonitor = {run}
    sshCommand = {run}
    editor = {run}
    pager = {run}
    askPass = {run}
    attributesFile = {tmp_path}/attributes
    alternateRefsCommand = {run}
    gitProxy = {run}
[diff]
    external = {run}
[diff "poison"]
    textconv = {run}
    command = {run}
[filter "poison"]
    clean = {run}
    smudge = {run}
    process = {run}
    required = true
[merge "poison"]
    driver = {run}
[merge "pcpfs"]
    driver = {run}
[gpg]
    program = {run}
[commit]
    gpgSign = true
[log]
    showSignature = true
[credential]
    helper = {run}
[gc]
    recentObjectsHook = {run}
    auto = 1
[uploadpack]
    packObjectsHook = {run}
[remote "origin"]
    url = ext::{run}
    promisor = true
    partialclonefilter = blob:none
[extensions]
    partialClone = origin
[alias]
    status = !{run}
    fsck = !{run}
[include]
    path = {tmp_path}/included
"""
    )
    poison = "* filter=poison diff=poison merge=poison text working-tree-encoding=UTF-16 ident\n"
    for name in ("", ".git/info/", "scopes/", "scopes/project/a/"):
        (copied / name / (".gitattributes" if "info" not in name else "attributes")).write_text(
            poison
        )
    (tmp_path / "attributes").write_text(poison)
    (tmp_path / "included").write_text(f"[core]\n    fsmonitor = {run}\n")
    used(copied, tmp_path)


class Poison:
    """Runs a program when it is unpickled."""

    def __init__(self, program: Path) -> None:
        self.program = program

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, (f"{self.program} </dev/null",)


def test_these_traps_do_spring(copied: Path, tmp_path: Path) -> None:
    file = program(tmp_path)
    pickle.loads(pickle.dumps(Poison(file)))
    (tmp_path / "has-run").unlink()
    subprocess.run(["git", "config", "core.fsmonitor", str(file)], cwd=copied, check=True)
    subprocess.run(["git", "status"], cwd=copied, check=True, capture_output=True)
    assert (tmp_path / "has-run").exists()


def test_an_index_that_came_with_it_is_never_unpickled(
    copied: Path, witness: Path, tmp_path: Path
) -> None:
    poison = pickle.dumps(Poison(witness))
    files = [f for f in (copied / ".pcpfs" / "index").rglob("*") if f.is_file()]
    assert any(file.suffix == ".toc" for file in files)
    for file in files:
        if file.name != "owner":
            file.write_bytes(poison)
    for file in (copied / ".pcpfs").glob("stat-*"):
        file.write_bytes(poison)
    used(copied, tmp_path)


def test_the_seal_of_an_index_does_not_lead_out_of_it(copied: Path) -> None:
    place = Workplace.at(copied)
    place.session.search("apple")
    place.session.flush_indexes()
    seal = next((copied / ".pcpfs" / "index").rglob(SEAL))
    for text in ("[]", "{}", "x\n" + "[" * 100_000, '\n{"../../../pcpfs.toml": "00"}'):
        seal.write_text(text)
        assert seal.relative_to(copied).as_posix() in {p.path for p in fsck(place.store).problems}
    place.close()


def test_triggers_and_views_of_a_catalog_are_not_used(copied: Path, tmp_path: Path) -> None:
    file = copied / ".pcpfs" / "catalog.sqlite"
    with closing(sqlite3.connect(file)) as database:
        database.execute(
            "CREATE TRIGGER poison AFTER INSERT ON change BEGIN "
            "UPDATE page SET title = 'poisoned', digest = NULL; END"
        )
        database.execute("ALTER TABLE scope RENAME TO real_scope")
        database.execute("CREATE VIEW scope AS SELECT * FROM real_scope WHERE 0")
        database.commit()
    used(copied, tmp_path)
    with closing(sqlite3.connect(file)) as database:
        kinds = {kind for (kind,) in database.execute("SELECT type FROM sqlite_master")}
        titles = {title for (title,) in database.execute("SELECT title FROM page")}
    assert kinds == {"table", "index"}
    assert "poisoned" not in titles


def test_triggers_of_the_state_of_a_clone_are_not_used(copied: Path, tmp_path: Path) -> None:
    file = copied / ".git" / "pcpfs" / "local.sqlite"
    with closing(sqlite3.connect(file)) as database:
        tables = [n for (n,) in database.execute("SELECT name FROM sqlite_master WHERE sql NOT NULL"
                                                 " AND type = 'table'")]  # fmt: skip
        database.execute("CREATE TABLE seen (x)")
        for table in tables:
            database.execute(
                f"CREATE TRIGGER poison_{table} AFTER INSERT ON {table} BEGIN "
                "INSERT INTO seen VALUES (1); END"
            )
        database.commit()
    used(copied, tmp_path)
    with closing(sqlite3.connect(file)) as database:
        kinds = {kind for (kind,) in database.execute("SELECT type FROM sqlite_master")}
    assert kinds == {"table", "index"}


def test_a_copy_observes_nothing_until_it_takes_over(place: Workplace, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "a.py").write_text("def f(): pass\n")
    with Sources(place.store, ANNA) as sources:
        sources.add(Wanted(tmp_path / "code", Namespace(SCOPE)))
    shutil.copytree(place.path, tmp_path / "copied")
    (tmp_path / "code" / "a.py").write_text("def g(): pass\n")
    copy = Workplace.at(tmp_path / "copied")
    commits = copy.commits()
    with Sources(copy.store, ANNA) as sources:
        assert [root.state for root in sources.sync().roots] == ["not_observed"]
    assert copy.commits() == commits
    copy.close()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root can give files away")
def test_a_store_of_another_user_is_not_opened(copied: Path) -> None:
    for file in (copied, copied / ".git"):
        os.chown(file, 12345, -1)
    with pytest.raises(Unavailable, match="another user"):
        Workplace.at(copied)


def test_no_file_of_a_store_is_made_executable(copied: Path, tmp_path: Path) -> None:
    used(copied, tmp_path)
    modes = {f.stat().st_mode for f in (copied / "scopes").rglob("*") if f.is_file()}
    assert not any(mode & stat.S_IXUSR for mode in modes)
