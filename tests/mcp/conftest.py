"""A store with a note about code, and a room in which a model works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.source_tree import SourceTree
from tests.mcp.talking import Talk
from tests.store.workplace import Workplace


@pytest.fixture
def app(place: Workplace, tmp_path: Path) -> SourceTree:
    """A source that the store has taken in."""
    (tmp_path / "app").mkdir()
    app = SourceTree(tmp_path / "app", place)
    app.write("basket.py")
    app.add()
    return app


@pytest.fixture
def talk(place: Workplace) -> Iterator[Talk]:
    """Calls of tools by the model, straight and in this thread."""
    talk = Talk(place)
    yield talk
    talk.room.session.close()
