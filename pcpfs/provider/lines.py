"""Lines of a stream, and a turn for whoever serves when none comes for a while."""

from __future__ import annotations

import io
import os
import select
from collections.abc import Callable, Iterator
from typing import BinaryIO

IDLE_SECONDS = 0.5
_PART = 1 << 16


def lines_of(stream: BinaryIO, longest: int, idle: Callable[[], None]) -> Iterator[bytes]:
    """Lines that are not blank; of one that is too long only the beginning. `idle` is called every
    half second in which nothing comes, where the system can tell (pipes and terminals of Unix)."""
    read = _waiting(stream, idle)
    held = bytearray()
    is_rest = False
    while part := read():
        held += part
        while (end := held.find(b"\n")) >= 0 or len(held) >= longest:
            size = min(end + 1 or longest, longest)
            line = bytes(held[:size])
            del held[:size]
            if not is_rest and line.strip(b" \t\r\n\xef\xbb\xbf"):
                yield line
            is_rest = not line.endswith(b"\n")
    if held.strip() and not is_rest:
        yield bytes(held)


def _waiting(stream: BinaryIO, idle: Callable[[], None]) -> Callable[[], bytes]:
    """A function that gives what has come, empty at the end."""
    try:
        descriptor = stream.fileno()
        select.select([descriptor], [], [], 0)
    except (AttributeError, io.UnsupportedOperation, OSError, ValueError):
        return stream.readline

    def read() -> bytes:
        while not select.select([descriptor], [], [], IDLE_SECONDS)[0]:
            idle()
        return os.read(descriptor, _PART)

    return read
