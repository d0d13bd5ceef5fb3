"""A view that is mounted for real, with the programs that people use on files."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pcpfs.model.pages import Principal
from pcpfs.model.requests import Draft
from tests.cli.running import COMMAND
from tests.integration.source_tree import SourceTree
from tests.store.workplace import ANNA, Workplace, contents

SOON = 1.0
"""Seconds after which what another process wrote is seen (issue 9, point 2)."""


def missing() -> str | None:
    """What this system lacks to mount anything."""
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        return "/dev/fuse is not there, or not for this user"
    try:
        import mfusepy  # noqa: F401, PLC0415 (an extra, and it loads a library of the system)
    except (ImportError, OSError) as error:
        return f"no FUSE library: {error}"
    if not (shutil.which("fusermount3") or shutil.which("fusermount")):
        return "fusermount3 is not installed"
    return None


pytestmark = pytest.mark.skipif(missing() is not None, reason=f"cannot mount: {missing()}")


@dataclass
class Mount:
    """A mounted view of a store, and its program."""

    place: Workplace
    app: SourceTree
    folder: Path
    program: subprocess.Popen[str]

    @classmethod
    def of(cls, place: Workplace, folder: Path, *options: str) -> Mount:
        folder.mkdir(exist_ok=True)
        program = subprocess.Popen(
            [*COMMAND, "-C", str(place.path), "mount", str(folder), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert program.stdout is not None
        assert program.stdout.readline().startswith("mounted on")
        return cls(place, SourceTree(folder.parent / "app", place), folder, program)

    def end(self, number: int = signal.SIGTERM) -> int:
        self.program.send_signal(number)
        self.program.communicate(timeout=20)
        return self.program.returncode

    def run(self, *command: str) -> str:
        """What a program prints in the mounted folder."""
        done = subprocess.run(command, cwd=self.folder, capture_output=True, check=True, timeout=60)
        return done.stdout.decode()


@pytest.fixture(scope="module")
def mount(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    """A store with sources, pages and a scope that models may not read, mounted for one."""
    base = tmp_path_factory.mktemp("mount")
    shutil.copytree(empty_store, base / "store")
    place = Workplace.at(base / "store")
    app = SourceTree(base / "app", place)
    app.write("main.py")
    app.write("sub/notes.txt", "apples and pears\n")
    app.write("sub/" + "数" * 80 + ".py", "pears = 1\n")
    app.write(b"odd\n\xff.txt", "odd apples\n")
    app.add()
    place.write("pears", path="fruit.md")
    place.write("hidden pears", scope="project:hidden", path="h.md")
    place.session.governing.revoke("project:hidden", Principal("model:local"), ["read", "list"])
    mounted = Mount.of(place, base / "view")
    yield mounted
    assert mounted.end() == 0
    assert os.listdir(mounted.folder) == []
    place.close()


def eventually(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + SOON
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_it_is_listed_and_searched_by_ordinary_programs(mount: Mount) -> None:
    listed = mount.run("ls", "-R")
    for name in ("main.py.symbols", "Basket.second.py", "notes.txt", "odd%0a%ff.txt", "fruit.md"):
        assert name in listed
    found = mount.run("grep", "-rl", "pears", "scopes", "sources").splitlines()
    assert "scopes/project/a/fruit.md" in found
    assert "sources/app/sub/notes.txt" in found
    assert not any("hidden" in path for path in found)
    if shutil.which("rg"):
        assert sorted(mount.run("rg", "-l", "pears", "scopes", "sources").split("\n")) == sorted(
            [*found, ""]
        )


def test_it_is_copied_and_packed_as_it_is(mount: Mount, tmp_path: Path) -> None:
    mount.run("cp", "-a", "sources/app", str(tmp_path / "copy"))
    ours = {n: r for n, r in contents(tmp_path / "copy").items() if ".symbols/" not in n}
    assert sorted(ours.values()) == sorted(contents(mount.app.path).values())
    assert (tmp_path / "copy/main.py").read_bytes() == (mount.app.path / "main.py").read_bytes()
    mount.run("tar", "cf", str(tmp_path / "view.tar"), "scopes", "pages", "frames", "relations")
    names = subprocess.run(
        ["tar", "tf", str(tmp_path / "view.tar")], capture_output=True, check=True
    ).stdout
    assert b"scopes/project/a/fruit.md" in names


def test_sizes_are_those_of_what_is_read(mount: Mount) -> None:
    for path in mount.folder.rglob("*"):
        if path.is_file():
            assert path.stat().st_size == len(path.read_bytes()), path


def test_links_lead_to_the_same_text(mount: Mount) -> None:
    links = [path for path in mount.folder.glob("pages/*/payload.*") if path.is_symlink()]
    assert links
    for link in links:
        assert not os.readlink(link).startswith("/")
        assert link.read_bytes() == link.resolve().read_bytes()
    found = mount.folder / "search/apples"
    assert any(path.is_symlink() and b"apples" in path.read_bytes() for path in found.iterdir())


def test_what_another_process_writes_is_seen_soon(mount: Mount) -> None:
    page = mount.place.write("first", path="live.md").page_id
    file = mount.folder / "scopes/project/a/live.md"
    assert eventually(file.exists)
    assert file.read_text() == "first"
    mount.place.revise(page, "second, and longer")
    assert eventually(lambda: file.read_text() == "second, and longer")
    mount.place.session.tombstone(page, "done")
    assert eventually(lambda: not file.exists())


def test_a_reader_goes_on_with_what_it_opened(mount: Mount) -> None:
    page = mount.place.write("before", path="open.md").page_id
    file = mount.folder / "scopes/project/a/open.md"
    assert eventually(file.exists)
    with file.open("rb", buffering=0) as opened:
        assert opened.read(2) == b"be"
        mount.place.revise(page, "afterwards")
        assert eventually(lambda: file.read_text() == "afterwards")
        assert opened.read(100) == b"fore"


def test_a_busy_store_keeps_no_reader_waiting(mount: Mount) -> None:
    store = mount.place.store
    with store.writing("write", ANNA), store.catalog.writing():
        started = time.monotonic()
        assert (mount.folder / "scopes/project/a/fruit.md").read_text() == "pears"
        assert os.listdir(mount.folder / "sources/app")
        assert time.monotonic() - started < 2


def test_the_erased_and_the_forbidden_are_not_there(mount: Mount) -> None:
    page = mount.place.write("erase me", path="gone.md").page_id
    file = mount.folder / "scopes/project/a/gone.md"
    assert eventually(file.exists)
    assert not (mount.folder / "scopes/project/hidden").exists()
    with file.open("rb", buffering=0) as opened:
        mount.place.session.delete(page, "it must go")
        assert eventually(lambda: not file.exists())
        assert eventually(lambda: reading_fails(opened.fileno()))
    assert not (mount.folder / "pages" / page).exists()


def reading_fails(file: int) -> bool:
    try:
        os.pread(file, 8, 0)
    except OSError as error:
        return error.errno == errno.ESTALE
    return False


def is_plain(folder: Path) -> bool:
    """Whether it is an empty folder, and no mount, dead or alive."""
    try:
        return os.listdir(folder) == []
    except OSError:
        return False


@pytest.mark.parametrize("path", ["new.md", "scopes/project/a/fruit.md", "sources/app/main.py"])
def test_nothing_can_be_written(mount: Mount, path: str) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.EROFS)):
        (mount.folder / path).write_text("mine")


def test_a_killed_mount_is_cleaned_up_and_a_signal_ends_it(
    place: Workplace, tmp_path: Path
) -> None:
    (tmp_path / "app").mkdir()
    place.session.write("project:a", Draft(b"one", "text/markdown"), path="x.md")
    mounted = Mount.of(place, tmp_path / "view", "--as", "user:anna")
    assert (mounted.folder / "scopes/project/a/x.md").read_text() == "one"
    mounted.end(signal.SIGKILL)
    assert eventually(lambda: is_plain(mounted.folder))
    again = Mount.of(place, tmp_path / "view", "--as", "user:anna")
    assert again.end(signal.SIGINT) == 0
    assert os.listdir(again.folder) == []
