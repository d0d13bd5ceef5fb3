"""A folder with two files, in a store by the clock of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.staleness.following import Following, Keeper, function, save


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        save(tmp_path / "app" / f"{name}.py", function(f"in_{name}"))
    return tmp_path / "app"


@pytest.fixture
def keeper(empty_store: Path, tmp_path: Path, root: Path) -> Iterator[Keeper]:
    """The source is not added yet."""
    shutil.copytree(empty_store, tmp_path / "store")
    made = Keeper(tmp_path / "store", root)
    yield made
    made.close()


@pytest.fixture
def following(keeper: Keeper) -> Iterator[Following]:
    """A watcher at work on the added source."""
    keeper.add()
    with Following(keeper).at_work() as made:
        yield made
