"""Both ledgers as the contract wants them."""

from __future__ import annotations

from pathlib import Path

from pcpfs.ledger import Archive, MemoryLedger, StoreLedger
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.ports import CountingEntropy, SteppingClock
from tests.store.workplace import ANNA, START


class MemoryBackend:
    """The archive outlives the ledgers, as a disk would."""

    def __init__(self) -> None:
        self.archive = Archive()

    def open(self, thread_id: str) -> MemoryLedger:
        return MemoryLedger(thread_id, self.archive)

    def crash(self) -> None:
        """Ledgers keep nothing to themselves."""


class StoreBackend:
    """Each ledger has an open store of its own; a crash closes nothing in order."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stores: list[Store] = []

    def open(self, thread_id: str) -> StoreLedger:
        store = Store.open(self.path, clock=SteppingClock(START), entropy=CountingEntropy())
        self.stores.append(store)
        return StoreLedger(Session(store, ANNA), thread_id)

    def crash(self) -> None:
        """What is in memory is gone; so are the caches."""
        self.stores.clear()
