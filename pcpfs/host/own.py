"""The store itself as a provider, in this process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

from pcpfs.host.declarations import OWN, Answering, Declaration, Inside, Origin
from pcpfs.model.pages import Principal
from pcpfs.provider.provider import Provider
from pcpfs.provider.server import answer
from pcpfs.store.session import Session
from pcpfs.store.store import Store


def own_store(path: Path, principal: Principal, wait: float) -> Declaration:
    """What `pcpfs serve` would answer. The store is opened by the thread that asks."""
    return Declaration(OWN, Inside(partial(_started, path, principal, wait)), Origin.OWN)


def _started(path: Path, principal: Principal, wait: float) -> tuple[Answering, Callable[[], None]]:
    opened = ExitStack()

    def session() -> Session:
        store = opened.enter_context(Store.open(path, wait=wait))
        return opened.enter_context(closing(Session(store, principal)))

    return partial(answer, Provider(session)), opened.close
