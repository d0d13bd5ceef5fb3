"""Following a symbol along the line of its source.

A move is a file that was renamed, or a symbol of the same kind, last name and bytes that closed
once and opened once at the same instant (CASES). A new name is one of the same kind and page whose
bytes are those before, but for the name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pcpfs.errors import PcpfsError
from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.symbol_answers import SymbolDifference, SymbolLife, SymbolStep
from pcpfs.store.catalogs.rows import FrameRow, PageRow, SpanRow
from pcpfs.store.differences import unified
from pcpfs.store.reading import Reader
from pcpfs.store.searches.branch_life import (
    BranchLife,
    Text,
    under_another_name,
)

_LONGEST = 1000
"""So many names and places of one symbol are followed."""


class _Edge(NamedTuple):
    """Who made a page what it is from an instant on, and why it was no longer so."""

    commit: str | None
    author: str | None
    reason: str | None = None
    moved_to: str | None = None


@dataclass(slots=True)
class Link:
    """A symbol in one place, with its runs in order of time; how it came from the one before. It
    has several frames if more or fewer of its file had its name for a time."""

    page: PageRow
    runs: list[FrameRow]
    event: str = "opened"

    @property
    def frames(self) -> list[str]:
        """Ids of its frames, the last one first."""
        return list(dict.fromkeys(run.frame_id for run in reversed(self.runs)))


@dataclass(frozen=True, slots=True)
class Found:
    """A life, and the pages and ids under which the symbol is known, the last one first."""

    life: SymbolLife
    frames: tuple[tuple[str, str], ...]


def on_line(life: SymbolLife) -> tuple[SymbolStep, ...]:
    return tuple(step for step in life.steps if step.branches is None)


class Tracing:
    """Follows symbols through one catalog."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._catalog = reader.catalog
        self._pages: dict[str, PageRow] = {}
        self._spans: dict[str, list[SpanRow]] = {}

    def named(self, name: str, page: str | None) -> list[str]:
        """The frames that have or had a name, by path."""
        last = name.rpartition(".")[2]
        where, given = ("frame_id = ?", [name]) if name.startswith("fr_") else ("name = ?", [last])
        if page is not None:
            where, given = f"{where} AND page_id = ?", [*given, page]
        rows = [row for row in self._catalog.frames(where, given) if row.kind != FILE_KIND]
        if not name.startswith("fr_"):
            dotted = "." + name
            rows = [r for r in rows if ("." + r.qualified_name).endswith(dotted)]
        rows.sort(key=lambda row: (self._page(row.page_id).path or "", row.line_a, row.frame_id))
        return list(dict.fromkeys(row.frame_id for row in rows))

    def on_line(self, frames: Iterable[str]) -> str | None:
        """The first of these frames that the line has had."""
        return next((f for f in frames if self._catalog.frames("frame_id = ?", (f,))), None)

    def chain(self, frame: str) -> list[Link]:
        """The names and places of a symbol, the first one first."""
        chain = [self._link(frame)]
        known = set(chain[0].frames)
        while len(known) < _LONGEST and (before := self._before(chain[0])) is not None:
            event, row = before
            if row.frame_id in known:
                break
            chain[0].event = event
            chain.insert(0, self._link(row.frame_id))
            known.update(chain[0].frames)
        while len(known) < _LONGEST and (after := self._after(chain[-1])) is not None:
            event, row = after
            if row.frame_id in known:
                break
            chain.append(self._link(row.frame_id))
            chain[-1].event = event
            known.update(chain[-1].frames)
        return chain

    def steps(self, chain: Sequence[Link]) -> Iterator[SymbolStep]:
        """Everything that happened, the first thing first."""
        before: FrameRow | None = None
        for number, link in enumerate(chain):
            goes_on = number + 1 < len(chain)
            for place, run in enumerate(link.runs):
                if place:
                    joined = before is not None and before.valid_to == run.valid_from
                    event = "changed" if joined else "opened"
                else:
                    event = link.event
                if event != "changed" or before is None or before.digest != run.digest:
                    yield self._step(
                        event, run, run.valid_from, before if event == link.event else None
                    )
                before = run
                last = place + 1 == len(link.runs)
                after = None if last else link.runs[place + 1]
                is_over = run.valid_to is not None and not (
                    goes_on if last else after is not None and after.valid_from == run.valid_to
                )
                if is_over and run.valid_to is not None:
                    yield self._step("closed", run, run.valid_to, None)

    def life(self, chain: Sequence[Link], steps: Sequence[SymbolStep]) -> SymbolLife:
        last, page = steps[-1], chain[-1].page
        root = self._reader.root_name(page.root_id) or ""
        kind = chain[-1].runs[-1].kind
        return SymbolLife(
            page.scope, root, kind, last.qualified_name, last.path, tuple(reversed(steps))
        )

    def difference(self, life: SymbolLife, since: Instant | None) -> SymbolDifference:
        texts = [step for step in life.steps if step.event != "closed"]
        after, *earlier = texts
        if since is not None:
            earlier = [step for step in texts if step.at <= since]
        before = next((s for s in earlier if since or s.digest != after.digest), None)
        old = b"" if before is None else self._source(before)
        return SymbolDifference(
            before, after, unified(after.qualified_name, old, self._source(after))
        )

    def against(self, found: Found, beside: BranchLife, branch: str) -> SymbolDifference | None:
        """What a symbol is on the line against what it is on a branch; None if on neither."""
        line = on_line(found.life)
        before = None if not line or line[0].event == "closed" else line[0]
        text = beside.text(found.frames, branch)
        if before is None and text is None:
            return None
        old = b"" if before is None else self._source(before)
        new = b"" if text is None else text.source + b"\n"
        after = text and self._as_step(found, text, branch)
        name = after.qualified_name if after else found.life.qualified_name
        return SymbolDifference(before, after, unified(name, old, new))

    def _as_step(self, found: Found, text: Text, branch: str) -> SymbolStep:
        """A symbol as a branch has it, with what is known of how it became so."""
        symbol = text.frame.symbol
        same = [step for step in found.life.steps if step.digest == symbol.digest]
        here = (s for s in same if s.branches is None or branch in s.branches)
        made = next((step for step in here if step.event != "closed"), None)
        return SymbolStep(
            event=made.event if made else "opened",
            at=made.at if made else Instant(text.held.at),
            frame_id=text.frame.frame_id,
            page_id=PageId(text.page),
            revision_id=RevisionId(text.held.revision),
            path=self._page(text.page).path or "",
            qualified_name=symbol.qualified_name,
            signature=symbol.signature,
            lines=symbol.lines,
            digest=symbol.digest,
            commit=made.commit if made else text.held.commit,
            author=made.author if made else text.held.author,
            branches=(branch,),
        )

    def _link(self, frame: str) -> Link:
        runs = sorted(self._with_others(self._runs(frame)), key=lambda row: row.valid_from)
        return Link(self._page(runs[0].page_id), runs)

    def _runs(self, frame: str) -> Sequence[FrameRow]:
        """Those of some length, if there are such."""
        rows = self._catalog.frames("frame_id = ?", (frame,))
        held = [r for r in rows if r.valid_to is None or r.valid_to > r.valid_from]
        return held or rows

    def _with_others(self, runs: Iterable[FrameRow]) -> list[FrameRow]:
        """With the runs of the only other frame that the same bytes by the same name have right
        before or after in the same file."""
        found = list(runs)
        for run in found:  # also those that are found on the way
            for edge, other in (("valid_from", "valid_to"), ("valid_to", "valid_from")):
                at = getattr(run, edge)
                if at is None or any(getattr(one, other) == at for one in found):
                    continue
                here, there = self._twins(run, edge, at), self._twins(run, other, at)
                if len(here) == len(there) == 1:
                    found += (r for r in self._runs(there[0].frame_id) if r not in found)
        return found

    def _twins(self, run: FrameRow, edge: str, at: int) -> Sequence[FrameRow]:
        condition = (
            f"page_id = ? AND qualified_name = ? AND kind = ? AND digest = ? AND {edge} = ? "
            "AND (valid_to IS NULL OR valid_to > valid_from)"
        )
        given = (run.page_id, run.qualified_name, run.kind, run.digest, at)
        return self._catalog.frames(condition, given)

    def _step(self, event: str, run: FrameRow, at: int, before: FrameRow | None) -> SymbolStep:
        edge = self._edge(run.page_id, at, is_end=event == "closed")
        page = self._page(run.page_id)
        was = None
        if event in ("moved", "renamed") and before is not None:
            was = f"{before.qualified_name} in {self._page(before.page_id).path}"
        return SymbolStep(
            event=event,
            at=Instant(at),
            frame_id=FrameId(run.frame_id),
            page_id=PageId(run.page_id),
            revision_id=RevisionId(run.revision_id),
            path=page.path or "",
            qualified_name=run.qualified_name,
            signature=run.signature,
            lines=(run.line_a, run.line_b),
            digest=Digest(run.digest),
            was=was,
            reason=edge.reason if event == "closed" else None,
            commit=edge.commit,
            author=edge.author,
        )

    def _edge(self, page: str, at: int, *, is_end: bool) -> _Edge:
        """What happened to a page at an instant."""
        for span in reversed(self._spans_of(page)):
            if is_end and span.valid_to == at:
                return _Edge(span.end_commit, span.end_author, span.ended_by, span.moved_to)
            if not is_end and span.valid_from == at:
                return _Edge(span.commit_id, span.author)
        return _Edge(None, None)

    def _before(self, link: Link) -> tuple[str, FrameRow] | None:
        """What a symbol was before it opened here; and how it came."""
        first = link.runs[0]
        closed = self._at("valid_to", first, link.page)
        opened = self._at("valid_from", first, link.page)
        return self._match(first, closed, opened)

    def _after(self, link: Link) -> tuple[str, FrameRow] | None:
        last = link.runs[-1]
        if last.valid_to is None:
            return None
        at = last._replace(valid_from=last.valid_to)
        opened = self._at("valid_from", at, link.page)
        closed = self._at("valid_to", at, link.page)
        return self._match(last, opened, closed)

    def _match(
        self, row: FrameRow, others: Sequence[FrameRow], own: Sequence[FrameRow]
    ) -> tuple[str, FrameRow] | None:
        """The only one of `others`, at the other side of the instant, that is this symbol."""
        same = [o for o in others if _is_same(o, row) and o.frame_id != row.frame_id]
        if len(same) == 1 and sum(_is_same(o, row) for o in own) == 1:
            return "moved", same[0]
        in_moved = [o for o in others if self._is_renamed_file(o, row)]
        if len(in_moved) == 1:
            return "moved", in_moved[0]
        named = [o for o in others if o.page_id == row.page_id and self._is_renamed(o, row)]
        return ("renamed", named[0]) if len(named) == 1 else None

    def _at(self, edge: str, row: FrameRow, page: PageRow) -> list[FrameRow]:
        """The frames of one kind in a source with an edge at the instant at which this one opens,
        and no other run on the other side of it."""
        other = "valid_from" if edge == "valid_to" else "valid_to"
        condition = (
            f"kind = ? AND {edge} = ? AND page_id IN (SELECT page_id FROM page WHERE root_id = ?) "
            "AND (valid_to IS NULL OR valid_to > valid_from) AND NOT EXISTS (SELECT 1 FROM frame "
            f"AS twin WHERE twin.frame_id = frame.frame_id AND twin.{other} = frame.{edge})"
        )
        return list(self._catalog.frames(condition, (row.kind, row.valid_from, page.root_id)))

    def _is_renamed_file(self, other: FrameRow, row: FrameRow) -> bool:
        """The same name in a file that became the other, or was it."""
        if other.page_id == row.page_id or other.qualified_name != row.qualified_name:
            return False
        pair = (other.page_id, row.page_id)
        query = "type = 'renamed_from' AND from_page IN (?, ?) AND to_page IN (?, ?)"
        return bool(self._catalog.relations(query, (*pair, *pair)))

    def _is_renamed(self, other: FrameRow, row: FrameRow) -> bool:
        if other.name == row.name:
            return False
        try:
            old, new = self._bytes(other), self._bytes(row)
        except PcpfsError:
            return False
        return under_another_name(other.name, row.name, old, new)

    def _bytes(self, row: FrameRow) -> bytes:
        return self._reader.payload(f"{row.page_id}@{row.revision_id}")[row.byte_a : row.byte_b]

    def _source(self, step: SymbolStep) -> bytes:
        """As lines, of which the last one ends too."""
        rows = self._catalog.frames(
            "frame_id = ? AND digest = ? AND revision_id = ?",
            (step.frame_id, step.digest, step.revision_id),
        )
        return self._bytes(rows[0]) + b"\n"

    def _page(self, page: str) -> PageRow:
        if page not in self._pages:
            self._pages[page] = self._reader.page(page)
        return self._pages[page]

    def _spans_of(self, page: str) -> list[SpanRow]:
        if page not in self._spans:
            self._spans[page] = self._catalog.spans(page)
        return self._spans[page]


def _is_same(other: FrameRow, row: FrameRow) -> bool:
    """To the letter, but perhaps for the place."""
    return (other.name, other.digest) == (row.name, row.digest)
