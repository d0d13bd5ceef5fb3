"""A source tree, and a way to be a user whom permissions bind."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_NOBODY = 65534


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


@pytest.fixture
def bound_root() -> Iterator[Path]:
    """A source tree while this process is a user who may not read everything."""
    folder = Path(tempfile.mkdtemp(prefix="pcpfs-bound-"))
    privileged = os.geteuid() == 0
    if privileged:
        os.chown(folder, _NOBODY, _NOBODY)
        os.seteuid(_NOBODY)
    try:
        yield folder
    finally:
        if privileged:
            os.seteuid(0)
        for directory, _, _ in os.walk(folder):
            os.chmod(directory, 0o700)
        shutil.rmtree(folder)
