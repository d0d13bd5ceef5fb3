"""What a person does with git, and what a watcher makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.sources.roots import HistoryWish
from tests.staleness.following import Following, Keeper, function, git, on_disk, save


@pytest.fixture
def root(root: Path) -> Path:
    """The folder is a repository whose files are committed."""
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "one")
    return root


def test_a_dirty_edit_that_is_restored_heals_by_sync(keeper: Keeper, root: Path) -> None:
    keeper.add()
    note, other = keeper.cite("in_a"), keeper.cite("in_b")
    before = keeper.held()
    save(root / "a.py", function("in_a", 2))
    keeper.sources.sync()
    assert keeper.suspects().keys() == {note}
    git(root, "restore", "a.py")
    keeper.sources.sync()
    assert keeper.held() == before
    assert keeper.suspects() == {}
    assert [text.count("return 1") for text in keeper.observations("a.py")] == [1, 0, 1]
    assert len(keeper.observations("b.py")) == 1
    assert other


def test_stash_and_pop_take_an_edit_away_and_bring_it_back(
    following: Following, root: Path
) -> None:
    keeper = following.keeper
    note = keeper.cite("in_a")
    save(root / "a.py", function("in_a", 2))
    save(root / "new.py", function("in_new"))
    edited = on_disk(root)
    following.until_held(edited)
    git(root, "stash", "-q", "--include-untracked")
    following.until_held(on_disk(root))
    assert "new.py" not in keeper.held().files
    assert keeper.suspects() == {}
    git(root, "stash", "pop", "-q")
    following.until_held(edited)
    assert keeper.suspects().keys() == {note}


def test_a_commit_that_touches_other_files_makes_nothing_stale(
    following: Following, root: Path
) -> None:
    keeper = following.keeper
    keeper.cite("in_a")
    save(root / "b.py", function("in_b", 2))
    following.until(lambda: following.told("changed") == ["b.py"])
    seen, before = keeper.observations("a.py"), keeper.commits()
    git(root, "commit", "-q", "-a", "-m", "two")
    following.settle()
    assert following.told("changed") == ["b.py"]
    assert keeper.observations("a.py") == seen
    assert keeper.commits() == before
    assert keeper.suspects() == {}


def test_another_branch_with_five_hundred_changed_files(keeper: Keeper, root: Path) -> None:
    for number in range(500):
        save(root / f"pkg{number % 7}/m{number}.py", function(f"f{number}"))
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "many")
    git(root, "checkout", "-q", "-b", "other")
    for number in range(500):
        save(root / f"pkg{number % 7}/m{number}.py", function(f"f{number}", 2))
    git(root, "commit", "-q", "-a", "-m", "all others")
    git(root, "checkout", "-q", "main")
    keeper.add()
    note = keeper.cite("f77")
    following = Following(keeper)
    with following.at_work():
        git(root, "checkout", "-q", "other")
        following.until_held(on_disk(root))
        assert sorted(keeper.suspects()) == [note]
        assert len(following.told("changed")) == 500


def test_a_rebase_ends_with_what_it_leaves(following: Following, root: Path) -> None:
    git(root, "checkout", "-q", "-b", "topic")
    for number in (1, 2, 3):
        save(root / f"topic{number}.py", function(f"topic{number}"))
        git(root, "add", ".")
        git(root, "commit", "-q", "-m", f"topic {number}")
    git(root, "checkout", "-q", "main")
    save(root / "b.py", function("in_b", 2))
    git(root, "commit", "-q", "-a", "-m", "main goes on")
    git(root, "checkout", "-q", "topic")
    git(root, "rebase", "-q", "main")
    wanted = on_disk(root)
    assert wanted.files.keys() == {"a.py", "b.py", "topic1.py", "topic2.py", "topic3.py"}
    following.until_held(wanted)
    assert following.keeper.observations("a.py") == [function("in_a")]


def test_nested_repositories_and_submodules_are_followed_like_folders(
    following: Following, root: Path, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    save(library / "lib.py", function("in_lib"))
    git(library, "init", "-q", "-b", "main")
    git(library, "add", ".")
    git(library, "commit", "-q", "-m", "one")
    git(root, "submodule", "--quiet", "add", str(library), "sub")
    git(root, "clone", "-q", str(library), "nested")
    following.until_held(on_disk(root))
    save(library / "lib.py", function("in_lib", 2))
    git(library, "commit", "-q", "-a", "-m", "two")
    git(root, "submodule", "--quiet", "update", "--remote", "sub")
    git(root / "nested", "pull", "-q")
    wanted = on_disk(root)
    following.until_held(wanted)
    assert wanted.files["sub/lib.py"] == wanted.files["nested/lib.py"]
    assert following.keeper.observations("sub/lib.py")[-1] == function("in_lib", 2)
    git(root, "submodule", "deinit", "-q", "-f", "sub")
    following.until_held(on_disk(root))
    assert "sub/lib.py" not in following.keeper.held().files


OID = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 12345\n"


def test_a_pointer_of_lfs_is_marked_with_its_oid_until_the_file_itself_is_there(
    following: Following, root: Path
) -> None:
    keeper = following.keeper
    save(root / "a.py", POINTER)
    following.until_held(on_disk(root))
    (told,) = [line for line in following.lines if line.event == "skipped"]
    assert (told.path, told.message) == ("a.py", f"lfs_pointer: sha256:{OID}, 12,345 bytes")
    assert keeper.session.symbol("in_a").results == ()
    assert keeper.session.payload("a.py") == POINTER.encode()
    manifest = keeper.session.manifest("a.py")
    assert manifest.payload is not None
    assert manifest.payload.media_type == "text/x-git-lfs-pointer"
    assert [hit.path for hit in keeper.session.search(OID).results] == ["a.py"]
    save(root / "b.py", function("in_b", 2))
    following.until(lambda: "b.py" in following.told("changed"))
    assert keeper.held().skipped >= {("a.py", "lfs_pointer")}
    save(root / "a.py", function("in_a"))
    following.until_held(on_disk(root))
    assert len(keeper.session.symbol("in_a").results) == 1
    assert ("a.py", "lfs_pointer") not in keeper.held().skipped


def test_a_recorded_history_follows_each_commit(following: Following, root: Path) -> None:
    keeper = following.keeper
    keeper.sources.sync(history=HistoryWish())
    first = git(root, "rev-parse", "HEAD").strip()

    def commits() -> list[str | None]:
        return [entry.commit for entry in keeper.session.log("a.py")]

    assert commits() == [first]
    save(root / "a.py", function("in_a", 2))
    git(root, "commit", "-q", "-a", "-m", "two")
    second = git(root, "rev-parse", "HEAD").strip()
    following.until(lambda: commits() == [second, first])
    git(root, "commit", "-q", "--amend", "-m", "2")
    amended = git(root, "rev-parse", "HEAD").strip()
    following.until(lambda: commits() == [amended, first])
    git(root, "checkout", "-q", "--detach")
    git(root, "branch", "-q", "-f", "main", "HEAD~1")
    following.until(lambda: amended not in commits())
    git(root, "branch", "-q", "-f", "main", "HEAD")
    following.until(lambda: amended in commits())
    following.settle(0.0)
    assert keeper.held() == on_disk(root)
    assert len([line for line in following.lines if line.event == "recorded"]) == 4
    assert not [line for line in following.lines if line.event in ("note", "error")]


def test_a_commit_in_a_linked_work_tree_is_recorded_at_once(keeper: Keeper, root: Path) -> None:
    keeper.root = root.parent / "linked"
    git(root, "worktree", "add", "-q", "-b", "side", str(keeper.root))
    keeper.add()
    keeper.sources.sync(history=HistoryWish())
    with Following(keeper).at_work() as following:
        following.settle(2.0)
        git(keeper.root, "commit", "-q", "--allow-empty", "-m", "two")
        following.until(lambda: following.told("recorded") == [None])
