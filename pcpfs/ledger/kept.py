"""A thread as it is kept beside the store, so that a question need not read all of it.

Words and columns come from chunks on a shelf; the entries that are shown come from the store itself
and are checked there. Everything here can be made again: it is brought up to date with the store
before each question, extended by what is new, and built anew where anything is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from pcpfs.errors import Corrupt
from pcpfs.ledger.chunks import (
    LINE_BYTES,
    LINES,
    REVISION_BYTES,
    Draft,
    Named,
    bucket_of,
    columns_of,
    digest,
    in_bucket,
)
from pcpfs.ledger.corpus import Corpus, Fetched, LedgerEntry, Postings
from pcpfs.ledger.events import entry_of, placed
from pcpfs.ledger.order import Placed, goes_on, in_order
from pcpfs.ledger.shelf import Shelf, State
from pcpfs.ledger.words import Words
from pcpfs.model.ids import RevisionId
from pcpfs.store.events.event_log import EventLog


class Kept(Corpus):
    """All entries of a thread, by what is kept of them."""

    def __init__(self, words: Words, log: EventLog, shelf: Shelf) -> None:
        self.words = words
        self._log = log
        self._shelf = shelf
        self.show(State("", ""))

    def show(self, state: State) -> None:
        """Be what this state says; Corrupt if that is not there."""
        self._chunks = [self._shelf.parts(n, named) for n, named in enumerate(state.chunks)]
        self._found: dict[str, Postings | None] = {}
        self._lines: dict[int, bytes] = {}
        self.columns, self._lengths = columns_of(self._chunks)
        self.entries = Fetched(range(state.count), self._entry)

    def lengths(self) -> Sequence[int]:
        return self._lengths

    def postings(self, key: str) -> Postings | None:
        if key not in self._found:
            self._found[key] = self._gathered(key)
        return self._found[key]

    def position_of(self, revision_id: str) -> int | None:
        if not RevisionId.pattern.fullmatch(revision_id):
            return None
        wanted = bytes.fromhex(revision_id.removeprefix("rev_"))
        for number in range(len(self._chunks)):
            rows = self._rows(number)
            for start in range(0, len(rows), LINE_BYTES):
                if rows.startswith(wanted, start):
                    return number * self._shelf.chunk + start // LINE_BYTES
        return None

    def _gathered(self, key: str) -> Postings | None:
        found, bucket = Postings(), bucket_of(key)
        for parts in self._chunks:
            part = in_bucket(parts.part(bucket), key)
            if part is not None:
                found.positions.frombytes(part[0])
                found.counts.frombytes(part[1])
        return found if found.positions else None

    def _entry(self, position: int) -> LedgerEntry:
        number, place = divmod(position, self._shelf.chunk)
        row = self._rows(number)[place * LINE_BYTES : (place + 1) * LINE_BYTES]
        revision = f"rev_{row[:REVISION_BYTES].hex()}"
        return entry_of(self._log.event(revision, row[REVISION_BYTES:]))

    def _rows(self, number: int) -> bytes:
        if number not in self._lines:
            self._lines[number] = self._chunks[number].part(LINES)
        return self._lines[number]


LITTLE = 4
"""So many new segments are taken in before somebody asks; more wait for the first question."""


class Keeper:
    """Brings what is kept of one thread up to date with the store. Whoever calls holds the lock."""

    def __init__(self, words: Words, log: EventLog, shelf: Shelf) -> None:
        self._words = words
        self._log = log
        self._shelf = shelf
        self._draft: tuple[Named, Draft] | None = None

    def caught_up(self, state: State | None, stamp: str) -> State:
        """The state that belongs to a stamp, kept."""
        segments, withdrawn = self._log.segments(), self._log.withdrawn()
        told = self._told(state)
        new = [segment for segment in segments if segment not in told]
        out = digest("\n".join(withdrawn).encode())
        goes_on_from = (
            state is not None
            and told <= segments.keys()
            and state.is_whole
            and state.withdrawn == out
            and not any(map(self._log.overlaps, new))
        )
        if goes_on_from and state is not None:
            found = self._extended(state, [segments[segment] for segment in new])
        else:
            found = None
        if found is None:
            found = self._anew(state, list(segments.values()), frozenset(withdrawn), stamp)
        found = replace(found, stamp=stamp, withdrawn=out, told=self._shelf.put_told(segments))
        # What could not be read may come back without a change of the store: look again next time.
        self._shelf.put_state(found if found.is_whole else replace(found, stamp=""))
        return found

    def _read(self, paths: Sequence[str]) -> tuple[list[Placed], bool]:
        """The entries of these segments in their order, and whether all of them could be read."""
        events = list(self._log.read(paths))
        found = in_order(placed(event) for event in events if event is not None)
        return found, None not in events and all(one.is_whole for one in found)

    def is_little_behind(self, state: State | None) -> bool:
        """Whether catching up reads a few segments only."""
        return len(self._log.segments().keys() - self._told(state)) <= LITTLE

    def _told(self, state: State | None) -> set[str]:
        try:
            return set() if state is None else self._shelf.told(state)
        except Corrupt:
            return set()

    def _extended(self, state: State, paths: Sequence[str]) -> State | None:
        """With what these segments have; None if that does not come after everything there is."""
        new, is_whole = self._read(paths)
        if not goes_on(set(state.latest), new):
            return None
        latest = (new[-1].revision,) if new else state.latest
        return replace(self._with(state, new), latest=latest, is_whole=is_whole)

    def _anew(
        self, state: State | None, paths: Sequence[str], withdrawn: frozenset[str], stamp: str
    ) -> State:
        """Everything in its order; what is at the beginning already stays."""
        every, is_whole = self._read(paths)
        followed = {before for one in every for before in one.after}
        latest = tuple(one.revision for one in every if one.revision not in followed)
        shown = [one for one in every if one.found.page_id not in withdrawn]
        kept = State(stamp, stamp) if state is None else self._cut(state, shown, stamp)
        found = self._with(kept, shown[kept.count :])
        return replace(found, latest=latest, is_whole=is_whole)

    def _cut(self, state: State, order: Sequence[Placed], stamp: str) -> State:
        """What is at the beginning of this order and can be trusted, in full chunks."""
        pairs = zip(self._keys(state), (one.line.key for one in order), strict=False)
        equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        chunks = min(equal, state.sound) // self._shelf.chunk
        count = chunks * self._shelf.chunk
        return State(stamp, stamp, count, count, chunks=state.chunks[:chunks])

    def _keys(self, state: State) -> Iterator[bytes]:
        """By which lines are known, in order, as far as that can be read."""
        for number, named in enumerate(state.chunks):
            try:
                rows = self._shelf.parts(number, named).part(LINES)
            except Corrupt:
                return
            yield from (rows[n : n + LINE_BYTES] for n in range(0, len(rows), LINE_BYTES))

    def _with(self, state: State, new: Sequence[Placed]) -> State:
        """These entries added at the end."""
        chunks = list(state.chunks)
        draft = self._last(state)
        for one in new:
            if len(draft.lengths) == self._shelf.chunk:
                chunks[self._number(draft) :] = [self._put(draft)]
                draft = Draft(draft.end)
            draft.add(one.line, self._words)
        if new:
            chunks[self._number(draft) :] = [self._put(draft)]
            self._draft = (chunks[-1], draft)
        unsound = [n for n, one in enumerate(new, state.count) if not one.is_whole]
        count = state.count + len(new)
        sound = min(unsound, default=count) if state.sound == state.count else state.sound
        return replace(state, count=count, sound=sound, chunks=tuple(chunks))

    def _last(self, state: State) -> Draft:
        """The chunk to go on with."""
        if not state.chunks:
            return Draft(0)
        ours, self._draft = self._draft, None
        if ours is not None and ours[0] == state.chunks[-1]:
            return ours[1]
        number = len(state.chunks) - 1
        return Draft.of(number * self._shelf.chunk, self._shelf.parts(number, state.chunks[-1]))

    def _put(self, draft: Draft) -> Named:
        return self._shelf.put(self._number(draft), draft.parts())

    def _number(self, draft: Draft) -> int:
        return draft.start // self._shelf.chunk


def can_be_used(shelf: Shelf, state: State) -> bool:
    """Whether everything that a state names is there as it was written."""
    try:
        shelf.told(state)
        for number, named in enumerate(state.chunks):
            parts = shelf.parts(number, named)
            for name in parts.names():
                parts.part(name)
    except Corrupt:
        return False
    return True
