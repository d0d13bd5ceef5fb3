"""A new store for one check of a conformance suite, as `ports.StoreInspector` wants it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from pcpfs.store.store import Store

OWNER = Principal("user:owner")


class FreshStore:
    """A store in a folder of its own; every session opens it anew."""

    def __init__(self, path: Path, open_ones: ExitStack) -> None:
        self._path = path
        self._open = open_ones

    def open(self, principal: Principal) -> Session:
        store = self._open.enter_context(Store.open(self._path))
        return self._open.enter_context(closing(Session(store, principal)))

    def grant(self, scope: str, principal: Principal, permissions: Sequence[str]) -> None:
        self.open(OWNER).governing.grant(scope, principal, permissions)


@contextmanager
def fresh_store(template: Path) -> Iterator[FreshStore]:
    """A copy of an empty store that belongs to OWNER."""
    with tempfile.TemporaryDirectory(prefix="pcpfs-inspect-") as folder, ExitStack() as open_ones:
        path = Path(folder) / "store"
        shutil.copytree(template, path)
        yield FreshStore(path, open_ones)


@contextmanager
def empty_store() -> Iterator[Path]:
    """An empty store to copy from."""
    with tempfile.TemporaryDirectory(prefix="pcpfs-inspect-") as folder:
        path = Path(folder) / "store"
        Store.init(path, owner=OWNER).close()
        yield path
