"""Folders, links and names that come, go and turn into each other under a watcher."""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path

import pytest

from tests.staleness.following import Following, Keeper, function, on_disk, save


def test_a_rename_that_changes_only_case_is_followed(following: Following, root: Path) -> None:
    note = following.keeper.cite("in_a")
    (root / "a.py").rename(root / "A.py")
    following.until_held(on_disk(root))
    assert following.told("renamed") == ["A.py"]
    assert note not in following.keeper.suspects()


def test_a_renamed_folder_of_three_hundred_files_moves_each(keeper: Keeper, root: Path) -> None:
    """The system tells of the folder, watchdog of each file; either would do."""
    for number in range(300):
        save(root / f"old/{number % 10}/m{number}.py", function(f"f{number}"))
    keeper.add()
    note = keeper.cite("f123")
    following = Following(keeper)
    with following.at_work():
        (root / "old").rename(root / "new")
        following.until_held(on_disk(root))
        assert len(following.told("renamed")) == 300
        assert following.told("removed") == following.told("added") == []
        assert note not in keeper.suspects()
        save(root / "new/3/m123.py", function("f123", 2))
        following.until_held(on_disk(root))
        ((suspicion,),) = keeper.suspects().values()
        assert suspicion.path == "new/3/m123.py"


def test_a_folder_that_leaves_the_root_and_comes_back(
    following: Following, root: Path, tmp_path: Path
) -> None:
    """Of what leaves one event tells, that of the folder."""
    for number in range(3):
        save(root / f"pkg/sub/m{number}.py", function(f"f{number}"))
    full = on_disk(root)
    following.until_held(full)
    note = following.keeper.cite("f1")
    following.retime(reconcile_at=math.inf)
    (root / "pkg").rename(tmp_path / "away")
    following.until_held(on_disk(root))
    assert following.keeper.suspects().keys() == {note}
    save(tmp_path / "away/sub/ghost.py", function("ghost"))
    (tmp_path / "away/sub/ghost.py").unlink()
    following.settle()
    assert following.told("added") == [f"pkg/sub/m{number}.py" for number in range(3)]
    (tmp_path / "away").rename(root / "pkg")
    following.until_held(full)
    assert following.keeper.suspects() == {}
    save(root / "pkg/sub/m1.py", function("f1", 2))
    following.until_held(on_disk(root))


def test_a_file_becomes_a_folder_of_its_name_and_a_file_again(
    following: Following, root: Path
) -> None:
    first = on_disk(root)
    (root / "a.py").unlink()
    save(root / "a.py/inner.py", function("inner"))
    following.until_held(on_disk(root))
    assert following.keeper.held().files.keys() == {"a.py/inner.py", "b.py"}
    shutil.rmtree(root / "a.py")
    save(root / "a.py", function("in_a"))
    following.until_held(first)


def test_links_are_told_and_never_followed_wherever_they_lead(
    following: Following, root: Path, tmp_path: Path
) -> None:
    save(tmp_path / "outside/secret.py", function("secret"))
    save(root / "sub/c.py", function("in_c"))
    (root / "sub/loop").symlink_to("..")
    (root / "self").symlink_to("self")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "link.py").symlink_to("a.py")
    following.until_held(on_disk(root))
    (root / "link.py").unlink()
    (root / "link.py").symlink_to(tmp_path / "outside/secret.py")
    wanted = on_disk(root)
    assert wanted.files.keys() == {"a.py", "b.py", "sub/c.py"}
    assert ("link.py", "link_leaves_root") in wanted.skipped
    following.until_held(wanted)
    (root / "link.py").unlink()
    (root / "b.py").unlink()
    (root / "b.py").symlink_to("a.py")
    following.until_held(on_disk(root))
    assert following.keeper.session.symbol("in_b").results == ()


ODD = [b"a\nb.py", b"a\tb.py", b'"q".py', "a\u2028b.py".encode(), b"\xff\xfe.py", b" ", b"-n"]


def test_files_with_odd_names_are_followed(following: Following, root: Path) -> None:
    files = [root / os.fsdecode(name) for name in ODD]
    for number, file in enumerate(files):
        save(file, function(f"odd{number}"))
    following.until_held(on_disk(root))
    assert following.keeper.held().files.keys() >= {os.fsdecode(name) for name in ODD}
    for number, file in enumerate(files):
        save(file, function(f"odd{number}", 2))
    following.until_held(on_disk(root))
    for file in files[::2]:
        file.rename(file.with_name(file.name + "\n"))
    for file in files[1::2]:
        file.unlink()
    following.until_held(on_disk(root))


def test_a_root_that_is_deleted_and_made_anew_is_followed(following: Following, root: Path) -> None:
    before = following.keeper.held()
    shutil.rmtree(root)
    following.settle(1.5)
    assert following.keeper.held().frames in (before.frames, {})
    save(root / "c.py", function("in_c"))
    following.until_held(on_disk(root))
    save(root / "c.py", function("in_c", 2))
    following.until_held(on_disk(root))


@pytest.mark.parametrize("rules", [".gitignore", ".pcpfsignore", "sub/.gitignore"])
def test_what_comes_to_be_ignored_closes_and_what_no_longer_is_appears(
    following: Following, root: Path, rules: str
) -> None:
    save(root / "sub/c.py", function("in_c"))
    save(root / "sub/d.txt", "d\n")
    following.until_held(on_disk(root))
    full = on_disk(root)
    save(root / rules, "*.py\n")
    following.until_held(on_disk(root))
    assert following.keeper.session.symbol("in_c").results == ()
    save(root / rules, "*.txt\n")
    following.until_held(on_disk(root))
    assert len(following.keeper.session.symbol("in_c").results) == 1
    (root / rules).unlink()
    following.until_held(full)


def test_the_exclude_file_of_git_counts_as_soon_as_it_changes(
    following: Following, root: Path
) -> None:
    save(root / ".git/HEAD", "ref: refs/heads/main\n")
    save(root / ".git/info/exclude", "")
    following.until_held(on_disk(root))
    following.settle(2.0)
    save(root / ".git/info/exclude", "b.py\n")
    following.until_held(on_disk(root))
    assert "b.py" not in following.keeper.held().files
