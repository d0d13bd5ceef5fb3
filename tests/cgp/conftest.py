"""A store with pages and a source tree beside it, and a host that asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cgp.hosting import Host
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace


@pytest.fixture
def host(place: Workplace) -> Host:
    return Host(place.store)


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    """An empty folder called `app`."""
    (tmp_path / "app").mkdir()
    return SourceTree(tmp_path / "app", place)
