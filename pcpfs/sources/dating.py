"""Since when the bytes of a file are true: by its time of modification, and by what is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pcpfs.model.answers import Skipped
from pcpfs.model.instants import Instant
from pcpfs.sources.scanned import Prefixes

_EARLIEST = -62_135_596_800_000_000
_LATEST = 253_402_300_799_999_999


@dataclass(frozen=True)
class LastScan:
    """The last look at all of a root: when it began (None: never), and what it left out."""

    at: Instant | None
    skipped: tuple[Skipped, ...]

    def missed(self, path: str) -> Instant | None:
        """When there was no file at a path where no page is open. None if there may have been one:
        nobody looked, or it was left out, which is no reason to say that it was not there."""
        return None if path in self._left_out else self.at

    @cached_property
    def _left_out(self) -> Prefixes:
        return Prefixes(skip.path for skip in self.skipped)


def valid_from_of(mtime_ns: int, last_seen: Instant | None, now: Instant) -> Instant:
    """Since when new bytes of a file are true: its mtime where that can be, else now.

    It can be if it lies after `last_seen`, the time at which the bytes before were last known to
    hold, or no file to be there (None where nothing is known). A modification time in the future
    stays as dated; one that no calendar holds does not.
    """
    modified = Instant.of_nanoseconds(mtime_ns)
    if not _EARLIEST <= modified.microseconds <= _LATEST:
        return now
    return modified if last_seen is None or modified > last_seen else now
