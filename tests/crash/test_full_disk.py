"""No space left, for everything that a command writes: files, SQLite, git, the text index."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crash.scenes import OPERATIONS, Scene, ailments, furnished, state

CHECKOUT = Path(__file__).parents[2]
LIMITS = (1, 600, 5_000, 30_000, 120_000, 400_000)
"""Bytes a file may grow to: from nothing at all to enough."""
LEFT = (0, 12, 48, 80, 160, 2_000)
"""KiB that are left on the disk."""
DISK_KIB = 8_000

SCRIPT = """
import sys
from pathlib import Path
from pcpfs.errors import PcpfsError
from tests.crash.scenes import OPERATIONS, Scene
scene = Scene(Path(sys.argv[1]))
(operation,) = (o for o in OPERATIONS if o.name == sys.argv[2])
try:
    with scene.opened() as place:
        operation.run(place, scene)
except PcpfsError as error:
    print("refused", error.code)
else:
    print("done")
"""


def attempt(scene: Scene, operation: str, most: int | None = None) -> str:
    """Run an operation in a process of its own whose files grow to so many bytes at most."""

    def limit() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    return run(SCRIPT, str(scene.folder), operation, before=limit)


def run(script: str, *arguments: str, before: Callable[[], None] | None = None) -> str:
    """What a process prints that does not fail."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
        capture_output=True,
        text=True,
        preexec_fn=before,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["write", "revise", "add", "flush-indexes"])
def test_files_that_may_not_grow_lose_nothing(name: str, folder: Path) -> None:
    scene = furnished(folder / "scene")
    (operation,) = (found for found in OPERATIONS if found.name == name)
    with scene.opened() as place:
        operation.before(place, scene)
        old = state(place)
    scene.keep()
    with scene.opened() as place:
        operation.run(place, scene)
    with scene.opened() as place:
        new = state(place)
    outcomes = set()
    for most in LIMITS:
        scene.again()
        said = attempt(scene, name, most)
        outcomes.add(said)
        with scene.opened() as place:
            found = state(place)
            assert found == new if said == "done" else found in (old, new), f"{most}: {said}"
            assert ailments(place) == [], f"{most}: {said}"
    assert "done" in outcomes
    assert outcomes <= {"done", "refused storage_full", "refused unavailable"}


@contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of its own that can be filled."""
    folder = Path(tempfile.mkdtemp(prefix="pcpfs-full-"))
    options = ["-t", "tmpfs", "-o", f"size={DISK_KIB}k", "tmpfs", str(folder)]
    done = subprocess.run(["mount", *options], capture_output=True, check=False)
    if done.returncode != 0:
        folder.rmdir()
        pytest.skip("only root may mount a small disk here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


READ = """
import sys
from tests.crash.scenes import Path, Scene, named
with Scene(Path(sys.argv[1])).opened() as place:
    hits = place.session.search("second").results
    print([hit.title for hit in hits], place.session.payload(named(place, "One")))
"""


@pytest.mark.skipif(shutil.which("mount") is None, reason="no small disk can be mounted here")
@pytest.mark.parametrize("left", [0, 16])
def test_a_disk_that_is_full_can_be_read(left: int) -> None:
    with small_disk() as disk:
        scene = furnished(disk / "scene")
        free = shutil.disk_usage(disk).free
        (disk / "ballast").write_bytes(bytes(free - left * 1024))
        done = run(READ, str(scene.folder))
        assert done == "['One'] b'# One\\nsecond\\n'"


@pytest.mark.skipif(shutil.which("mount") is None, reason="no small disk can be mounted here")
@pytest.mark.parametrize("name", ["write", "add"])
def test_a_disk_that_is_full_loses_nothing(name: str) -> None:
    with small_disk() as disk:
        scene = furnished(disk / "scene")
        with scene.opened() as place:
            old = state(place)
        outcomes = []
        for left in LEFT:
            ballast = disk / "ballast"
            free = shutil.disk_usage(disk).free
            ballast.write_bytes(bytes(max(0, free - left * 1024)))
            outcomes.append(attempt(scene, name))
            ballast.unlink()
            with scene.opened() as place:
                if outcomes[-1] == "done" or state(place) != old:
                    assert outcomes[-1] != "done" or state(place) != old
                    break
        with scene.opened() as place:
            assert ailments(place) == [], outcomes
        assert outcomes[0] == "refused storage_full"
