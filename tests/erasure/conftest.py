"""Clones for every test that asks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.merge.clones import Family


@pytest.fixture
def family(tmp_path: Path, empty_store: Path) -> Iterator[Family]:
    found = Family(tmp_path, empty_store)
    yield found
    found.close()
