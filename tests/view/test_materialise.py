"""A branch of the view as plain files: whole, true, and changed only where it changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pcpfs.errors import Busy, Conflict, UsageError
from pcpfs.model.answers import Pins
from pcpfs.view.materialise import LIST, OURS, Materialised, materialise
from pcpfs.view.view import View
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace, contents
from tests.view.walking import files


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    (tmp_path / "app").mkdir()
    tree = SourceTree(tmp_path / "app", place)
    tree.write("a.py")
    tree.write("sub/b.txt", "b\n")
    tree.write(b"odd\n\xff.txt", "odd\n")
    tree.add()
    return tree


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "out"


def export(
    place: Workplace, path: str, target: Path, folds: bool | None = None, pins: Pins | None = None
) -> Materialised:
    view = View(place.session, pins or Pins())
    disk, home = place.store.disk, place.path
    return materialise(view, path, target, disk, store="st_1", home=home, folds=folds)


def shown(target: Path) -> dict[str, bytes]:
    return {name: raw for name, raw in contents(target).items() if not name.startswith(OURS)}


def states(target: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of every file: what is written anew has another inode."""
    found = [path for path in target.rglob("*") if OURS not in path.parts and not path.is_dir()]
    return {str(p): (p.lstat().st_ino, p.lstat().st_mtime_ns) for p in found}


def test_a_branch_becomes_its_files_with_their_times(app: SourceTree, target: Path) -> None:
    done = export(app.place, "/sources/app", target)
    view = View(app.place.session, Pins())
    assert shown(target) == files(view, "/sources/app")
    assert (done.written, done.removed, done.unchanged, done.left) == (len(shown(target)), 0, 0, ())
    at = view.file("/sources/app/a.py").modified.microseconds
    assert (target / "a.py").stat().st_mtime_ns == at * 1000


def test_a_second_time_touches_only_what_changed(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    before = states(target)
    again = export(app.place, "/sources/app", target)
    assert (again.written, again.removed) == (0, 0)
    assert states(target) == before
    app.write("sub/b.txt", "other\n")
    (app.path / "a.py").unlink()
    app.write("new/c.txt", "c\n")
    app.sync()
    done = export(app.place, "/sources/app", target)
    assert shown(target) == files(View(app.place.session, Pins()), "/sources/app")
    assert not (target / "a.py.symbols").exists()
    assert done.written == 2
    odd = str(target / "odd%0a%ff.txt")
    assert states(target)[odd] == before[odd]
    assert done.left == ()


def test_links_stay_links_inside_and_become_their_text_outside(
    place: Workplace, tmp_path: Path
) -> None:
    page = place.write("one", path="sub/x.md").page_id
    export(place, "/", tmp_path / "all")
    link = tmp_path / f"all/pages/{page}/payload.md"
    assert link.is_symlink()
    assert os.readlink(link) == "../../scopes/project/a/sub/x.md"
    assert link.read_bytes() == b"one"
    export(place, "/pages", tmp_path / "pages")
    alone = tmp_path / f"pages/{page}/payload.md"
    assert not alone.is_symlink()
    assert alone.read_bytes() == b"one"
    before = states(tmp_path / "all")
    assert export(place, "/", tmp_path / "all").written == 0
    assert states(tmp_path / "all") == before


def test_relations_are_materialised_with_what_they_lead_to(place: Workplace, target: Path) -> None:
    one, two = place.write("one").page_id, place.write("two").page_id
    place.session.link(one, "supports", two)
    export(place, "/relations", target)
    assert (target / f"supports/{one}/{two}/payload.md").read_bytes() == b"two"


def test_a_file_may_become_a_folder_and_back(app: SourceTree, target: Path) -> None:
    for name in ("x", "x/y.txt", "x"):
        for path in (app.path / "x/y.txt", app.path / "x"):
            if path.is_file():
                path.unlink()
        if (app.path / "x").is_dir():
            (app.path / "x").rmdir()
        app.write(name, f"{name}\n")
        app.sync()
        assert export(app.place, "/sources/app", target).left == ()
        assert shown(target)[name] == f"{name}\n".encode()


def test_a_folder_that_it_did_not_make_is_refused(app: SourceTree, target: Path) -> None:
    target.mkdir()
    (target / "mine.txt").write_text("mine")
    with pytest.raises(Conflict):
        export(app.place, "/sources/app", target)
    assert shown(target) == {"mine.txt": b"mine"}
    with pytest.raises(Conflict):
        export(app.place, "/sources/app", target / "mine.txt")
    with pytest.raises(UsageError):
        export(app.place, "/sources/app/a.py", target)


def test_another_branch_does_not_replace_the_first(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    with pytest.raises(Conflict):
        export(app.place, "/scopes", target)
    (target / LIST).write_text("{")
    with pytest.raises(Conflict):
        export(app.place, "/sources/app", target)


def test_what_somebody_changed_or_added_is_left_and_named(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    (target / "a.py").write_text("edited by hand")
    (target / "sub/b.txt").write_text("also edited")
    (target / "mine.txt").write_text("mine")
    app.write("mine.txt", "theirs\n")
    app.edit("a.py", "return 2", "return 3")
    (app.path / "sub/b.txt").unlink()
    app.sync()
    done = export(app.place, "/sources/app", target)
    assert {path for path, _ in done.left} == {"a.py", "sub/b.txt", "mine.txt"}
    assert (target / "a.py").read_text() == "edited by hand"
    assert (target / "sub/b.txt").read_text() == "also edited"
    assert (target / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("gone", [True, False])
def test_a_link_in_place_of_a_folder_leads_nothing_out(
    app: SourceTree, target: Path, tmp_path: Path, gone: bool
) -> None:
    export(app.place, "/sources/app", target)
    elsewhere = tmp_path / "elsewhere"
    (target / "sub").rename(elsewhere)  # what was put there, now reached by a link
    (target / "sub").symlink_to(elsewhere)
    before = contents(elsewhere)
    if gone:
        (app.path / "sub/b.txt").unlink()
    app.write("sub/c/new.txt", "new\n")
    app.sync()
    done = export(app.place, "/sources/app", target)
    assert contents(elsewhere) == before
    assert {path for path, _ in done.left} >= {"sub/b.txt", "sub/c/new.txt"}
    assert done.written == 0


def test_a_file_in_place_of_a_folder_is_left_and_named(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    (target / "sub/b.txt").unlink()
    (target / "sub").rmdir()
    (target / "sub").write_text("mine")
    app.edit("a.py", "return 2", "return 3")
    app.sync()
    done = export(app.place, "/sources/app", target)
    assert [path for path, _ in done.left] == ["sub/b.txt"]
    assert (target / "sub").read_text() == "mine"
    assert b"return 3" in (target / "a.py").read_bytes()


def test_nothing_is_exported_into_the_store(app: SourceTree, tmp_path: Path) -> None:
    store = app.place.path
    (tmp_path / "link").symlink_to(store)
    for folder in (store / "out", store / "scopes/project/a/tree/out", tmp_path / "link/out"):
        with pytest.raises(UsageError, match="in the store"):
            export(app.place, "/sources/app", folder)
        assert not folder.exists()


def test_what_somebody_removed_comes_back(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    (target / "a.py").unlink()
    os.utime(target / "sub/b.txt")
    done = export(app.place, "/sources/app", target)
    assert (done.written, done.left) == (1, ())
    assert (target / "a.py").exists()


def test_an_export_that_was_cut_short_is_completed(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    whole = shown(target)
    (target / "sub/b.txt").unlink()
    (target / LIST).write_text(
        (target / LIST).read_text().partition('"entries"')[0] + '"entries": {}}'
    )
    done = export(app.place, "/sources/app", target)
    assert done.left == ()
    assert shown(target) == whole


def test_only_one_at_a_time_writes_there_and_litter_goes(app: SourceTree, target: Path) -> None:
    export(app.place, "/sources/app", target)
    (target / OURS / ".tmp-1").write_text("half a file")
    with app.place.store.disk.lock(target / OURS / "lock", 0), pytest.raises(Busy):
        export(app.place, "/sources/app", target)
    assert export(app.place, "/sources/app", target).left == ()
    assert sorted(os.listdir(target / OURS)) == ["list.json", "lock"]


def test_on_a_disk_that_folds_case_the_second_name_is_named(
    place: Workplace, tmp_path: Path, target: Path
) -> None:
    tree = SourceTree(tmp_path / "cases", place)
    for name in ("Readme.txt", "README.txt", "other.txt"):
        tree.write(name, name)
    tree.add()
    done = export(place, "/sources/cases", target, folds=True)
    assert sorted(shown(target)) == ["README.txt", "other.txt"]
    assert [path for path, _ in done.left] == ["Readme.txt"]
