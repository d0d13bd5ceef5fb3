"""A store inside a project: found from it, invisible to its git, and able to take it in."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pcpfs.errors import Conflict
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import ANNA, draft

NAMES = (".context", "notes here", "#odd", "!keep", "a[b]*?", "back\\slash", "tief/drin", "ünï ")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-c", "core.quotePath=false", *arguments],
        cwd=folder, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("def apple(): pass\n")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_the_project_never_sees_the_store(project: Path, name: str) -> None:
    before = git(project, "status", "--porcelain", "-uall")
    with Store.init(project / name, owner=ANNA, nested=True) as store:
        Session(store, ANNA).write("project:a", draft("one\n"), path="x.md")
        assert git(project, "status", "--porcelain", "-uall") == before
        git(project, "add", ".")
        assert git(project, "ls-files") == "src/a.py\n"
        git(project, "clean", "-fdxq")
        assert fsck(store).ok
        assert git(store.path, "log", "-1", "--format=%s").startswith("write")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_found_from_anywhere_in_the_project(project: Path, name: str) -> None:
    Store.init(project / name, owner=ANNA, nested=True).close()
    for start in (project, project / "src", project / name, project / name / ".git"):
        assert Store.find(start) == project / name
    assert Store.find(project.parent) is None


def test_a_project_without_one_or_whose_store_went_has_none(project: Path) -> None:
    assert Store.find(project / "src") is None
    exclude = project / ".git" / "info" / "exclude"
    exclude.write_text("# a pcpfs store of its own:\n/gone/\n/../\n# a pcpfs store of its own:\n")
    assert Store.find(project / "src") is None


def test_an_exclude_file_leads_to_no_store_outside_of_the_project(
    project: Path, tmp_path: Path
) -> None:
    Store.init(tmp_path / "other", owner=ANNA).close()
    exclude = project / ".git" / "info" / "exclude"
    for path in ("../other", "link"):
        exclude.write_text(f"# a pcpfs store of its own:\n/{path}/\n")
        assert Store.find(project) is None
        if path == "../other":
            (project / "link").symlink_to(tmp_path / "other")


def test_the_project_is_a_source_without_the_store(project: Path) -> None:
    with Store.init(project / ".context", owner=ANNA, nested=True) as store:
        Session(store, ANNA).write("project:a", draft("def pear(): pass\n"), path="x.md")
        with Sources(store, ANNA) as sources:
            report = sources.add(Wanted(project, Namespace("project:a")))
        assert [root.files for root in report.roots] == [1]
        rows = store.catalog.query("SELECT path FROM page WHERE is_source")
        assert rows == [("src/a.py",)]
        with Sources(store, ANNA) as sources:
            again = sources.sync()
        assert (again.commit, again.roots[0].files) == (None, 1)


def test_without_saying_so_no_store_is_made_in_a_project(project: Path) -> None:
    with pytest.raises(Conflict, match="--nested"):
        Store.init(project / "store", owner=ANNA)
    assert not (project / "store" / ".git").exists()
    assert "store" not in (project / ".git" / "info" / "exclude").read_text()


def test_no_store_is_made_in_a_store(project: Path) -> None:
    Store.init(project / ".context", owner=ANNA, nested=True).close()
    with pytest.raises(Conflict, match="lies in the store"):
        Store.init(project / ".context" / "scopes" / "inner", owner=ANNA, nested=True)


def test_a_linked_work_tree_of_the_project_sees_it_neither(project: Path, tmp_path: Path) -> None:
    git(project, "add", ".")
    git(project, "-c", "user.name=m", "-c", "user.email=m@x", "commit", "-qm", "one")
    git(project, "worktree", "add", "-q", str(tmp_path / "second"))
    Store.init(tmp_path / "second" / ".context", owner=ANNA, nested=True).close()
    assert git(tmp_path / "second", "status", "--porcelain") == ""
    assert Store.find(tmp_path / "second" / "src") == tmp_path / "second" / ".context"
