"""A folder whose disk does not have to be waited for, where there is one."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Crashes are staged here a thousand times; that a real disk waits is another test's matter."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path
        return
    made = Path(tempfile.mkdtemp(dir=MEMORY, prefix="pcpfs-crash-"))
    yield made
    shutil.rmtree(made)
