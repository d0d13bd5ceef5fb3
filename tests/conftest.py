"""An empty store for every test that asks, copied from one that is made once."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pcpfs.store.store import Store
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START, Workplace


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Two workers a core: many tests wait, for other processes or for a deadline."""
    return 2 * (os.cpu_count() or 1)


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without pages, closed; to be copied only."""
    path = tmp_path_factory.mktemp("template") / "store"
    Store.init(path, owner=ANNA, clock=SteppingClock(START), entropy=CountingEntropy()).close()
    return path


@pytest.fixture
def place(empty_store: Path, tmp_path: Path) -> Iterator[Workplace]:
    """An open store of Anna's."""
    path = tmp_path / "store"
    shutil.copytree(empty_store, path)
    workplace = Workplace.at(path)
    yield workplace
    workplace.close()


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_is_heard() -> None:
    """Programs that tests interrupt inherit what a shell does to its background jobs."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What pcpfs keeps for its user goes into a folder of the tests."""
    folder = tmp_path_factory.mktemp("state")
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before
