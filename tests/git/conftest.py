"""A store's repository, and a person with a git of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pcpfs.disk import Disk
from pcpfs.git import Git

ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -merge\n"

Person = Callable[..., str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and no GIT_* from whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    return folder


@pytest.fixture
def person() -> Person:
    """Runs plain git, as a person would: `person(folder, "commit", "-m", "mine")`."""

    def run(folder: Path, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-c", "user.name=Ann", "-c", "user.email=ann@example.org", *arguments],
            cwd=folder,
            check=True,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
        ).stdout

    return run


@pytest.fixture
def git(tmp_path: Path) -> Git:
    (tmp_path / "store").mkdir()
    repository = Git.init(tmp_path / "store")
    repository.lay_info(Disk(), "attributes", ATTRIBUTES)
    return repository
