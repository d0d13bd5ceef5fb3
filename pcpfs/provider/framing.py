"""Frames: one subject in every form in which it can be served, each with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pcpfs import __version__
from pcpfs.model.cgp import (
    COMPACT,
    FULL,
    ContentRef,
    ContextFrame,
    FrameKind,
    FrameRelation,
    Provenance,
    Transform,
    token_cost,
)
from pcpfs.model.cgp_rules import content_digest, is_anchored, is_bare_id
from pcpfs.model.frames import Symbol
from pcpfs.model.instants import Instant
from pcpfs.provider import naming
from pcpfs.provider.candidate import Form, Subject
from pcpfs.provider.cutting import Cut, Lines, Text
from pcpfs.provider.naming import FrameName, range_of
from pcpfs.provider.standing import Standing
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.searches.sorts import is_prose

NAME = "pcpfs"
BY = f"{NAME}/{__version__}"
AROUND = (60, 24, 8, 0)
"""Lines before and after the ones to look at that a fragment shows too: much, less, none."""

_ROOMY = 8
"""More bytes a token than any text has that was made shorter by its decoding."""

FACT = "fact"
"""Pages with this tag are served as facts."""

_HEADING = "heading"
_TRANSFORM = Transform(method="signature-and-first-line", implementation=BY, version="1")


def kind_of(page: PageRow, symbol: Symbol | None, tags: Sequence[str]) -> FrameKind:
    """What a whole page or symbol is in the words of the protocol."""
    if page.is_event:
        return FrameKind.EPISODE
    if not page.is_source:
        return FrameKind.FACT if FACT in tags else FrameKind.MEMORY
    if is_prose(page.media_type):
        return FrameKind.DOC
    return FrameKind.SNIPPET if symbol is None else FrameKind.SYMBOL


@dataclass(frozen=True, slots=True)
class Shape:
    """What differs between the forms of one subject. `cut` is what the form is made of, and its
    content too where none is given."""

    kind: FrameKind
    name: FrameName
    cut: Cut
    title: str
    label: str
    method: str | None
    content: str | None = None


class Framer:
    """Makes the frames of one answer. `root_name` tells what people call a root; `edges` gives the
    relations of a page."""

    def __init__(
        self,
        store_id: str,
        root_name: Callable[[str | None], str | None],
        edges: Callable[[Standing], tuple[FrameRelation, ...]],
    ) -> None:
        self._store_id = store_id
        self._root_name = root_name
        self._edges = edges

    def forms(self, subject: Subject, preferences: Sequence[str], room: int) -> Iterator[Form]:
        """All forms, the best first: the whole if it may find room (in tokens), its signature where
        the host prefers that, and fragments. A host without preferences gets the signature last."""
        makers = {FULL: self._wholes, COMPACT: self._compacts}
        wanted = [shape for shape in preferences if shape in makers]
        for shape in dict.fromkeys([*wanted, FULL]):
            if shape == COMPACT or subject.size <= _ROOMY * room:
                yield from makers[shape](subject)
        yield from self._fragments(subject)
        if not preferences:
            yield from self._compacts(subject)

    def name_of(self, subject: Subject) -> FrameName:
        """The id of the whole."""
        candidate = subject.candidate
        base = candidate.page_id if subject.symbol is None else candidate.frame_id
        return FrameName(base or candidate.page_id, self.pin(subject.standing))

    def _wholes(self, subject: Subject) -> Iterator[Form]:
        whole = self.whole(subject)
        page, symbol = subject.standing.page, subject.symbol
        kind = kind_of(page, symbol, subject.standing.body.facets.tags)
        if page.is_source and symbol is None and not is_prose(page.media_type):
            return  # a file of code is shown by its fragments, or by its symbols
        title, label = self.wording(subject.standing, symbol)
        shape = Shape(kind, self.name_of(subject), whole, title, label, _method(page, symbol))
        yield Form(self.frame(subject, shape), _extent(subject, whole), whole=True)

    def whole(self, subject: Subject) -> Cut:
        """All of a page, or of a symbol."""
        text = subject.standing.text
        return text.span(*subject.symbol.bytes) if subject.symbol else text.whole()

    def _compacts(self, subject: Subject) -> Iterator[Form]:
        symbol = subject.symbol
        whole = self.whole(subject)
        content = None if symbol is None else signature_text(symbol)
        if symbol is None or content is None or len(content) >= len(whole.content):
            return
        page, name = subject.standing.page, self.name_of(subject)
        shape = Shape(
            kind_of(page, symbol, ()),
            FrameName(name.base, name.revision, naming.COMPACT),
            whole,
            *self.wording(subject.standing, symbol),
            _method(page, symbol),
            content,
        )
        frame = self._compacted(self.frame(subject, shape), shape)
        yield Form(frame, (symbol.lines[0], symbol.lines[0]))

    def _fragments(self, subject: Subject) -> Iterator[Form]:
        """The lines to look at, with many lines around them first, then with fewer."""
        text, page = subject.standing.text, subject.standing.page
        lines = subject.candidate.lines
        if lines is None:
            return
        bounds = _bounds(text, subject.symbol)
        around = [(max(bounds[0], lines[0] - n), min(bounds[1], lines[1] + n)) for n in AROUND]
        for chosen in dict.fromkeys(around):
            if page.is_source and is_prose(page.media_type) and chosen == bounds:
                continue  # that is the whole
            cut = text.lines(chosen)
            if cut is not None and cut.content.strip():
                yield Form(self._fragment(subject, cut, chosen), chosen)

    def _fragment(self, subject: Subject, cut: Cut, lines: Lines) -> ContextFrame:
        page = subject.standing.page
        kind = kind_of(page, None, subject.standing.body.facets.tags)
        name = FrameName(page.page_id, self.pin(subject.standing), lines=lines)
        what, _ = self.wording(subject.standing, subject.symbol)
        place = f"{self._place(page)}:{lines[0]}-{lines[1]}"
        return self.frame(
            subject,
            Shape(kind, name, cut, f"{what}, lines {lines[0]}-{lines[1]}", place, "excerpt"),
        )

    def frame(self, subject: Subject, shape: Shape) -> ContextFrame:
        """A full frame of this shape."""
        standing = subject.standing
        content = shape.cut.content if shape.content is None else shape.content
        frame = ContextFrame(
            id=str(shape.name),
            kind=str(shape.kind),
            title=shape.title,
            content=content,
            content_digest=content_digest(content),
            uri=standing.uri,
            score=subject.candidate.score,
            token_cost=token_cost(content),
            valid_from=_text(subject.valid_from),
            valid_to=_text(subject.valid_to),
            recorded_at=None if standing.has_changed else str(Instant(standing.span.recorded_at)),
            provenance=self._origins(standing, shape),
            citation_label=shape.label,
            relations=self._edges(standing),
        )
        return _anchored(frame, subject)

    def _compacted(self, frame: ContextFrame, shape: Shape) -> ContextFrame:
        """The frame with what a compact one says about the whole that it stands for (P2)."""
        whole = FrameName(shape.name.base, shape.name.revision)
        place = naming.item_uri(self._store_id, str(whole))
        return replace(
            frame,
            representation=COMPACT,
            content_fidelity="summarized",
            canonical_content_hash=content_digest(shape.cut.content),
            content_ref=ContentRef(provider_id=NAME, uri=place),
            transform=_TRANSFORM,
        )

    def _origins(self, standing: Standing, shape: Shape) -> tuple[Provenance, ...]:
        """The file first, then how the frame was made of it."""
        origins = [self.file(standing, shape.cut)]
        if shape.method is not None:
            origins.append(Provenance(type="derivation", method=shape.method, by=BY))
        if standing.page.is_event:
            origins.append(Provenance(type="episode", uri=standing.uri, by=BY))
        return tuple(origins)

    def file(self, standing: Standing, cut: Cut) -> Provenance:
        """The file that shows a cut (F5)."""
        if standing.elsewhere is not None:
            uri, place, digest = (
                standing.elsewhere.uri,
                standing.elsewhere.range,
                standing.elsewhere.digest,
            )
        else:
            uri, digest = standing.file or standing.uri, cut.digest
            place = None if cut.lines is None else range_of(cut.lines)
        return Provenance(
            type="file", uri=uri, range=place, digest=digest, method="file-read", by=BY
        )

    def wording(self, standing: Standing, symbol: Symbol | None = None) -> tuple[str, str]:
        """Title and citation label; never empty, never a bare id (F2, F3)."""
        page = standing.page
        place = self._place(page)
        if symbol is not None:
            name = named(symbol.qualified_name, symbol.kind)
            return name, f"{name} ({place}:{symbol.lines[0]})"
        if page.is_source:
            return named(page.path or "", "file"), place
        title = named(page.title, "event" if page.is_event else "page")
        return title, f"{title} ({page.scope})"

    def _place(self, page: PageRow) -> str:
        if page.is_source:
            return _one_line(f"{self._root_name(page.root_id) or 'source'}/{page.path}")
        return _one_line(f"{page.scope}/{page.path or 'pages'}")

    def pin(self, standing: Standing) -> str | None:
        """The revision in an id, where these very bytes are meant."""
        return standing.span.revision_id[4:20] if standing.pinned else None


def signature_text(symbol: Symbol) -> str | None:
    """What a symbol is in short: its signature and the first line of its documentation."""
    lines = [part for part in (symbol.signature.strip(), symbol.doc.strip()) if part]
    return "\n".join(lines) + "\n" if symbol.signature.strip() else None


def _method(page: PageRow, symbol: Symbol | None) -> str | None:
    if symbol is None:
        return None
    return "section-extraction" if symbol.kind == _HEADING else "tree-sitter-symbol-extraction"


def _extent(subject: Subject, cut: Cut) -> Lines:
    return cut.lines or _bounds(subject.standing.text, subject.symbol)


def _bounds(text: Text, symbol: Symbol | None) -> Lines:
    """The lines in which a fragment stays."""
    return (1, text.line_count) if symbol is None else symbol.lines


def _anchored(frame: ContextFrame, subject: Subject) -> ContextFrame:
    """The frame with an edge to the anchor where its own uri is not that (G3)."""
    anchor = subject.candidate.anchor
    if anchor is None or is_anchored(frame, [anchor.given]):
        return frame
    edge = FrameRelation(
        rel="pcpfs:anchored_at", target_uri=anchor.given, display_name=anchor.title
    )
    return replace(frame, relations=(edge, *frame.relations))


def _text(moment: Instant | None) -> str | None:
    return None if moment is None else str(moment)


def named(text: str, what: str) -> str:
    """A title for people: one line, not empty, not an id alone (F2, F3)."""
    line = _one_line(text)
    return f"{what} {line}" if is_bare_id(line) else line or f"untitled {what}"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())
