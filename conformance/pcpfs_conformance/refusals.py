"""Checking that something is refused, also where pytest is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from pcpfs.errors import PcpfsError


@dataclass(slots=True)
class Caught:
    """The error by which something was refused."""

    value: PcpfsError = field(default_factory=lambda: PcpfsError("nothing was refused"))


@contextmanager
def refused(kind: type[PcpfsError]) -> Iterator[Caught]:
    """What is in the block must be refused by an error of this kind."""
    caught = Caught()
    try:
        yield caught
    except kind as error:
        caught.value = error
    else:
        raise AssertionError(f"this was not refused by {kind.__name__}")
