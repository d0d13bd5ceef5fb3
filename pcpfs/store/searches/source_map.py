"""A map of a source: its files and definitions by what else refers to them, within a budget."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from pcpfs.errors import Busy, Corrupt, NotFound, ReadOnly, StorageFull, UsageError
from pcpfs.model.answers import MappedFile, MappedSymbol, Pins, SourceMap
from pcpfs.model.frames import FILE_KIND, Extraction, frame_ids
from pcpfs.model.ids import Digest, FrameId, PageId, RevisionId
from pcpfs.model.marks import ranks_lower
from pcpfs.model.names import Namespace, escaped
from pcpfs.model.requests import DEFAULT_TOKENS, MOST_RESULTS, SYMBOL, Filters
from pcpfs.model.shown import safe
from pcpfs.model.texts import decoded
from pcpfs.search.importance import Definition, Focus, Importance, Place, importance
from pcpfs.search.mentions import VERSION, family, is_code, mentions
from pcpfs.search.outline import Entry, Outline, Sheet, outline
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import MentionRow, RootRow
from pcpfs.store.objects import Objects
from pcpfs.store.reading import Reader
from pcpfs.store.searches.search_request import NOW
from pcpfs.store.session import Session

MOST_TOKENS = 262_144
_LONGEST_LINE = 160
_FOUND_BY_WORDS = 20
_UNMENTIONED = 0.02
"""What a definition that nobody mentions gets of the rank of its file."""
_TESTS = 0.2
"""What tests and generated code weigh where names and words are asked for."""
_WITHOUT_SYMBOLS = 0.05
"""What the bare name of a file is worth, against the best that it may define."""


def source_map(
    session: Session,
    source: str | None = None,
    *,
    focus: Sequence[str] = (),
    budget: int = DEFAULT_TOKENS,
    pins: Pins = NOW,
) -> SourceMap:
    """The files and definitions of a source that matter most, in at most `budget` tokens.

    `source` is a root by name or id; it may be left away where there is only one. Each `focus` is
    the path of a file or a folder, else the name of a symbol, else words: then what is near matters
    most. NotFound for a source or a focus that is not there, UsageError for one of several.
    """
    if not 1 <= budget <= MOST_TOKENS:
        raise UsageError(f"a budget is between 1 and {MOST_TOKENS} tokens, not {budget}")
    reader = session.reader(pins)
    root = _root(reader, source)
    with reader.catalog.snapshot():
        files = _files(reader, root, pins)
        symbols = _symbols(reader, root, files, pins, session.store.objects)
        kept = _kept(reader, root)
    found = _mentioned(files, kept, session.store.objects)
    if pins == NOW:
        _keep(session, found.values())
    ground = _Ground(root, files, symbols, found)
    files_shown, made = ground.drawn(_focus(session, ground, focus, pins), budget)
    return SourceMap(
        root=root.name,
        scope=root.scope,
        token_budget=budget,
        token_count=made.token_count,
        files=files_shown,
        left_out={
            "files": len(files) - len(files_shown),
            "symbols": len(symbols) - sum(len(file.symbols) for file in files_shown),
        },
        text=made.text,
        focus=tuple(focus),
        as_of=pins.as_of,
        recorded_as_of=pins.recorded_as_of,
    )


class _File(NamedTuple):
    page_id: str
    path: str
    language: str | None
    revision_id: str
    digest: str | None
    adapter: str | None
    scope: str


class _Symbol(NamedTuple):
    """`file` is the number of its file; symbols are in the order of files and bytes."""

    file: int
    frame_id: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    line: int
    start: int
    end: int


def _root(reader: Reader, source: str | None) -> RootRow:
    roots = reader.catalog.roots()
    found = [row for row in roots if source in (None, row.name, row.root_id)]
    if not found and source is None:
        raise NotFound("no source was taken in yet; see pcpfs add")
    if not found:
        raise NotFound(f"there is no source {source!r}; see pcpfs ls /sources")
    if len(found) > 1 and source is None:
        names = ", ".join(sorted({row.name for row in found})[:10])
        raise UsageError(f"there are {len(found)} sources; say which: {names}")
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} sources are called {source!r}; give an id",
            candidates=[row.root_id for row in found],
        )
    return found[0]


def _files(reader: Reader, root: RootRow, pins: Pins) -> list[_File]:
    """The files that hold under the pins, by path."""
    condition, parameters = holds(pins, "span")
    rows = reader.catalog.query(
        "SELECT page.page_id, path, language, span.revision_id, revision.digest, span.adapter, "
        "page.scope FROM page JOIN span USING (page_id) "
        "JOIN revision ON revision.revision_id = span.revision_id "
        f"WHERE root_id = ? AND lifecycle = 'active' AND {condition} ORDER BY path, page.page_id",
        (root.root_id, *parameters),
    )
    return list({row[0]: _File(*row) for row in rows}.values())


def _symbols(
    reader: Reader, root: RootRow, files: Sequence[_File], pins: Pins, objects: Objects
) -> list[_Symbol]:
    condition, parameters = holds(pins, "frame")
    rows = reader.catalog.query(
        "SELECT frame.page_id, frame.revision_id, frame_id, kind, name, qualified_name, signature, "
        "line_a, byte_a, byte_b FROM page JOIN frame USING (page_id) "
        f"WHERE root_id = ? AND kind <> ? AND {condition}",
        (root.root_id, FILE_KIND, *parameters),
    )
    numbers = {file.page_id: number for number, file in enumerate(files)}
    found = []
    moved = _Moved(objects)
    for page, revision, *columns in rows:
        number = numbers.get(page)
        if number is None:
            continue
        symbol = _Symbol(number, *columns)
        if revision != files[number].revision_id:
            symbol = moved.placed(files[number], symbol)
        found.append(symbol)
    return sorted(found, key=lambda s: (s.file, s.start, -s.end, s.frame_id))


class _Moved:
    """Where symbols stand in an earlier observation than the last that has them."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._read: dict[str, Mapping[FrameId, tuple[int, int, int]]] = {}

    def placed(self, file: _File, symbol: _Symbol) -> _Symbol:
        if file.page_id not in self._read:
            self._read[file.page_id] = self._places(file)
        place = self._read[file.page_id].get(FrameId(symbol.frame_id))
        if place is None:
            return symbol
        return symbol._replace(line=place[0], start=place[1], end=place[2])

    def _places(self, file: _File) -> Mapping[FrameId, tuple[int, int, int]]:
        seen: Extraction | None = None
        if file.digest and file.adapter:
            with suppress(NotFound, Corrupt):  # fsck tells which
                seen = self._objects.extraction(
                    Namespace(file.scope), Digest(file.digest), file.adapter
                )
        frames = frame_ids(PageId(file.page_id), seen.symbols) if seen else ()
        return {f.frame_id: (f.symbol.lines[0], *f.symbol.bytes) for f in frames}


def _kept(reader: Reader, root: RootRow) -> dict[str, MentionRow]:
    rows = reader.catalog.query(
        "SELECT mention.* FROM page JOIN mention USING (page_id) WHERE root_id = ? AND version = ?",
        (root.root_id, VERSION),
    )
    return {row.revision_id: row for row in (MentionRow(*row) for row in rows)}


@dataclass(frozen=True, slots=True)
class _Mentioned:
    names: dict[str, int]
    row: MentionRow | None


def _mentioned(
    files: Sequence[_File], kept: Mapping[str, MentionRow], objects: Objects
) -> dict[int, _Mentioned]:
    """What each file of code mentions, by its number; `row` is what nobody kept yet."""
    found = {}
    for number, file in enumerate(files):
        if not is_code(file.language) or file.digest is None:
            continue
        row = kept.get(file.revision_id)
        if row is not None:
            found[number] = _Mentioned(json.loads(row.names), None)
            continue
        try:
            raw = objects.payload(Namespace(file.scope), Digest(file.digest))
        except (NotFound, Corrupt):
            continue  # fsck tells which
        names = dict(mentions(decoded(raw), file.language))
        text = json.dumps(names, ensure_ascii=False, separators=(",", ":"))
        row = MentionRow(file.page_id, file.scope, file.revision_id, VERSION, text)
        found[number] = _Mentioned(names, row)
    return found


def _keep(session: Session, found: Iterable[_Mentioned]) -> None:
    """For the next map. Nothing is lost where that cannot be done."""
    rows = [mentioned.row for mentioned in found if mentioned.row is not None]
    if rows:
        with suppress(Busy, ReadOnly, StorageFull):
            session.store.catalog.keep_mentions(rows)


class _Ground:
    """What a map is drawn of. Prose and data come after the code, since they refer to nobody."""

    def __init__(
        self,
        root: RootRow,
        files: Sequence[_File],
        symbols: Sequence[_Symbol],
        found: Mapping[int, _Mentioned],
    ) -> None:
        self.root = root
        self.files = files
        self.symbols = symbols
        self._places = [
            Place(
                file.path,
                family(file.language or ""),
                ranks_lower(file.path) or number not in found,
                found[number].names if number in found else {},
            )
            for number, file in enumerate(files)
        ]

    def drawn(self, focus: Focus | None, budget: int) -> tuple[tuple[MappedFile, ...], Outline]:
        definitions = [
            Definition(symbol.file, symbol.name, "." in symbol.qualified_name)
            for symbol in self.symbols
        ]
        ranked = importance(self._places, definitions, focus)
        order = sorted(range(len(self.files)), key=lambda n: (-ranked.places[n], n))
        members: dict[int, list[int]] = defaultdict(list)
        for number, symbol in enumerate(self.symbols):
            members[symbol.file].append(number)
        worths = self._worths(members, ranked, focus)
        best = {file: max(worths[n] for n in inside) for file, inside in members.items()}
        sheets = [
            Sheet(
                safe(self.files[number].path),
                best.get(number, ranked.places[number]) * _WITHOUT_SYMBOLS,
                list(self._entries(members[number], worths)),
            )
            for number in order
        ]
        made = outline(sheets, budget)
        shown = {
            order[sheet]: [members[order[sheet]][n] for n in entries]
            for sheet, entries in made.shown.items()
        }
        return tuple(self._file(n, ranked.places[n], inside) for n, inside in shown.items()), made

    def _worths(
        self, members: Mapping[int, Sequence[int]], ranked: Importance, focus: Focus | None
    ) -> list[float]:
        """Definitions that are mentioned much, in files that matter; each next one of a file is
        worth less, so that others come up. What is asked for comes first."""
        worths = [0.0] * len(self.symbols)
        for file, inside in members.items():
            rank = ranked.places[file]
            for number in inside:
                visits = ranked.definitions[number]
                worths[number] = sqrt((visits + _UNMENTIONED * rank) * rank)
            for before, number in enumerate(sorted(inside, key=lambda n: -worths[n])):
                worths[number] /= sqrt(1 + before)
        for number, weight in (focus.definitions if focus else {}).items():
            worths[number] += weight
        return worths

    def _entries(self, numbers: Sequence[int], worths: Sequence[float]) -> Iterator[Entry]:
        """The definitions of a file, each within what is around it."""
        around: list[int] = []
        for position, number in enumerate(numbers):
            symbol = self.symbols[number]
            while around and self.symbols[numbers[around[-1]]].end < symbol.end:
                around.pop()
            yield Entry(_line(symbol, len(around)), worths[number], around[-1] if around else None)
            around.append(position)

    def _file(self, number: int, rank: float, symbols: Sequence[int]) -> MappedFile:
        file = self.files[number]
        return MappedFile(
            file.path,
            PageId(file.page_id),
            RevisionId(file.revision_id),
            round(rank, 6),
            tuple(
                MappedSymbol(
                    FrameId(symbol.frame_id),
                    symbol.kind,
                    symbol.qualified_name,
                    symbol.signature,
                    symbol.line,
                )
                for symbol in (self.symbols[n] for n in symbols)
            ),
        )


def _line(symbol: _Symbol, depth: int) -> str:
    told = safe(symbol.signature or f"{symbol.kind} {symbol.name}")
    if len(told) > _LONGEST_LINE:
        told = told[:_LONGEST_LINE] + "…"
    return f"{symbol.line:>5} {'  ' * min(depth, 10)}{told}"


def _focus(session: Session, ground: _Ground, given: Sequence[str], pins: Pins) -> Focus | None:
    """What is asked for, each with its weight; NotFound for what is not there."""
    if not given:
        return None
    files: dict[int, float] = defaultdict(float)
    definitions: dict[int, float] = defaultdict(float)
    for text in given:
        found = _by_path(ground, text) or _by_symbol(ground, text)
        found = found or _by_words(session, ground, text, pins)
        if not (found.places or found.definitions):
            raise NotFound(f"nothing in {ground.root.name} is or says {text!r}; see pcpfs search")
        for number, weight in found.places.items():
            files[number] += weight
        for number, weight in found.definitions.items():
            definitions[number] += weight
    return Focus(files, definitions)


def _by_path(ground: _Ground, text: str) -> Focus | None:
    """A file, all below a folder, or files of that name."""
    path = escaped(text.strip("/"))
    whole = [n for n, f in enumerate(ground.files) if f"{f.path}/".startswith(f"{path}/")]
    named = [n for n, f in enumerate(ground.files) if f.path.endswith(f"/{path}") and "." in path]
    return Focus(dict.fromkeys(whole or named, 1.0)) if whole or named else None


def _by_symbol(ground: _Ground, text: str) -> Focus | None:
    name = text.strip().replace("::", ".").removesuffix("()")
    found = {
        number: _weight(ground.files[symbol.file].path)
        for number, symbol in enumerate(ground.symbols)
        if name in (symbol.name, symbol.qualified_name)
        or symbol.qualified_name.endswith(f".{name}")
    }
    if not name or max(found.values(), default=0.0) < 1:
        return None  # words find what only tests are called
    files: dict[int, float] = defaultdict(float)
    for number, weight in found.items():
        files[ground.symbols[number].file] += weight
    return Focus(files, found)


def _by_words(session: Session, ground: _Ground, text: str, pins: Pins) -> Focus:
    """What a search for words finds in this source first."""
    answer = session.search(
        text,
        scopes=[ground.root.scope],
        policy="strict",
        filters=Filters(kinds=("file", SYMBOL)),
        pins=pins,
        limit=MOST_RESULTS,
        mode="text",
    )
    pages = {file.page_id: number for number, file in enumerate(ground.files)}
    frames = {symbol.frame_id: number for number, symbol in enumerate(ground.symbols)}
    hits = [hit for hit in answer.results if hit.page_id in pages][:_FOUND_BY_WORDS]
    files: dict[int, float] = defaultdict(float)
    definitions: dict[int, float] = {}
    for hit in hits:
        weight = hit.score * _weight(hit.path or "")
        files[pages[hit.page_id]] += weight
        if hit.frame_id in frames:
            definitions[frames[hit.frame_id]] = weight
    return Focus(files, definitions)


def _weight(path: str) -> float:
    """Who asks for something seldom means its tests."""
    return _TESTS if ranks_lower(path) else 1.0
