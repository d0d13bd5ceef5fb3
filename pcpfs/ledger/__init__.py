"""The thread ledger (ContextProtocol, RFC-302): accumulate everything, show a bounded slice.

`StoreLedger` keeps a thread in a store, `MemoryLedger` in memory; both are a `ContextProtocol`.
"""

from pcpfs.ledger.memory import Archive, MemoryLedger
from pcpfs.ledger.stored import StoreLedger
from pcpfs.ledger.views import Settings
from pcpfs.model.context import ContextEntry, ContextProjection, Reflection, ShownEntry
from pcpfs.ports import ContextProtocol, ContextRetrievalModule, Embedder

__all__ = [
    "Archive",
    "ContextEntry",
    "ContextProjection",
    "ContextProtocol",
    "ContextRetrievalModule",
    "Embedder",
    "MemoryLedger",
    "Reflection",
    "Settings",
    "ShownEntry",
    "StoreLedger",
]
