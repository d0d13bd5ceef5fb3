"""Scopes: what there is, and who may do what in them."""

SECTION = "Store"
