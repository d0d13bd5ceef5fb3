"""What the branches of a source did to a symbol beside the line: when, by whom, in which file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pcpfs.model.frames import Frame
from pcpfs.model.ids import FrameId
from pcpfs.model.symbol_answers import SymbolStep
from pcpfs.store.branches import Held, RootBranches
from pcpfs.store.catalogs.rows import BesideFrameRow, BesideRow
from pcpfs.store.reading import Reader
from pcpfs.store.searches.symbol_alike import LONGEST, Named, Why, is_renamed, is_same, step_of


class Told(NamedTuple):
    """One thing that a commit did to a symbol; `other` is what it was, or became, elsewhere by the
    same commit."""

    symbol: BesideFrameRow
    beside: BesideRow
    other: BesideFrameRow | None = None


class Text(NamedTuple):
    """A symbol as a branch has it, with its bytes, and the commit that made the file so."""

    page: str
    held: Held
    frame: Frame
    source: bytes


@dataclass(slots=True)
class BranchLife:
    """Follows symbols through what is known of the branches of all sources."""

    reader: Reader
    _roots: dict[str | None, RootBranches] = field(default_factory=dict, init=False)
    _commits: dict[tuple[str, str], list[Told]] = field(default_factory=dict, init=False)

    def root(self, page: str) -> RootBranches:
        """The branches of the source of a page."""
        root_id = self.reader.page(page).root_id
        if root_id not in self._roots:
            self._roots[root_id] = RootBranches.of(self.reader.catalog, root_id)
        return self._roots[root_id]

    def roots(self) -> list[RootBranches]:
        """The branches of all sources."""
        rows = self.reader.catalog.roots()
        return [RootBranches.of(self.reader.catalog, row.root_id) for row in rows]

    def named(self, name: str, page: str | None) -> list[str]:
        """The frames that have or had a name on a branch, in an order that stays."""
        wanted = Named.by(name)
        rows = self._rows(f"beside_frame.{wanted.column} = ?", wanted.value)
        found = [
            told.symbol
            for told in rows
            if page in (None, told.symbol.page_id) and wanted.means(told.symbol)
        ]
        found.sort(key=lambda row: (self.reader.page(row.page_id).path or "", row.frame_id))
        return list(dict.fromkeys(row.frame_id for row in found))

    def told(self, frames: Iterable[str]) -> list[Told]:
        """What commits did to a symbol under these ids, and under those that it had on a branch
        only, in order of time; what moved it once."""
        waiting, seen = list(frames), set[str]()
        found: list[Told] = []
        while waiting and len(seen) < LONGEST:
            frame = waiting.pop()
            if frame in seen:
                continue
            seen.add(frame)
            for told in self._rows("beside_frame.frame_id = ?", frame):
                other = self._other(told)
                if other is not None:
                    waiting.append(other.frame_id)
                if other is None or told.symbol.event != "closed":
                    found.append(told._replace(other=other))
        return sorted(found, key=lambda t: (t.beside.at, t.beside.place, t.symbol.frame_id))

    def step(self, told: Told) -> SymbolStep:
        symbol, beside, other = told
        was = None
        if other is not None:
            was = f"{other.qualified_name} in {self.reader.page(other.page_id).path}"
        reason = (beside.reason or "changed") if symbol.event == "closed" else None
        branches = self.root(symbol.page_id).names(beside.commit_id)
        why = Why(beside.commit_id, beside.author, was, reason, branches)
        path = self.reader.page(symbol.page_id).path
        return step_of(symbol, path, _event(symbol, other), beside.at, why)

    def text(self, frames: Iterable[tuple[str, str]], name: str) -> Text | None:
        """What a symbol is on a branch, given the pages and ids under which it is known; None if
        it has none. NotFound where that is not recorded."""
        for page, frame_id in dict.fromkeys(frames):
            branches = self.root(page)
            ref = branches.find(name)
            held = branches.held(page, ref) if ref else None
            if held is not None:
                frame = self.reader.symbols(page, held.revision, held.adapter).get(
                    FrameId(frame_id)
                )
                if frame is not None:
                    raw = self.reader.payload(f"{page}@{held.revision}")
                    start, end = frame.symbol.bytes
                    return Text(page, held, frame, raw[start:end])
        return None

    def _rows(self, condition: str, *given: str) -> list[Told]:
        """What commits did of which a branch has one now."""
        width = len(BesideFrameRow._fields)
        rows = self.reader.catalog.query(
            "SELECT beside_frame.*, beside.* FROM beside_frame JOIN beside USING (page_id, place) "
            f"WHERE {condition} ORDER BY beside_frame.page_id, beside_frame.place",
            given,
        )
        found = (Told(BesideFrameRow(*row[:width]), BesideRow(*row[width:])) for row in rows)
        return [t for t in found if t.beside.commit_id in self.root(t.beside.page_id)]

    def _other(self, told: Told) -> BesideFrameRow | None:
        """What an opened symbol was elsewhere before the commit, or what a closed one became: of
        the same kind, and either the only one with its name and bytes, or of the same name in a
        file that was renamed, or the same but for its name."""
        symbol = told.symbol
        if symbol.event == "changed":
            return None
        wanted = "closed" if symbol.event == "opened" else "opened"
        around = [one for one in self._at(told.beside) if one.symbol.kind == symbol.kind]
        same = {
            event: [
                o.symbol for o in around if o.symbol.event == event and is_same(o.symbol, symbol)
            ]
            for event in ("opened", "closed")
        }
        if len(same["opened"]) == len(same["closed"]) == 1:
            return same[wanted][0]
        renamed = [
            one.symbol
            for one in around
            if one.symbol.event == wanted
            and one.symbol.qualified_name == symbol.qualified_name
            and one.symbol.page_id != symbol.page_id
            and (
                told.beside.moved_of == one.beside.page_id
                or one.beside.moved_of == told.beside.page_id
            )
        ]
        if len(renamed) == 1:
            return renamed[0]
        named = [
            one.symbol
            for one in around
            if one.symbol.event == wanted
            and one.symbol.page_id == symbol.page_id
            and self._is_renamed(one.symbol, symbol)
        ]
        return named[0] if len(named) == 1 else None

    def _is_renamed(self, one: BesideFrameRow, other: BesideFrameRow) -> bool:
        """Whether two symbols of a file say the same, but for their names."""
        old, new = (one, other) if one.event == "closed" else (other, one)
        return is_renamed(self.reader, old, new)

    def _at(self, beside: BesideRow) -> list[Told]:
        """All that a commit did in the same source."""
        root = self.reader.page(beside.page_id).root_id or ""
        key = (root, beside.commit_id)
        if key not in self._commits:
            self._commits[key] = self._rows(
                "beside.commit_id = ? AND beside.page_id IN "
                "(SELECT page_id FROM page WHERE root_id = ?)",
                beside.commit_id,
                root,
            )
        return self._commits[key]


def commits_of(roots: Iterable[RootBranches], name: str) -> Iterator[str]:
    """The commits beside the line that branches of this name have."""
    for root in roots:
        ref = root.find(name)
        if ref is not None:
            yield from root.commits(ref)


def _event(symbol: BesideFrameRow, other: BesideFrameRow | None) -> str:
    if other is None:
        return symbol.event
    is_same = other.page_id != symbol.page_id or other.digest == symbol.digest
    return "moved" if is_same else "renamed"
