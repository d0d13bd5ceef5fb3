"""A map of a source: its files and definitions by what else refers to them, within a budget."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from pcpfs.errors import Busy, NotFound, ReadOnly, StorageFull, UsageError
from pcpfs.model.answers import Pins
from pcpfs.model.frames import dotted
from pcpfs.model.ids import FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import escaped
from pcpfs.model.requests import DEFAULT_TOKENS, MOST_RESULTS, SYMBOL, Filters
from pcpfs.model.source_maps import MappedFile, MappedSymbol, SourceMap
from pcpfs.search.importance import Focus
from pcpfs.search.outline import BYTES_PER_TOKEN, outline
from pcpfs.store.catalogs.rows import RootRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.map_ground import Ground, SourceFile, Survey, Symbol, head, lines
from pcpfs.store.searches.search_request import NOW
from pcpfs.store.session import Session

MOST_TOKENS = 262_144
_FOUND_BY_WORDS = 20
_TESTS = 0.2
"""What tests and generated code weigh where names and words are asked for."""


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
    root = _root(session, reader, source, pins)
    wanted = _wanted(session, reader, root, focus, pins)
    with reader.catalog.snapshot():
        survey = Survey.of(reader.catalog, session.store.objects, root, pins)
        ground, keep = _ground(session, survey)
        drawn = _drawn(survey, ground, wanted, budget)
    keep()
    return SourceMap(
        root=root.name,
        scope=root.scope,
        token_budget=budget,
        token_count=-(-len(drawn.text.encode()) // BYTES_PER_TOKEN),
        files=drawn.files,
        left_out={
            "files": len(survey.files) - len(drawn.files),
            "symbols": len(ground.layout.files) - sum(len(file.symbols) for file in drawn.files),
        },
        text=drawn.text,
        focus=tuple(focus),
        as_of=pins.as_of,
        recorded_as_of=pins.recorded_as_of,
        earliest=drawn.earliest,
    )


def _root(session: Session, reader: Reader, source: str | None, pins: Pins) -> RootRow:
    found = _called(reader, source)
    if not found and pins.recorded_as_of is not None:
        now = session.reader(NOW)
        if later := _called(now, source):
            raise NotFound(
                f"the store knew no source {source or later[0].name!r} at {pins.recorded_as_of}; "
                f"it was taken in at {_recorded(now, later[0])}"
            )
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


def _called(reader: Reader, source: str | None) -> list[RootRow]:
    return [row for row in reader.catalog.roots() if source in (None, row.name, row.root_id)]


def _recorded(reader: Reader, root: RootRow) -> Instant:
    """When the store first said something about a source."""
    ((at,),) = reader.catalog.query(
        "SELECT min(at) FROM change LEFT JOIN page USING (page_id) WHERE root_id = ?",
        (root.root_id,),
    )
    return Instant(at)


def _ground(session: Session, survey: Survey) -> tuple[Ground, Callable[[], None]]:
    """What to draw of, and how to keep it for the next map: nothing is lost where that fails."""
    kept = survey.kept() if survey.pins == NOW else None
    if kept is not None:
        return kept, lambda: None
    ground, row, mentions = survey.made()
    generation = survey.catalog.generation

    def keep() -> None:
        if survey.pins == NOW and (row or mentions):
            with suppress(Busy, ReadOnly, StorageFull):
                session.store.catalog.keep_ground(row, mentions, generation)

    return ground, keep


@dataclass(frozen=True)
class _Drawn:
    files: tuple[MappedFile, ...]
    text: str
    earliest: Instant | None


def _drawn(survey: Survey, ground: Ground, wanted: _Wanted | None, budget: int) -> _Drawn:
    ranks: Sequence[float] = ground.ranks
    order: Sequence[int] = ground.order
    if wanted is not None:
        ranks, order = ground.drawn(_focus(survey, ground, wanted))
    shown = outline(ground.layout, order, budget)
    symbols = survey.symbols(survey.files[number] for number in shown)
    text: list[str] = []
    files = []
    for number in sorted(shown, key=lambda n: (-ranks[n], n)):
        file, first = survey.files[number], ground.layout.first(number)
        inside = symbols.get(file.page_id, [])
        told = [line for line, _ in lines(inside)]
        chosen = [entry - first for entry in shown[number]]
        text += [head(file), *(told[n] for n in chosen if told[n])]
        files.append(_mapped(file, ranks[number], [inside[n] for n in chosen]))
    earliest = None if survey.files else _earliest(survey)
    return _Drawn(tuple(files), "".join(f"{line}\n" for line in text), earliest)


def _mapped(file: SourceFile, rank: float, symbols: Iterable[Symbol]) -> MappedFile:
    return MappedFile(
        file.path,
        PageId(file.page_id),
        RevisionId(file.revision_id),
        round(rank, 6),
        tuple(
            MappedSymbol(FrameId(s.frame_id), s.kind, s.qualified_name, s.signature, s.line)
            for s in symbols
        ),
    )


def _earliest(survey: Survey) -> Instant | None:
    """From when on anything is known of the source."""
    ((at,),) = survey.catalog.query(
        "SELECT min(valid_from) FROM page JOIN span USING (page_id) WHERE root_id = ?",
        (survey.root.root_id,),
    )
    return None if at is None else Instant(at)


@dataclass(frozen=True)
class _Wanted:
    """What is asked for: weights of files by page, and of definitions by page and frame."""

    pages: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    frames: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, page: str, weight: float, frame: str | None = None) -> None:
        self.pages[page] += weight
        if frame is not None:
            self.frames[page, frame] += weight


def _focus(survey: Survey, ground: Ground, wanted: _Wanted) -> Focus:
    """The same by numbers."""
    numbers = {file.page_id: number for number, file in enumerate(survey.files)}
    near = {page for page, _ in wanted.frames} & numbers.keys()
    symbols = survey.symbols(survey.files[numbers[page]] for page in near)
    definitions = {
        ground.layout.first(numbers[page]) + position: wanted.frames[page, symbol.frame_id]
        for page in near
        for position, symbol in enumerate(symbols.get(page, ()))
        if (page, symbol.frame_id) in wanted.frames
    }
    places = {numbers[p]: weight for p, weight in wanted.pages.items() if p in numbers}
    return Focus(places, definitions)


def _wanted(
    session: Session, reader: Reader, root: RootRow, given: Sequence[str], pins: Pins
) -> _Wanted | None:
    """What is asked for, each with its weight; NotFound for what is not there."""
    if not given:
        return None
    with reader.catalog.snapshot():
        survey = Survey.of(reader.catalog, session.store.objects, root, pins)
    wanted = _Wanted()
    for text in given:
        if not (
            _by_path(survey, text, wanted)
            or _by_symbol(survey, text, wanted)
            or _by_words(session, survey, text, wanted)
        ):
            raise NotFound(f"nothing in {root.name} is or says {text!r}; see pcpfs search")
    return wanted


def _by_path(survey: Survey, text: str, wanted: _Wanted) -> bool:
    """A file, all below a folder, or files of that name."""
    path = escaped(text.strip("/"))
    whole = [file for file in survey.files if f"{file.path}/".startswith(f"{path}/")]
    named = [file for file in survey.files if file.path.endswith(f"/{path}") and "." in path]
    for file in whole or named:
        wanted.add(file.page_id, 1.0)
    return bool(whole or named)


def _by_symbol(survey: Survey, text: str, wanted: _Wanted) -> bool:
    name = dotted(text)
    weights = _weights(survey)
    found = [(page, frame, weights.get(page, 1.0)) for page, frame, _ in survey.named(name) if name]
    if max((weight for *_, weight in found), default=0.0) < 1:
        return False  # words find what only tests are called
    for page, frame, weight in found:
        wanted.add(page, weight, frame)
    return True


def _by_words(session: Session, survey: Survey, text: str, wanted: _Wanted) -> bool:
    """What a search for words finds in this source first."""
    answer = session.search(
        text,
        scopes=[survey.root.scope],
        policy="strict",
        filters=Filters(kinds=("file", SYMBOL)),
        pins=survey.pins,
        limit=MOST_RESULTS,
        mode="text",
    )
    weights = _weights(survey)
    hits = [hit for hit in answer.results if hit.page_id in weights][:_FOUND_BY_WORDS]
    for hit in hits:
        wanted.add(hit.page_id, hit.score * weights[hit.page_id], hit.frame_id)
    return bool(hits)


def _weights(survey: Survey) -> Mapping[str, float]:
    """By page: who asks for something seldom means its tests, or what was generated."""
    return {file.page_id: _TESTS if file.is_less else 1.0 for file in survey.files}
