"""What this machine remembers of the files of one root, so that it need not read them again.

Disposable: a cache that cannot be read is an empty one. A digest is believed only while inode,
size, mtime and ctime are the same and the file had been quiet for a while when it was read: a later
change within the same tick of the file system's clock would not show. Times of modification tick
every two seconds in the worst case; times of change cannot be set back and tick by the kernel's
clock.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.sources.scanned import Prefixes, Reason, Scan, Stat

_MAGIC = b"pcpfs-statcache-3\n"
"""The number rises when files must be read again: since 2 those with a secret are withheld. 3
also holds mount points."""
_MODIFIED_QUIET_NS = 2_000_000_000
_CHANGED_QUIET_NS = 100_000_000
_HEADER = struct.Struct("<qQQ")
_RECORD = struct.Struct("<QQqqqq?32s")
_NO_DIGEST = bytes(32)


class Entry(NamedTuple):
    """One file as it was read at `read_at`; it was last known to hold the same bytes at `seen`.

    `digest` is None for a binary file, which is not taken in.
    """

    stat: Stat
    read_at: Instant
    seen: Instant
    digest: Digest | None

    def trusted(self, stat: Stat) -> bool:
        """Whether a file with this stat must hold the bytes that were read."""
        read_ns = self.read_at.microseconds * 1000
        return (
            stat == self.stat
            and stat.mtime_ns < read_ns - _MODIFIED_QUIET_NS
            and stat.ctime_ns < read_ns - _CHANGED_QUIET_NS
        )


class StatCache:
    """An immutable mapping from path to Entry, the device of the root (-1: never seen), and where
    other devices were mounted below it.

    Entries stay packed until they are asked for: a watcher asks for one of many thousands.
    """

    __slots__ = ("_asked", "_records", "device", "mounts")

    def __init__(
        self,
        records: Mapping[str, bytes] | None = None,
        device: int = -1,
        mounts: Collection[str] = (),
    ) -> None:
        self._records: Mapping[str, bytes] = records or {}
        self._asked: dict[str, Entry] = {}
        self.device = device
        self.mounts = frozenset(mounts)

    @classmethod
    def of(
        cls, entries: Mapping[str, Entry], device: int, mounts: Collection[str] = ()
    ) -> StatCache:
        return cls({path: _pack(entry) for path, entry in entries.items()}, device, mounts)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, path: str) -> Entry | None:
        record = self._records.get(path)
        if record is not None and path not in self._asked:
            self._asked[path] = _unpack(record)
        return self._asked.get(path)

    def last_seen(self, path: str) -> Instant | None:
        """When this file was last known to hold the bytes that were last read from it."""
        entry = self.get(path)
        return entry.seen if entry else None

    def after(self, scan: Scan, now: Instant) -> StatCache:
        """The cache after a settled scan. `now` must lie before the first file was read."""
        unread, covered = Prefixes(skip.path for skip in scan.unreadable), Prefixes(scan.covered)
        records = {
            path: record
            for path, record in self._records.items()
            if path in unread or path not in covered
        }
        mounts = {path for path in self.mounts if path in unread or path not in covered}
        for file in scan.files:
            if file.digest is not None:
                records[file.path] = self._record(file.path, file.stat, file.digest, now)
        for skip in scan.skipped:
            if skip.reason is Reason.BINARY and skip.stat is not None:
                records[skip.path] = self._record(skip.path, skip.stat, None, now)
        device = self.device if scan.device is None else scan.device
        return StatCache(records, device, mounts.union(scan.mounts))

    def _record(self, path: str, stat: Stat, digest: Digest | None, now: Instant) -> bytes:
        known = self.get(path)
        believed = known is not None and known.digest == digest and known.trusted(stat)
        return _pack(Entry(stat, known.read_at if known and believed else now, now, digest))

    def to_bytes(self) -> bytes:
        """A compact file of fixed records, guarded by a checksum."""
        records = b"".join(self._records.values())
        listed = [*self._records, *sorted(self.mounts)]
        names = "\0".join(listed).encode("utf-8", "surrogateescape")
        body = _HEADER.pack(self.device, len(self._records), len(self.mounts)) + records + names
        return _MAGIC + hashlib.sha256(body).digest() + body

    @classmethod
    def from_bytes(cls, raw: bytes) -> StatCache:
        """Read what `to_bytes` wrote; anything else gives an empty cache."""
        start = len(_MAGIC) + 32
        body = raw[start:]
        if not raw.startswith(_MAGIC) or hashlib.sha256(body).digest() != raw[start - 32 : start]:
            return cls()
        device, count, mounts = _HEADER.unpack_from(body)
        end = _HEADER.size + count * _RECORD.size
        names = body[end:].decode("utf-8", "surrogateescape").split("\0") if count + mounts else []
        starts = range(_HEADER.size, end, _RECORD.size)
        records = [body[start : start + _RECORD.size] for start in starts]
        return cls(dict(zip(names[:count], records, strict=True)), device, names[count:])

    def save(self, write: Callable[[bytes], None]) -> None:
        write(self.to_bytes())


def _pack(entry: Entry) -> bytes:
    known = entry.digest is not None
    digest = bytes.fromhex(entry.digest.hex) if entry.digest is not None else _NO_DIGEST
    return _RECORD.pack(
        *entry.stat, entry.read_at.microseconds, entry.seen.microseconds, known, digest
    )


def _unpack(record: bytes) -> Entry:
    inode, size, mtime, ctime, read_at, seen, known, digest = _RECORD.unpack(record)
    return Entry(
        Stat(inode, size, mtime, ctime),
        Instant(read_at),
        Instant(seen),
        Digest("sha256:" + digest.hex()) if known else None,
    )
