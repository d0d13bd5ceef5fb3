"""Look at the scopes of a store."""

SECTION = "Store"
