"""A source tree beside the store of every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    """An empty folder called `app`."""
    (tmp_path / "app").mkdir()
    return SourceTree(tmp_path / "app", place)


@pytest.fixture
def added(app: SourceTree) -> SourceTree:
    """Two files that are in the store."""
    app.write("a.py")
    app.write("b.py", "def untouched():\n    return 0\n")
    app.add()
    return app
