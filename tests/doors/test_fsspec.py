"""The view through fsspec: its own suite for readers, and what a read-only file system is."""

from __future__ import annotations

import errno
import pickle
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import md5
from pathlib import Path

import fsspec
import pytest
from fsspec.tests.abstract import AbstractFixtures, AbstractGetTests

from pcpfs.errors import NotFound, UsageError
from pcpfs.fsspec.filesystem import PcpfsFileSystem
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace

SUBFILES = ("subfile1", "subfile2", "nesteddir/nestedfile")
BULK = ("file1", "file2", *(f"subdir/{name}" for name in SUBFILES))
EDGES = ("file1", "file2", *(f"subdir{n}/{name}" for n in (0, 1) for name in SUBFILES))


@pytest.fixture(scope="module")
def scenarios(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the files that fsspec's suite asks for."""
    folder = tmp_path_factory.mktemp("scenarios")
    shutil.copytree(empty_store, folder / "store")
    place = Workplace.at(folder / "store")
    tree = SourceTree(folder / "fs", place)
    for name in BULK:
        tree.write(f"bulk/source/{name}", b"")
    for name in EDGES:
        tree.write(f"edges/source/{name}", b"")
    for name in ("subdir.txt", "subdir/subfile.txt"):
        tree.write(f"prefix/source/{name}", b"")
    for n in range(10):
        tree.write(f"hashed/source/{md5(str(n).encode()).hexdigest()}.txt", str(n))
    for name in ("file", "subdir/subfile"):
        tree.write(f"recursive/src/{name}", b"")
    tree.add()
    place.close()
    return folder / "store"


class TestItsOwnSuite(AbstractGetTests, AbstractFixtures):
    """fsspec's tests of `get`; the scenarios are in the store already."""

    @pytest.fixture
    def fs(self, scenarios: Path) -> Iterator[PcpfsFileSystem]:
        fs = fsspec.filesystem("pcpfs", store=str(scenarios))
        yield fs
        fs.close()

    @pytest.fixture
    def fs_path(self) -> str:
        return "/sources/fs/recursive"

    @pytest.fixture
    def fs_bulk_operations_scenario_0(self) -> str:
        return "/sources/fs/bulk/source"

    @pytest.fixture
    def fs_glob_edge_cases_files(self) -> str:
        return "/sources/fs/edges/source"

    @pytest.fixture
    def fs_dir_and_file_with_same_name_prefix(self) -> str:
        return "/sources/fs/prefix/source"

    @pytest.fixture
    def fs_10_files_with_hashed_names(self) -> str:
        return "/sources/fs/hashed/source"

    def test_get_directory_recursive(
        self, fs: PcpfsFileSystem, fs_path: str, tmp_path: Path
    ) -> None:
        """Theirs makes its files by itself."""
        target = tmp_path / "target"
        fs.get(f"{fs_path}/src", str(target), recursive=True)
        assert sorted(p.relative_to(target).as_posix() for p in target.rglob("*")) == [
            "file",
            "subdir",
            "subdir/subfile",
        ]


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    (tmp_path / "app").mkdir()
    tree = SourceTree(tmp_path / "app", place)
    tree.write("a.py")
    tree.write("sub/é.txt", b"0123456789")
    tree.add()
    return tree


@pytest.fixture
def fs(app: SourceTree) -> Iterator[PcpfsFileSystem]:
    opened = fsspec.filesystem("pcpfs", store=str(app.place.path), skip_instance_cache=True)
    yield opened
    opened.close()


def test_it_is_found_by_its_name_and_its_address(app: SourceTree) -> None:
    store = str(app.place.path)
    assert fsspec.get_filesystem_class("pcpfs") is PcpfsFileSystem
    with fsspec.open("pcpfs:///sources/app/a.py", "rt", store=store) as file:
        assert "class Basket" in file.read()
    fs, path = fsspec.url_to_fs("pcpfs:///sources/app/sub", store=store)
    assert path == "/sources/app/sub"
    assert fs.unstrip_protocol(path) == "pcpfs:///sources/app/sub"
    fs.close()


def test_folders_files_and_links_say_what_they_are(app: SourceTree, fs: PcpfsFileSystem) -> None:
    page = app.place.write("one", path="x.md").page_id
    assert fs.ls("/sources/app", detail=False) == [
        "/sources/app/a.py",
        "/sources/app/a.py.symbols",
        "/sources/app/sub",
    ]
    assert fs.info("/sources/app")["type"] == "directory"
    told = fs.info("sources/app/sub/é.txt")
    assert (told["name"], told["type"], told["size"]) == ("/sources/app/sub/é.txt", "file", 10)
    link = fs.info(f"/pages/{page}/payload.md")
    assert (link["type"], link["size"], link["islink"]) == ("file", 3, True)
    assert fs.cat_file(link["destination"]) == fs.cat_file(link["name"]) == b"one"
    (itself,) = fs.ls("/sources/app/a.py")
    assert itself == fs.info("/sources/app/a.py")


def test_parts_of_files_are_read(fs: PcpfsFileSystem) -> None:
    path = "/sources/app/sub/é.txt"
    assert fs.cat(path) == fs.read_bytes(path) == b"0123456789"
    for start, end in ((2, 5), (-3, None), (None, -4), (3, 100), (5, 2)):
        assert fs.cat_file(path, start, end) == b"0123456789"[start:end]
    assert fs.cat_ranges([path, path], [0, 4], [2, 6]) == [b"01", b"45"]
    assert fs.head(path, 3) == b"012"
    assert fs.tail(path, 3) == b"789"
    with fs.open(path) as file:
        assert file.size == 10
        file.seek(4)
        assert file.read(2) == b"45"
        assert not file.writable()
    assert fs.read_text(path) == "0123456789"


def test_it_is_walked_and_searched_by_name(app: SourceTree, fs: PcpfsFileSystem) -> None:
    assert fs.find("/sources/app/sub") == ["/sources/app/sub/é.txt"]
    assert fs.glob("/sources/*/*.py") == ["/sources/app/a.py"]
    assert fs.glob("pcpfs:///sources/**/Basket*.py") == [
        "/sources/app/a.py.symbols/Basket.py",
        "/sources/app/a.py.symbols/Basket.second.py",
    ]
    top, folders, names = next(iter(fs.walk("/sources/app")))
    assert (top, sorted(folders), names) == ("/sources/app", ["a.py.symbols", "sub"], ["a.py"])
    assert fs.du("/sources/app/sub") == 10
    assert fs.exists("/sources/app/a.py")
    assert fs.isdir("/sources")
    assert not fs.exists("/nowhere")
    assert fs.find("/search/basket")
    assert all(fs.cat(fs.find("/search/basket")).values())


def test_times_are_those_of_the_view(app: SourceTree, fs: PcpfsFileSystem) -> None:
    since = app.place.session.log("a.py")[0].valid_from
    assert since is not None
    assert fs.modified("/sources/app/a.py") == datetime.fromisoformat(str(since)).astimezone(UTC)


def test_each_call_sees_the_newest_state(app: SourceTree, fs: PcpfsFileSystem) -> None:
    page = app.place.write("one", path="x.md").page_id
    assert fs.cat("/scopes/project/a/x.md") == b"one"
    app.place.revise(page, "two!")
    assert fs.cat("/scopes/project/a/x.md") == b"two!"
    assert fs.info("/scopes/project/a/x.md")["size"] == 4


def test_an_instant_may_be_given(app: SourceTree) -> None:
    then = app.place.clock.now()
    app.edit("a.py", "return 2", "return 3")
    app.sync()
    store = str(app.place.path)
    for name in ("as_of", "recorded_as_of"):
        fs = fsspec.filesystem("pcpfs", store=store, **{name: str(then)})
        assert b"return 2" in fs.cat("/sources/app/a.py")
        fs.close()


def test_others_see_what_they_may(app: SourceTree) -> None:
    app.place.write("secret", scope="project:b", path="s.md")
    store = str(app.place.path)
    stranger = fsspec.filesystem("pcpfs", store=store, principal="user:ben")
    model = fsspec.filesystem("pcpfs", store=store, principal="model:local")
    assert stranger.find("/") == []
    with pytest.raises(FileNotFoundError):
        stranger.cat("/scopes/project/b/s.md")
    assert model.cat("/scopes/project/b/s.md") == b"secret"
    stranger.close()
    model.close()


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("mkdir", ("/x",)),
        ("makedirs", ("/x/y",)),
        ("rmdir", ("/scopes",)),
        ("rm", ("/sources/app/a.py",)),
        ("rm_file", ("/sources/app/a.py",)),
        ("copy", ("/sources/app/a.py", "/b")),
        ("mv", ("/sources/app/a.py", "/b")),
        ("pipe", ("/x", b"text")),
        ("touch", ("/x",)),
        ("open", ("/sources/app/a.py", "wb")),
        ("open", ("/sources/app/a.py", "ab")),
        ("open", ("/sources/app/a.py", "xb")),
        ("write_text", ("/x", "text")),
    ],
)
def test_whatever_would_write_is_refused_and_says_so(
    fs: PcpfsFileSystem, call: str, arguments: tuple[object, ...]
) -> None:
    with pytest.raises(OSError, match="read-only") as caught:
        getattr(fs, call)(*arguments)
    assert caught.value.errno == errno.EROFS


def test_putting_a_file_is_refused(fs: PcpfsFileSystem, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OSError, match="read-only"):
        fs.put(str(tmp_path / "mine.txt"), "/scopes/mine.txt")


def test_what_is_wrong_is_told_as_file_systems_do(fs: PcpfsFileSystem) -> None:
    with pytest.raises(FileNotFoundError):
        fs.cat("/nowhere")
    with pytest.raises(FileNotFoundError):
        fs.ls("/nowhere")
    with pytest.raises(IsADirectoryError):
        fs.open("/sources")


def test_a_folder_that_is_no_store_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        fsspec.filesystem("pcpfs", store=str(tmp_path))
    with pytest.raises(UsageError, match="store=DIR"):
        fsspec.filesystem("pcpfs")


def test_threads_and_other_processes_may_share_it(fs: PcpfsFileSystem) -> None:
    seen: list[bytes] = []

    def read() -> None:
        seen.append(fs.cat("/sources/app/sub/é.txt"))
        fs.close()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = pickle.loads(pickle.dumps(fs))
    assert [*seen, again.cat("/sources/app/sub/é.txt")] == [b"0123456789"] * 4
    again.close()
