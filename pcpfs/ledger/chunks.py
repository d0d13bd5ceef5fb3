"""Chunks: the columns and words of some thousand entries as one file, of which any part can be
read and checked by itself.

The first line is a header, in JSON: each part's size and digest, in the order in which they follow.
A chunk is known by the digest of its header, so whoever trusts that can trust every part. There is
a part for each column, one for where the entries stand in the store, and one for each bucket: the
words whose checksum leads there, with the entries that have them.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import accumulate
from typing import NamedTuple
from zlib import crc32

from pcpfs.errors import Corrupt
from pcpfs.ledger.columns import Columns
from pcpfs.ledger.corpus import LedgerEntry, Postings, keys_of
from pcpfs.ledger.words import Words

CHUNK = 4096
BUCKETS = 128
COLUMNS = {"importance": "d", "moments": "q", "letters": "I", "marks": "B", "goals": "I"}
LENGTHS, NAMES, LINES = "lengths", "names", "lines"
FRONT = (*COLUMNS, LENGTHS, NAMES)
"""The parts that come first in a chunk: every question needs them."""
REVISION_BYTES, SEAL_BYTES = 32, 16
LINE_BYTES = REVISION_BYTES + SEAL_BYTES
"""Of each entry: the digest in its revision's id, then the seal of its line."""


class Line(NamedTuple):
    """An entry in its order, and how its line is known again."""

    found: LedgerEntry
    seal: bytes

    @property
    def key(self) -> bytes:
        return line_key(self.found.revision_id or "", self.seal)


def line_key(revision_id: str, seal: bytes) -> bytes:
    return bytes.fromhex(revision_id.removeprefix("rev_")) + seal


def digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


class Named(NamedTuple):
    """A chunk by its header: what its digest is, how many bytes it has, and how many it has with
    the columns behind it, which are read together."""

    digest: str
    size: int
    front: int


Read = Callable[[int, int], bytes]
"""Bytes of a file: from where, how many."""


class Parts:
    """The parts of a chunk that is on the shelf. Corrupt for what is not as it was written."""

    def __init__(self, named: Named, read: Read) -> None:
        self._front = read(0, named.front)
        raw = self._front[: named.size]
        if digest(raw) != named.digest:
            raise Corrupt("a cached chunk is not the one that belongs there")
        header: dict[str, tuple[int, str]] = json.loads(raw)
        ends = accumulate((size for size, _ in header.values()), initial=named.size)
        self._places = dict(zip(header, ends, strict=False))
        self._header = header
        self._read = read

    def names(self) -> Iterable[str]:
        return self._header

    def part(self, name: str) -> bytes:
        size, expected = self._header[name]
        start = self._places[name]
        is_here = start + size <= len(self._front)
        raw = self._front[start : start + size] if is_here else self._read(start, size)
        if digest(raw) != expected:
            raise Corrupt("a part of a cached chunk is damaged")
        return raw


def packed(parts: Mapping[str, bytes]) -> tuple[Named, bytes]:
    """A chunk of these parts: its name, and the bytes of its file."""
    about = {name: (len(raw), digest(raw)) for name, raw in parts.items()}
    header = json.dumps(about, separators=(",", ":")).encode() + b"\n"
    front = len(header) + sum(len(parts[name]) for name in FRONT)
    return Named(digest(header), len(header), front), header + b"".join(parts.values())


def bucket_of(key: str) -> str:
    """The part in which a key is looked for."""
    return f"{crc32(key.encode()) % BUCKETS:02x}"


def in_bucket(raw: bytes, key: str) -> tuple[bytes, bytes] | None:
    """Positions and counts of the entries under a key, in one bucket; None if it has none."""
    head, _, rows = raw.partition(b"\n")
    sizes: dict[str, int] = json.loads(head)
    if key not in sizes:
        return None
    start = 0
    for one, size in sizes.items():
        if one == key:
            break
        start += size
    width, middle = array("I").itemsize, len(rows) // 2
    first, last = start * width, (start + sizes[key]) * width
    return rows[first:last], rows[middle + first : middle + last]


def _opened(raw: bytes) -> dict[str, Postings]:
    """All that a bucket holds."""
    head, _, rows = raw.partition(b"\n")
    positions, counts = array("I"), array("I")
    positions.frombytes(rows[: len(rows) // 2])
    counts.frombytes(rows[len(rows) // 2 :])
    found: dict[str, Postings] = {}
    start = 0
    for key, size in json.loads(head).items():
        end = start + size
        found[key] = Postings(positions[start:end], counts[start:end])
        start = end
    return found


def _closed(held: Mapping[str, Postings]) -> bytes:
    sizes = {key: len(postings.positions) for key, postings in held.items()}
    head = json.dumps(sizes, separators=(",", ":")).encode() + b"\n"
    positions = b"".join(postings.positions.tobytes() for postings in held.values())
    return head + positions + b"".join(postings.counts.tobytes() for postings in held.values())


_EMPTY = _closed({})


@dataclass(slots=True)
class Draft:
    """A chunk that is being filled. `start` is the position of its first entry."""

    start: int
    columns: Columns = field(default_factory=Columns)
    lengths: array[int] = field(default_factory=lambda: array("I"))
    lines: bytearray = field(default_factory=bytearray)
    _buckets: dict[str, bytes] = field(default_factory=dict)
    _new: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    """Positions and counts by key, of what is in no bucket yet."""

    @classmethod
    def of(cls, start: int, parts: Parts) -> Draft:
        """What a chunk on the shelf holds, to be gone on with."""
        raw = {name: parts.part(name) for name in parts.names()}
        draft = cls(start)
        for name in COLUMNS:
            getattr(draft.columns, name).frombytes(raw.pop(name))
        for goal in json.loads(raw.pop(NAMES)):
            draft.columns.number(goal)
        draft.lengths.frombytes(raw.pop(LENGTHS))
        draft.lines += raw.pop(LINES)
        draft._buckets = raw
        return draft

    @property
    def end(self) -> int:
        return self.start + len(self.lengths)

    def add(self, line: Line, words: Words) -> None:
        position = self.end
        counts, others = keys_of(words, line.found.entry)
        for key, count in (*counts.items(), *((key, 1) for key in others)):
            held = self._new.get(key)
            if held is None:
                self._new[key] = [position], [count]
            else:
                held[0].append(position)
                held[1].append(count)
        self.columns.add(line.found.entry)
        self.lengths.append(sum(counts.values()))
        self.lines += line.key

    def parts(self) -> dict[str, bytes]:
        """All parts; each of them is there in every chunk."""
        found = {name: getattr(self.columns, name).tobytes() for name in COLUMNS}
        found[LENGTHS] = self.lengths.tobytes()
        found[NAMES] = json.dumps(list(self.columns.names)).encode()
        found[LINES] = bytes(self.lines)
        self._sort_in()
        for number in range(BUCKETS):
            bucket = f"{number:02x}"
            found[bucket] = self._buckets.get(bucket, _EMPTY)
        return found

    def _sort_in(self) -> None:
        """Put what is new into its buckets."""
        new: dict[str, list[str]] = {}
        for key in self._new:
            new.setdefault(bucket_of(key), []).append(key)
        for bucket, keys in new.items():
            held = _opened(self._buckets.get(bucket, _EMPTY))
            for key in keys:
                postings = held.setdefault(key, Postings())
                for column, values in zip(
                    (postings.positions, postings.counts), self._new[key], strict=True
                ):
                    column.extend(values)
            self._buckets[bucket] = _closed(held)
        self._new.clear()


def columns_of(chunks: Iterable[Parts]) -> tuple[Columns, array[int]]:
    """The columns of many chunks, and the lengths, one after the other."""
    columns, lengths = Columns(), array("I")
    for parts in chunks:
        for name in COLUMNS.keys() - {"goals"}:
            getattr(columns, name).frombytes(parts.part(name))
        columns.goals.extend(_goals_of(parts, columns))
        lengths.frombytes(parts.part(LENGTHS))
    return columns, lengths


def _goals_of(parts: Parts, columns: Columns) -> Iterator[int]:
    """The goals of a chunk in the numbers of all chunks."""
    numbers = [columns.number(goal) for goal in json.loads(parts.part(NAMES))]
    own = array("I")
    own.frombytes(parts.part("goals"))
    return map(numbers.__getitem__, own)
