"""From definitions found in a source to its symbols: nesting, names, ranges, digests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from pcpfs.model.frames import LEFT_OUT, Symbol
from pcpfs.model.ids import Digest
from pcpfs_adapters.kinds import CALLABLES, TYPES
from pcpfs_adapters.source_text import SourceText

MAX_DEPTH = 64
"""Deeper definitions are left out, and noted: names and digests of n levels cost n² bytes."""

MAX_SYMBOLS = 50_000
"""Only machines define more in one file; what comes after is left out, and noted."""


class Span(NamedTuple):
    """Where a definition lies, in offsets of the UTF-8; kind "" only qualifies its members.

    `is_local` says that right inside a function it is of no interest outside it: a value, or what
    looks like the declaration of a function. With kind "" it is a block of statements, inside which
    such are of no interest either.
    """

    kind: str
    path: tuple[str, ...]
    start: int
    end: int
    is_local: bool = False


class Wording(NamedTuple):
    """What a definition says of itself; `doc_range` in offsets of the UTF-8."""

    signature: str = ""
    doc: str = ""
    doc_range: tuple[int, int] | None = None


class Placed(NamedTuple):
    """A span among those around it: the number it was given with, final kind, qualified name."""

    number: int
    span: Span
    kind: str
    qualified: tuple[str, ...]
    depth: int


def nested(spans: Iterable[Span], method_holders: Collection[str] = TYPES) -> Iterator[Placed]:
    """Qualify each span with those around it, in document order; drop what is local.

    A function right inside a type is a method. Definitions of the same bytes (`a = b = 1`) are
    neighbours, not members of each other.
    """
    around: list[Placed] = []
    for number, span in sorted(enumerate(spans), key=_place):
        if around and around[-1].span == span:
            continue  # `typedef struct node {…} node`
        while around and not _holds(around[-1].span, span):
            around.pop()
        outer = around[-1] if around else None
        if outer and span.is_local and _is_code(outer):
            continue
        around.append(_placed(number, span, outer, method_holders))
        yield around[-1]


def symbols(
    source: SourceText,
    placed: Iterable[Placed],
    wording: Callable[[int], Wording],
    most: int = MAX_SYMBOLS,
) -> tuple[tuple[Symbol, ...], tuple[str, ...]]:
    """The symbols of what `nested` gave, and notes on what was left out: of more than `most` all
    but the outermost, and what comes after the first `most`."""
    shown = [item for item in placed if item.span.kind]
    shallow = [item for item in shown if item.depth <= MAX_DEPTH]
    notes = _left_out(len(shown) - len(shallow), f"nested deeper than {MAX_DEPTH}")
    if most < MAX_SYMBOLS and len(shallow) > most:
        notes += (f"of {len(shallow)} definitions the {most} outermost at most are told",)
        shallow = [item for item in shallow if item.depth == 1]
    else:
        notes += _left_out(len(shallow) - most, f"after the first {most}")
    made, line, at = [], 1, 0
    for item in shallow[:most]:
        line += source.utf8.count(b"\n", at, item.span.start)
        at = item.span.start
        made.append(_symbol(source, item, line, wording(item.number)))
    return tuple(made), notes


def _placed(number: int, span: Span, outer: Placed | None, holders: Collection[str]) -> Placed:
    if outer is None:
        return Placed(number, span, span.kind, span.path, 1)
    is_member = outer.kind in holders or not (outer.kind or _is_code(outer))
    is_method = span.kind == "function" and is_member
    kind = "method" if is_method else span.kind
    # Too deep to be shown: longer names would only cost memory.
    qualified = outer.qualified if outer.depth >= MAX_DEPTH else outer.qualified + span.path
    return Placed(number, span, kind, qualified, outer.depth + 1)


def _is_code(outer: Placed) -> bool:
    return outer.kind in CALLABLES or (not outer.kind and outer.span.is_local)


def _place(numbered: tuple[int, Span]) -> tuple[int, int]:
    return numbered[1].start, -numbered[1].end


def _holds(outer: Span, inner: Span) -> bool:
    return inner.end <= outer.end and (outer.start, outer.end) != (inner.start, inner.end)


def _symbol(source: SourceText, item: Placed, line: int, wording: Wording) -> Symbol:
    start, end = source.origin(item.span.start), source.origin(item.span.end)
    last = line + source.utf8.count(b"\n", item.span.start, item.span.end)
    doc = wording.doc_range
    return Symbol(
        kind=item.kind,
        name=item.span.path[-1],
        qualified_name=".".join(item.qualified),
        signature=wording.signature,
        doc=wording.doc,
        lines=(line, last),
        bytes=(start, end),
        digest=Digest.of(memoryview(source.raw)[start:end]),
        doc_bytes=(source.origin(doc[0]), source.origin(doc[1])) if doc else None,
    )


def _left_out(count: int, which: str) -> tuple[str, ...]:
    return (f"{count} definitions {which} {LEFT_OUT}",) if count > 0 else ()
