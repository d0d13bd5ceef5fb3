"""Secrets that were accepted: which there are, and taking that back."""

SECTION = "Store"
