"""Well-known source packages, fetched by name with the ordinary client of their registry."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from benchmarks.accuracy.yardstick import Yardstick

LARGEST = 1 << 20


class Absent(Exception):
    """The package cannot be had here; the text says why."""


def sources(yardstick: Yardstick, cache: Path) -> dict[str, Path]:
    """The package's files of the language by their path in it; fetched once."""
    tree = cache / yardstick.name / "tree"
    if not tree.exists():
        fresh = tree.with_name("unpacked")
        shutil.rmtree(fresh, ignore_errors=True)
        _unpack(_archive(yardstick, tree.with_name("download")), fresh, yardstick.inner)
        fresh.rename(tree)
    chosen = {path for pattern in yardstick.folders for path in tree.glob(pattern)}
    return {
        path.relative_to(tree).as_posix(): path
        for path in sorted(chosen)
        if path.name.endswith(yardstick.suffixes)
        and path.is_file()
        and not path.is_symlink()
        and path.stat().st_size <= LARGEST
    }


def _archive(yardstick: Yardstick, folder: Path) -> Path:
    if not folder.is_dir() or not any(folder.iterdir()):
        folder.mkdir(parents=True, exist_ok=True)
        command = _command(yardstick.fetch, yardstick.package)
        if shutil.which(command[0]) is None:
            raise Absent(f"{command[0]} is not installed, which fetches {yardstick.package}")
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            last = (ran.stderr.strip() or "no message").splitlines()[-1]
            raise Absent(f"{yardstick.package} could not be fetched: {last}")
    (archive,) = folder.iterdir()
    return archive


def _command(fetch: str, package: str) -> list[str]:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    return {
        "pip": [*pip, "--no-deps", "--no-binary", ":all:", package],
        "npm": ["npm", "pack", "--silent", package],
        "apt": ["apt-get", "download", "-qq", package],
    }[fetch]


def _unpack(archive: Path, target: Path, inner: str) -> None:
    target.mkdir(parents=True)
    if archive.suffix == ".deb":
        subprocess.run(["dpkg-deb", "-x", str(archive), str(target)], check=True)
    elif archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as members:
            members.extractall(target)
    else:
        with tarfile.open(archive) as members:
            members.extractall(target, filter="data")
    if inner:
        (found,) = (path for path in target.rglob(inner) if not path.is_symlink())
        _unpack(found, target / "inner", "")
