"""Following a symbol along the line of its source.

A move is a file that was renamed, or a symbol of the same kind, last name and bytes that closed
once and opened once at the same instant (CASES). A new name is one of the same kind and page whose
bytes are those before, but for the name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pcpfs.model.frames import FILE_KIND
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.symbol_answers import SymbolDifference, SymbolLife, SymbolStep
from pcpfs.store.catalogs.rows import FrameRow, PageRow, SpanRow
from pcpfs.store.differences import unified
from pcpfs.store.reading import Reader
from pcpfs.store.searches.branch_life import BranchLife, Text
from pcpfs.store.searches.symbol_alike import (
    LONGEST,
    Named,
    Why,
    is_renamed,
    is_same,
    source_of,
    step_of,
)


@dataclass(slots=True)
class Link:
    """A part of a life under one id and without a gap: runs each of which begins as the one before
    it ends; and how it came from the link before."""

    page: PageRow
    runs: list[FrameRow]
    event: str = "opened"

    @property
    def frame_id(self) -> str:
        return self.runs[0].frame_id

    @property
    def start(self) -> int:
        return self.runs[0].valid_from

    @property
    def key(self) -> tuple[str, int]:
        """Tells it from all others."""
        return self.frame_id, self.start


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
        self._links: dict[str, list[Link]] = {}
        self._edges: dict[tuple[object, ...], tuple[list[FrameRow], list[FrameRow]]] = {}

    def named(self, name: str, page: str | None) -> list[str]:
        """The frames that have or had a name, by path."""
        wanted = Named.by(name)
        where, given = f"{wanted.column} = ?", [wanted.value]
        if page is not None:
            where, given = f"{where} AND page_id = ?", [*given, page]
        found = self._catalog.frames(where, given)
        rows = [row for row in found if row.kind != FILE_KIND and wanted.means(row)]
        rows.sort(key=lambda row: (self._page(row.page_id).path or "", row.line_a, row.frame_id))
        return list(dict.fromkeys(row.frame_id for row in rows))

    def links(self, frame: str) -> list[Link]:
        """The stretches of time over which the line has or had a frame, the first one first."""
        if frame not in self._links:
            rows = self._catalog.frames("frame_id = ?", (frame,))
            held = [r for r in rows if r.valid_to is None or r.valid_to > r.valid_from]
            found: list[Link] = []
            for row in sorted(held or rows, key=lambda row: row.valid_from):
                if found and found[-1].runs[-1].valid_to == row.valid_from:
                    found[-1].runs.append(row)
                else:
                    found.append(Link(self._page(row.page_id), [row]))
            self._links[frame] = found
        return self._links[frame]

    def link_at(self, frame: str, moment: int) -> Link | None:
        """The link of a frame that holds at an instant or was the last before it; the first one
        where that is later. None if the line never had it."""
        links = self.links(frame)
        return next((link for link in reversed(links) if link.start <= moment), None) or next(
            iter(links), None
        )

    def chain(self, link: Link) -> list[Link]:
        """The names and places of a symbol, the first one first."""
        chain, known = [link], {link.key}
        while len(known) < LONGEST and (found := self._before(chain[0])) is not None:
            event, before = found
            if before.key in known:
                break
            chain[0].event = event
            known.add(before.key)
            chain.insert(0, before)
        while len(known) < LONGEST and (found := self._after(chain[-1])) is not None:
            event, after = found
            if after.key in known:
                break
            after.event = event
            known.add(after.key)
            chain.append(after)
        return chain

    def steps(self, chain: Sequence[Link]) -> Iterator[SymbolStep]:
        """Everything that happened, the first thing first."""
        before: FrameRow | None = None
        for number, link in enumerate(chain):
            for place, run in enumerate(link.runs):
                event = "changed" if place else link.event
                if event != "changed" or before is None or before.digest != run.digest:
                    yield self._step(event, run, run.valid_from, before)
                before = run
            goes_on = number + 1 < len(chain) and chain[number + 1].event != "opened"
            last = link.runs[-1]
            if last.valid_to is not None and not goes_on:
                yield self._step("closed", last, last.valid_to, None)

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

    def _step(self, event: str, run: FrameRow, at: int, before: FrameRow | None) -> SymbolStep:
        edge = self._edge(run.page_id, at, is_end=event == "closed")
        was = None
        if event in ("moved", "renamed") and before is not None:
            was = f"{before.qualified_name} in {self._page(before.page_id).path}"
        why = edge._replace(was=was)
        return step_of(run, self._page(run.page_id).path, event, at, why)

    def _edge(self, page: str, at: int, *, is_end: bool) -> Why:
        """By whom a page became what it is from an instant on, or ended, and why."""
        for span in reversed(self._spans_of(page)):
            if is_end and span.valid_to == at:
                return Why(span.end_commit, span.end_author, reason=span.ended_by)
            if not is_end and span.valid_from == at:
                return Why(span.commit_id, span.author)
        return Why(None, None)

    def _before(self, link: Link) -> tuple[str, Link] | None:
        """What a symbol was before it opened here, and how it came: from elsewhere, or back."""
        came = self._source_of(link)
        if came is not None:
            return came
        links = self.links(link.frame_id)
        place = links.index(link)
        if place and self._target_of(links[place - 1]) is None:
            return "opened", links[place - 1]
        return None

    def _after(self, link: Link) -> tuple[str, Link] | None:
        went = self._target_of(link)
        if went is not None:
            return went
        links = self.links(link.frame_id)
        place = links.index(link) + 1
        if place < len(links) and self._source_of(links[place]) is None:
            return "opened", links[place]
        return None

    def _source_of(self, link: Link) -> tuple[str, Link] | None:
        """From where a symbol came, if what was there has become no other one."""
        found = self._backward(link)
        back = found and self._forward(found[1])
        return found if back and back[1] is link else None

    def _target_of(self, link: Link) -> tuple[str, Link] | None:
        found = self._forward(link)
        back = found and self._backward(found[1])
        return found if back and back[1] is link else None

    def _backward(self, link: Link) -> tuple[str, Link] | None:
        run = link.runs[0]
        return self._match(run, *self._around(run, run.valid_from, link.page))

    def _forward(self, link: Link) -> tuple[str, Link] | None:
        run = link.runs[-1]
        if run.valid_to is None:
            return None
        closed, opened = self._around(run, run.valid_to, link.page)
        return self._match(run, opened, closed)

    def _match(
        self, row: FrameRow, others: Sequence[FrameRow], own: Sequence[FrameRow]
    ) -> tuple[str, Link] | None:
        """The only one of `others`, at the other side of the instant, that is this symbol."""
        same = [o for o in others if is_same(o, row) and o.frame_id != row.frame_id]
        twins = [o for o in same if _is_twin(o, row)]
        if len(twins) == 1 and sum(is_same(o, row) and _is_twin(o, row) for o in own) == 1:
            return "changed", self._link_with(twins[0])
        if len(same) == 1 and sum(is_same(o, row) for o in own) == 1:
            return "moved", self._link_with(same[0])
        in_moved = [o for o in others if self._is_renamed_file(o, row)]
        if len(in_moved) == 1:
            return "moved", self._link_with(in_moved[0])
        named = [o for o in others if o.page_id == row.page_id and is_renamed(self._reader, o, row)]
        return ("renamed", self._link_with(named[0])) if len(named) == 1 else None

    def _link_with(self, run: FrameRow) -> Link:
        return next(link for link in self.links(run.frame_id) if run in link.runs)

    def _around(
        self, run: FrameRow, at: int, page: PageRow
    ) -> tuple[Sequence[FrameRow], Sequence[FrameRow]]:
        """Of the kind of this frame and in its source: what closed at an instant without going on,
        and what opened then without having been there."""
        key = (run.kind, at, page.root_id)
        if key not in self._edges:
            edges = (("valid_to", "valid_from"), ("valid_from", "valid_to"))
            closed, opened = (
                self._catalog.frames(
                    f"kind = ? AND {edge} = ? AND page_id IN "
                    "(SELECT page_id FROM page WHERE root_id = ?) "
                    "AND (valid_to IS NULL OR valid_to > valid_from) "
                    "AND NOT EXISTS (SELECT 1 FROM frame AS twin "
                    f"WHERE twin.frame_id = frame.frame_id AND twin.{other} = frame.{edge})",
                    key,
                )
                for edge, other in edges
            )
            self._edges[key] = (closed, opened)
        return self._edges[key]

    def _is_renamed_file(self, other: FrameRow, row: FrameRow) -> bool:
        """The same name in a file that became the other, or was it."""
        if other.page_id == row.page_id or other.qualified_name != row.qualified_name:
            return False
        pair = (other.page_id, row.page_id)
        query = "type = 'renamed_from' AND from_page IN (?, ?) AND to_page IN (?, ?)"
        return bool(self._catalog.relations(query, (*pair, *pair)))

    def _source(self, step: SymbolStep) -> bytes:
        """As lines, of which the last one ends too."""
        rows = self._catalog.frames(
            "frame_id = ? AND digest = ? AND revision_id = ?",
            (step.frame_id, step.digest, step.revision_id),
        )
        return source_of(self._reader, rows[0]) + b"\n"

    def _page(self, page: str) -> PageRow:
        if page not in self._pages:
            self._pages[page] = self._reader.page(page)
        return self._pages[page]

    def _spans_of(self, page: str) -> list[SpanRow]:
        if page not in self._spans:
            self._spans[page] = self._catalog.spans(page)
        return self._spans[page]


def _is_twin(other: FrameRow, row: FrameRow) -> bool:
    """Of the same name in the same file, where another id tells that more or fewer have it."""
    return (other.page_id, other.qualified_name) == (row.page_id, row.qualified_name)
