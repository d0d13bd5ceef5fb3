"""One segment of a Whoosh index in Whoosh's own format (W3), written and read in bulk.

The format is the stock one: `whoosh.index.open_dir` reads what we write. The stock writer spends
some 60 calls on a posting, the stock matcher one on each document; here a posting list is one
block, packed and unpacked by C. A segment is two dictionaries away from our port: the field `term`
has the posting lists, their values are POSTING_BYTES wide; the columns `key` and `row` describe
the documents.
"""

from __future__ import annotations

import mmap
import re
import sys
import zlib
from array import array
from binascii import crc32
from collections.abc import Iterator, Sequence, Set
from itertools import accumulate, compress
from operator import sub
from pickle import dumps, loads
from struct import Struct

from whoosh import columns, fields, formats  # type: ignore[import-untyped]
from whoosh.codec.whoosh3 import WHOOSH3_HEADER_MAGIC, W3Codec, W3Segment, W3TermInfo  # type: ignore[import-untyped]
from whoosh.filedb.filestore import FileStorage  # type: ignore[import-untyped]
from whoosh.filedb.filetables import HashWriter, OrderedHashReader, OrderedHashWriter  # type: ignore[import-untyped]
from whoosh.filedb.structfile import StructFile  # type: ignore[import-untyped]
from whoosh.util.numlists import GrowableArray  # type: ignore[import-untyped]

from pcpfs.errors import Corrupt
from pcpfs.ports import NO_POSTINGS, POSTING_BYTES, Postings
from pcpfs_index.inversion import ROW, Inversion, PostingList

_PICKLE = 3  # the first with bytes; any is read
_FIELD_NUMBER = b"\x00\x00"  # `term` is the only indexed field
_BLOCK_LENGTH = Struct("!i")
_EXTENT = Struct("!qi")
_ENTRY = Struct("!ii")
_INFO: Struct = W3TermInfo._struct
_COMPRESSED_FROM = 16  # postings; below, it does not pay
_CRC = 1  # of Whoosh's hash functions


class PostingFormat(formats.Format):  # type: ignore[misc]  # Whoosh is untyped
    """Tells Whoosh that the values of postings have POSTING_BYTES bytes each."""

    posting_size = POSTING_BYTES


KEY_COLUMN = columns.VarBytesColumn()
ROW_COLUMN = columns.StructColumn(f"!{ROW}I", (0,) * ROW)


def schema() -> fields.Schema:
    return fields.Schema(
        key=fields.COLUMN(KEY_COLUMN),
        row=fields.COLUMN(ROW_COLUMN),
        term=fields.FieldType(PostingFormat(), None),
    )


class Segment(W3Segment):  # type: ignore[misc]  # Whoosh is untyped
    """The entry of a segment in the table of contents, with the sums over all its documents."""

    holders: tuple[int, ...]
    totals: tuple[int, ...]
    sizes: dict[str, int]  # of each file: a torn write is found at open


def _free_name(storage: FileStorage, index_name: str) -> str:
    """A name greater than that of every segment that is or was begun here; under the write lock.

    Whoosh's own names are drawn from the generator that every program may seed.
    """
    pattern = re.compile(rf"{index_name}_([0-9a-f]{{16}})\.")
    taken = [int(m[1], 16) for name in storage.list() if (m := pattern.match(name))]
    return f"{max(taken, default=0) + 1:016x}"


def write_segment(storage: FileStorage, inversion: Inversion, index_name: str) -> Segment:
    """Write all files of a new segment; it counts once a table of contents names it."""
    segment = Segment(W3Codec(), index_name, len(inversion.keys))
    segment.segid = _free_name(storage, index_name)
    segment._fieldlengths = {}  # what the stock reader asks for
    segment.holders, segment.totals = inversion.holders(), inversion.totals()
    for number in inversion.replaced:
        segment.delete_document(number)
    _write_postings(storage, segment, inversion.lists())
    _write_keys(storage, segment, inversion.keys)
    _write_rows(storage, segment, inversion.rows)
    segment.sizes = {name: storage.file_length(name) for name in segment.list_files(storage)}
    return segment


def _write_keys(storage: FileStorage, segment: Segment, keys: Sequence[str]) -> None:
    with storage.create_file(W3Codec.column_filename(segment, "key")) as file:
        writer = KEY_COLUMN.writer(file)
        for number, key in enumerate(keys):
            writer.add(number, _encoded(key))
        writer.finish(len(keys))


def _write_rows(storage: FileStorage, segment: Segment, rows: array[int]) -> None:
    with storage.create_file(W3Codec.column_filename(segment, "row")) as file:
        file.write(_swapped(rows).tobytes())


def _write_postings(
    storage: FileStorage, segment: Segment, lists: Iterator[tuple[str, PostingList]]
) -> None:
    dictionary = _DictionaryWriter(segment.create_file(storage, W3Codec.TERMS_EXT))
    known = _Blocks()
    with segment.create_file(storage, W3Codec.POSTS_EXT) as file:
        write = file.raw_file().write
        offset = write(b"\x00")  # an empty file cannot be mapped
        for term, postings in lists:
            short = len(postings) == 2
            block, about = known[postings[0], postings[1]] if short else _described(postings)
            dictionary.add(_FIELD_NUMBER + _encoded(term), about + _EXTENT.pack(offset, len(block)))
            offset += write(block)
    dictionary.close()


class _Blocks(dict[tuple[int, int], tuple[bytes, bytes]]):
    """The block of a term that one document has: most terms are such, and many of them alike."""

    def __missing__(self, posting: tuple[int, int]) -> tuple[bytes, bytes]:
        made = self[posting] = _described(list(posting))
        return made


def _described(postings: PostingList) -> tuple[bytes, bytes]:
    return _block(postings), _term_info(postings)


def _block(postings: PostingList) -> bytes:
    """A posting list as the one, last block of the stock format: deltas, no weights, values."""
    numbers = postings[::2]
    deltas = (numbers[0], *map(sub, numbers[1:], numbers))
    content = dumps((deltas, None, _little(array("Q", postings[1::2])).tobytes()), _PICKLE)
    compression = 1 if len(numbers) >= _COMPRESSED_FROM else 0
    if compression:
        content = zlib.compress(content, compression)
    about = dumps((len(numbers), numbers[-1], 1.0, compression, 1, 1), _PICKLE)
    length = _BLOCK_LENGTH.pack(-(len(about) + len(content)))
    return b"".join((WHOOSH3_HEADER_MAGIC, length, about, content))


def _term_info(postings: PostingList) -> bytes:
    """What Whoosh keeps of a term: weight, documents, lengths, weight, first and last number."""
    count = len(postings) // 2
    packed: bytes = _INFO.pack(0, count, count, 1, 1, 1.0, postings[0], postings[-2])
    return packed


class _DictionaryWriter(OrderedHashWriter):  # type: ignore[misc]  # Whoosh is untyped
    """Whoosh's ordered hash file with CRC in place of MD5, one write an entry."""

    def __init__(self, file: StructFile) -> None:
        HashWriter.__init__(self, file, hashtype=_CRC)
        self.index = GrowableArray("H")
        self.extras["fieldmap"] = {"term": 0}
        self._write = file.raw_file().write
        self._position = file.tell()

    def add(self, key: bytes, value: bytes) -> None:
        position = self._position
        self.index.append(position)
        hashed = crc32(key)
        self.buckets[hashed & 255].append((hashed, position))
        self._position += self._write(_ENTRY.pack(len(key), len(value)) + key + value)


class SegmentReader:
    """A segment as it was when it was opened; its files stay readable after they are removed."""

    def __init__(
        self, storage: FileStorage, segment: Segment, known: Sequence[SegmentReader] = ()
    ) -> None:
        self.segment = segment
        self.count: int = segment.doc_count_all()
        self.deleted = frozenset(segment.deleted_docs())
        self._keys: list[str] | None = None
        self._numbers: dict[str, int] | None = None
        for other in known:
            if other.segment == segment:
                self._keys, self._numbers = other._keys, other._numbers
        self._maps: list[mmap.mmap] = []
        self._storage = storage
        try:
            self._postings = self._map(segment.make_filename(W3Codec.POSTS_EXT))
            self._keys_file = self._map(W3Codec.column_filename(segment, "key"))
            self._rows_file = self._map(W3Codec.column_filename(segment, "row"))
            terms = self._map(segment.make_filename(W3Codec.TERMS_EXT))
            self._terms = OrderedHashReader(StructFile(terms), len(terms))
        except BaseException:
            self.close()
            raise

    def _map(self, name: str) -> mmap.mmap:
        with open(self._storage._fpath(name), "rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._maps.append(mapped)
        if len(mapped) != self.segment.sizes[name]:
            raise Corrupt(f"{name} of the index has {len(mapped)} bytes, not as written")
        return mapped

    def close(self) -> None:
        while self._maps:
            self._maps.pop().close()

    @property
    def live(self) -> int:
        return self.count - len(self.deleted)

    @property
    def holders(self) -> tuple[int, ...]:
        return self.segment.holders

    @property
    def totals(self) -> tuple[int, ...]:
        return self.segment.totals

    def delete(self, keys: Set[str]) -> None:
        """Mark these documents as gone, here and in the segment's entry."""
        if self._numbers is None and keys:
            self._numbers = {key: number for number, key in enumerate(self.keys())}
        numbers = self._numbers or {}
        for key in keys & numbers.keys():
            self.segment.delete_document(numbers[key])
        self.deleted = frozenset(self.segment.deleted_docs())

    def keys(self) -> list[str]:
        """The key of each document; dead ones too."""
        if self._keys is None:
            file = self._keys_file
            reader = KEY_COLUMN.reader(StructFile(file), 0, len(file), self.count)
            pairs = zip(reader._offsets, reader._lengths, strict=True)
            self._keys = [_decoded(file[start : start + length]) for start, length in pairs]
        return self._keys

    def rows(self) -> array[int]:
        return _swapped(array("I", bytes(self._rows_file)))

    def postings(self, term: str, base: int = 0) -> Postings:
        """The live documents, numbered from `base`."""
        entry = self._terms.get(_FIELD_NUMBER + _encoded(term))
        return NO_POSTINGS if entry is None else self._live(*self._read(entry), base)

    def _read(self, entry: bytes) -> tuple[tuple[int, ...], bytes]:
        offset, length = _EXTENT.unpack_from(entry, _INFO.size)
        block = self._postings[offset : offset + length]
        if block[:4] != WHOOSH3_HEADER_MAGIC:
            raise Corrupt("a posting list of the index does not start as it should")
        about = loads(block[8:])
        content = block[8 + len(dumps(about, _PICKLE)) :]
        deltas, _, values = loads(zlib.decompress(content) if about[3] else content)
        return deltas, values

    def _live(self, deltas: tuple[int, ...], values: bytes, base: int) -> Postings:
        if self.deleted:
            numbers = list(accumulate(deltas))
            if not self.deleted.isdisjoint(numbers):
                return self._without_deleted(numbers, values, base)
        return Postings(list(accumulate((deltas[0] + base, *deltas[1:]))), values)

    def _without_deleted(self, numbers: list[int], values: bytes, base: int) -> Postings:
        alive = [number not in self.deleted for number in numbers]
        if not any(alive):
            return NO_POSTINGS
        packed = array("Q", compress(array("Q", values), alive))
        return Postings([base + n for n in compress(numbers, alive)], packed.tobytes())

    def terms_from(self, prefix: str) -> Iterator[str]:
        start = _FIELD_NUMBER + _encoded(prefix)
        for key in self._terms.keys_from(start):
            if not key.startswith(start):
                return
            yield _decoded(key[2:])

    def pour(self, into: Inversion) -> None:
        """Append all live documents to an inversion."""
        keys, rows = self.keys(), self.rows()
        renumbered = {
            number: into.add_row(key, rows[number * ROW : (number + 1) * ROW])
            for number, key in enumerate(keys)
            if number not in self.deleted
        }
        for key, entry in self._terms.items_from(_FIELD_NUMBER):
            postings = self._live(*self._read(entry), 0)
            if postings.documents:
                packed = _little(array("Q", postings.counts))
                into.extend(
                    _decoded(key[2:]), map(renumbered.__getitem__, postings.documents), packed
                )


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogatepass")


def _swapped(numbers: array[int]) -> array[int]:
    """Between this machine's order of bytes and that of the format, big-endian."""
    return numbers if sys.byteorder == "big" else _byteswapped(numbers)


def _little(numbers: array[int]) -> array[int]:
    """Between this machine's order of bytes and that of Postings.counts, little-endian."""
    return numbers if sys.byteorder == "little" else _byteswapped(numbers)


def _byteswapped(numbers: array[int]) -> array[int]:
    swapped = numbers[:]
    swapped.byteswap()
    return swapped
