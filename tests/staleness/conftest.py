"""A folder with two files, in a store by the clock of this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.model.requests import Draft
from tests.staleness.following import Following, Keeper, function, save
from tests.store.workplace import SCOPE


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        save(tmp_path / "app" / f"{name}.py", function(f"in_{name}"))
    return tmp_path / "app"


@pytest.fixture
def keeper(empty_store: Path, tmp_path: Path, root: Path) -> Iterator[Keeper]:
    """The source is not added yet. There is a note: a scope's first one makes a folder to watch,
    upon which a watcher begins anew and looks at everything."""
    shutil.copytree(empty_store, tmp_path / "store")
    made = Keeper(tmp_path / "store", root)
    made.session.write(SCOPE, Draft(b"the first note\n", media_type="text/markdown"))
    yield made
    made.close()


@pytest.fixture
def following(keeper: Keeper) -> Iterator[Following]:
    """A watcher at work on the added source."""
    keeper.add()
    with Following(keeper).at_work() as made:
        yield made
