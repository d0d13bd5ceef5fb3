"""Frozen values of the store and their canonical bytes. No I/O, no clock, no randomness."""
