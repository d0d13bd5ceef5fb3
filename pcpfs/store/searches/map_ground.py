"""What a map of a source is drawn of: its files, their definitions, and how they refer to each
other. Ranks are kept in the catalog until the source changes."""

from __future__ import annotations

import json
import struct
import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.answers import Pins
from pcpfs.model.frames import FILE_KIND, Extraction, frame_ids
from pcpfs.model.ids import ChangeId, Digest, FrameId, PageId, RevisionId
from pcpfs.model.marks import ranks_lower
from pcpfs.model.names import Namespace
from pcpfs.model.shown import safe
from pcpfs.model.texts import decoded
from pcpfs.search.importance import (
    Definition,
    Focus,
    Importance,
    Place,
    References,
    importance,
    references,
)
from pcpfs.search.mentions import VERSION as MENTIONS
from pcpfs.search.mentions import family, is_code, mentions
from pcpfs.search.outline import NONE, Layout, by_worth
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import GroundRow, MentionRow, RootRow
from pcpfs.store.objects import Objects
from pcpfs.store.sightings import Sighting

_VERSION = f"2 {MENTIONS} {sys.byteorder}"
"""Of what is kept: the first number rises whenever something else would be drawn."""
_LONGEST_LINE = 160
_UNMENTIONED = 0.02
"""What a definition that nobody mentions gets of the rank of its file."""
_WITHOUT_SYMBOLS = 0.05
"""What the bare name of a file is worth, against the best that it may define."""


class SourceFile(NamedTuple):
    page_id: str
    path: str
    language: str | None
    revision_id: str
    digest: str | None
    adapter: str | None
    scope: str
    generated: int
    change_id: str

    @property
    def is_less(self) -> bool:
        """Whether it comes after the rest: a test, generated, by others."""
        return bool(self.generated) or ranks_lower(self.path)


class Symbol(NamedTuple):
    """`page_id` is that of its file."""

    page_id: str
    frame_id: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    line: int
    start: int
    end: int


class Ground(NamedTuple):
    """Files are told by their place in `Survey.files`, definitions by that in all of those files'
    definitions. `ranks` and `order` (`by_worth`) are what holds without a focus."""

    layout: Layout
    references: References
    ranks: array[float]
    order: array[int]

    def drawn(self, focus: Focus) -> tuple[Sequence[float], Sequence[int]]:
        """Ranks and order with a focus."""
        ranked = importance(self.references, focus)
        return ranked.places, _order(self.layout.files, ranked, focus)


@dataclass(frozen=True)
class Survey:
    """Looks at one source in one state of the catalog."""

    catalog: Catalog
    objects: Objects
    root: RootRow
    pins: Pins
    files: Sequence[SourceFile]

    @classmethod
    def of(cls, catalog: Catalog, objects: Objects, root: RootRow, pins: Pins) -> Survey:
        """With the files that hold under the pins, by path."""
        condition, parameters = holds(pins, "span")
        rows = catalog.query(
            "SELECT page.page_id, path, language, span.revision_id, revision.digest, "
            "span.adapter, page.scope, page.generated, span.change_id "
            "FROM page JOIN span USING (page_id) "
            "JOIN revision ON revision.revision_id = span.revision_id "
            f"WHERE root_id = ? AND lifecycle = 'active' AND {condition} "
            "ORDER BY path, page.page_id",
            (root.root_id, *parameters),
        )
        files = {row[0]: SourceFile(*row) for row in rows}
        return cls(catalog, objects, root, pins, list(files.values()))

    def symbols(self, files: Iterable[SourceFile] | None = None) -> dict[str, list[Symbol]]:
        """The definitions of all or some files by page, in the order of their bytes."""
        condition, pinned = holds(self.pins, "frame")
        parameters: tuple[object, ...] = pinned
        if files is not None:
            condition += " AND page.page_id IN (SELECT value FROM json_each(?))"
            parameters = (*pinned, json.dumps([file.page_id for file in files]))
        rows = self.catalog.query(
            "SELECT frame.revision_id, frame.page_id, frame_id, kind, name, qualified_name, "
            "signature, line_a, byte_a, byte_b FROM page JOIN frame USING (page_id) "
            f"WHERE root_id = ? AND kind <> ? AND {condition}",
            (self.root.root_id, FILE_KIND, *parameters),
        )
        holding = {file.page_id: file for file in self.files}
        moved = _Moved(self.objects)
        found = defaultdict(list)
        for revision, *columns in rows:
            symbol = Symbol(*columns)
            file = holding.get(symbol.page_id)
            if file is not None and revision != file.revision_id:
                symbol = moved.placed(file, symbol)
            found[symbol.page_id].append(symbol)
        for inside in found.values():
            inside.sort(key=_position)
        return found

    def named(self, name: str) -> list[tuple[str, str, str]]:
        """Definitions of that name, or dotted end of a name: page, frame and path of each."""
        condition, parameters = holds(self.pins, "frame")
        return self.catalog.query(
            "SELECT page.page_id, frame_id, path FROM page JOIN frame USING (page_id) "
            "WHERE root_id = ? AND kind <> ? AND lifecycle = 'active' "
            "AND (? IN (name, qualified_name) OR substr(qualified_name, -length(?)) = ?) "
            f"AND {condition} ORDER BY path, page.page_id, byte_a, frame_id",
            (self.root.root_id, FILE_KIND, name, f".{name}", f".{name}", *parameters),
        )

    def kept(self) -> Ground | None:
        """What the last map left, if nothing of the source has changed since."""
        rows = self.catalog.query(
            "SELECT arrays FROM ground WHERE root_id = ? AND version = ?",
            (self.root.root_id, _VERSION),
        )
        return _unpacked(rows[0][0]) if rows else None

    def made(self) -> tuple[Ground, GroundRow | None, list[MentionRow]]:
        """All anew, with what may be kept of it."""
        symbols = self.symbols()
        ordered = [symbols.get(file.page_id, []) for file in self.files]
        found, new, is_whole = self._mentioned()
        layout = _layout(self.files, ordered)
        refer = _references(self.files, ordered, found)
        ranked = importance(refer)
        order = _order(layout.files, ranked, None)
        ground = Ground(layout, refer, array("d", ranked.places), order)
        row = GroundRow(self.root.root_id, self.root.scope, _VERSION, _packed(ground))
        return ground, row if is_whole else None, new

    def _mentioned(self) -> tuple[dict[int, Mapping[str, int]], list[MentionRow], bool]:
        """What each file of code mentions, by its number; what nobody kept yet of that; and
        whether all could be read."""
        kept = self._mentions()
        found: dict[int, Mapping[str, int]] = {}
        new: list[MentionRow] = []
        is_whole = True
        for number, file in enumerate(self.files):
            if not is_code(file.language) or file.digest is None:
                continue
            if file.revision_id in kept:
                found[number] = json.loads(kept[file.revision_id])
                continue
            try:
                raw = self.objects.payload(Namespace(file.scope), Digest(file.digest))
            except (NotFound, Corrupt):  # fsck tells which
                is_whole = False
                continue
            names = found[number] = dict(mentions(decoded(raw), file.language))
            text = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
            new.append(MentionRow(file.page_id, file.scope, file.revision_id, MENTIONS, text))
        return found, new, is_whole

    def _mentions(self) -> dict[str, str]:
        rows = self.catalog.query(
            "SELECT mention.revision_id, names FROM page JOIN mention USING (page_id) "
            "WHERE root_id = ? AND version = ?",
            (self.root.root_id, MENTIONS),
        )
        return dict(rows)


class _Moved:
    """Where symbols stand in an earlier observation than the last that has them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._read: dict[str, Mapping[FrameId, tuple[int, int, int]]] = {}

    def placed(self, file: SourceFile, symbol: Symbol) -> Symbol:
        if file.page_id not in self._read:
            self._read[file.page_id] = self._places(file)
        place = self._read[file.page_id].get(FrameId(symbol.frame_id))
        if place is None:
            return symbol
        return symbol._replace(line=place[0], start=place[1], end=place[2])

    def _places(self, file: SourceFile) -> Mapping[FrameId, tuple[int, int, int]]:
        seen: Extraction | None = None
        if file.digest and file.adapter:
            revision, change = RevisionId(file.revision_id), ChangeId(file.change_id)
            sighting = Sighting(Digest(file.digest), file.adapter, revision, change)
            with suppress(NotFound, Corrupt):  # fsck tells which
                sightings, page = self._objects.sightings, PageId(file.page_id)
                seen = sightings.seen(Namespace(file.scope), page, sighting).extraction
        frames = frame_ids(PageId(file.page_id), seen.symbols) if seen else ()
        return {f.frame_id: (f.symbol.lines[0], *f.symbol.bytes) for f in frames}


def _references(
    files: Sequence[SourceFile],
    symbols: Sequence[Sequence[Symbol]],
    found: Mapping[int, Mapping[str, int]],
) -> References:
    """All that ranks are made of. Prose and data rank lower, since they refer to nobody."""
    places = [
        Place(
            file.path,
            family(file.language or ""),
            file.is_less or number not in found,
            found.get(number, {}),
        )
        for number, file in enumerate(files)
    ]
    definitions = [
        Definition(number, symbol.name, "." in symbol.qualified_name)
        for number, inside in enumerate(symbols)
        for symbol in inside
    ]
    return references(places, definitions)


def _layout(files: Sequence[SourceFile], symbols: Sequence[Sequence[Symbol]]) -> Layout:
    made = Layout(array("i"), array("i"), array("i"), array("i"))
    for number, (file, inside) in enumerate(zip(files, symbols, strict=True)):
        first = len(made.files)
        made.heads.append(_size(head(file)))
        for line, around in lines(inside):
            made.files.append(number)
            made.sizes.append(_size(line))
            made.around.append(NONE if around is None else first + around)
    return made


def head(file: SourceFile) -> str:
    """The line of a file."""
    return safe(file.path)


def lines(symbols: Sequence[Symbol]) -> Iterator[tuple[str, int | None]]:
    """The line of each definition of a file, and which one is around it. Names that one statement
    defines share the line of the first: those of the others are empty."""
    around: list[int] = []
    for number, symbol in enumerate(symbols):
        while around and symbols[around[-1]].end < symbol.end:
            around.pop()
        outer = around[-1] if around else None
        if outer is not None and _is_one(symbols[outer], symbol):
            yield "", outer
            continue
        yield _line(symbol, len(around)), outer
        around.append(number)


def _line(symbol: Symbol, depth: int) -> str:
    told = safe(symbol.signature or f"{symbol.kind} {symbol.name}")
    if len(told) > _LONGEST_LINE:
        told = told[:_LONGEST_LINE] + "…"
    return f"{symbol.line:>5} {'  ' * min(depth, 10)}{told}"


def _is_one(one: Symbol, other: Symbol) -> bool:
    told = (one.start, one.end, one.signature)
    return bool(one.signature) and told == (other.start, other.end, other.signature)


def _position(symbol: Symbol) -> tuple[int, int, str, str, str]:
    """Where a definition stands; ids, which every store has its own, tell last."""
    return symbol.start, -symbol.end, symbol.qualified_name, symbol.kind, symbol.frame_id


def _size(line: str) -> int:
    return len(line.encode()) + 1 if line else 0


def _order(files: Sequence[int], ranked: Importance, focus: Focus | None) -> array[int]:
    """Definitions that are mentioned much, in files that matter; each next one of a file is worth
    less, so that others come up. What is asked for comes first."""
    worths = [0.0] * len(files)
    best: dict[int, float] = {}
    members: dict[int, list[int]] = defaultdict(list)
    for number, file in enumerate(files):
        members[file].append(number)
    for file, inside in members.items():
        rank = ranked.places[file]
        for number in inside:
            worths[number] = sqrt((ranked.definitions[number] + _UNMENTIONED * rank) * rank)
        for before, number in enumerate(sorted(inside, key=worths.__getitem__, reverse=True)):
            worths[number] /= sqrt(1 + before)
    for number, weight in (focus.definitions if focus else {}).items():
        worths[number] += weight
    for file, inside in members.items():
        best[file] = max(worths[number] for number in inside)
    heads = [best.get(file, rank) * _WITHOUT_SYMBOLS for file, rank in enumerate(ranked.places)]
    return by_worth(heads, worths)


_CODES = "iiiidiidiidi"
"""The types of all arrays of a ground, in their order."""
_LENGTH = struct.Struct("<Q")


def _packed(ground: Ground) -> bytes:
    """The arrays of a ground, each behind its length in bytes."""
    arrays = (*ground.layout, *ground.references, ground.ranks, ground.order)
    return b"".join(part for a in arrays for part in (_LENGTH.pack(len(a) * a.itemsize), bytes(a)))


def _unpacked(raw: bytes) -> Ground:
    arrays: list[array[Any]] = []
    at = 0
    for code in _CODES:
        start = at + _LENGTH.size
        at = start + _LENGTH.unpack_from(raw, at)[0]
        arrays.append(array(code, raw[start:at]))
    return Ground(Layout(*arrays[:4]), References(*arrays[4:10]), *arrays[10:])
