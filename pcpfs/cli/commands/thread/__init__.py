"""Keep the ledger of a thread, and get bounded views of it."""

SECTION = "Write"
