"""The sources that are measured: the Django source distribution, fetched by package name."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

REQUIREMENT = "Django==5.2"
ARCHIVE = "Django-5.2.tar.gz"
SHA256 = "1a47f7a7a3d43ce64570d350e008d2949abe8c7e21737b351b6a1611277c6d89"
LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Corpus:
    """A tree of sources; `texts` are what `pcpfs add` takes by default, `python` the .py in it."""

    root: Path
    texts: tuple[Path, ...]
    python: tuple[Path, ...]

    @property
    def text_bytes(self) -> int:
        return sum(path.stat().st_size for path in self.texts)


def fetch(cache: Path) -> Path:
    """The archive, downloaded once; refused if it is not the one that figures are published for."""
    archive = cache / ARCHIVE
    if not archive.exists():
        cache.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--no-binary", ":all:", "--dest", str(cache), REQUIREMENT]
        subprocess.run([*pip, *options], check=True)
    check(archive)
    return archive


def check(archive: Path) -> None:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != SHA256:
        raise SystemExit(f"{archive} has sha256 {digest}, not {SHA256}: remove it and run again")


def unpack(archive: Path, target: Path) -> Path:
    """A fresh copy of the tree below `target`; what was there goes."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    with tarfile.open(archive) as members:
        members.extractall(target, filter="data")
    (root,) = target.iterdir()
    return root


def corpus(root: Path) -> Corpus:
    files = sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    texts = tuple(path for path in files if is_text(path))
    return Corpus(root, texts, tuple(path for path in texts if path.suffix == ".py"))


def is_text(path: Path) -> bool:
    return path.stat().st_size <= LARGEST and b"\0" not in path.read_bytes()
