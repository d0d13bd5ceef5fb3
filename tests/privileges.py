"""Being a user whom the permissions of files bind, also as root."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1, 2


@contextmanager
def bound_by_permissions() -> Iterator[None]:
    """Root gives up its right to read and write everything while the block runs."""
    if os.geteuid() != 0:
        yield
        return
    before = _capabilities()
    lowered = list(before)
    lowered[0] &= ~(1 << _DAC_OVERRIDE | 1 << _DAC_READ_SEARCH)
    _set(lowered)
    try:
        yield
    finally:
        _set(before)


def _capabilities() -> list[int]:
    """Effective, permitted and inheritable, twice 32 bits."""
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capget(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capget failed")
    return list(data)


def _set(values: list[int]) -> None:
    header, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)(*values)
    if ctypes.CDLL(None, use_errno=True).capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), "capset failed")
