"""Filling a budget, exactly: what fits goes in; what is too long is cut where a sentence ends."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pcpfs.errors import UsageError
from pcpfs.ledger.corpus import Corpus, LedgerEntry
from pcpfs.ledger.counting import TokenCounter
from pcpfs.ledger.ranking import Ranked
from pcpfs.model.context import Remainder, ShownEntry

PATIENCE = 64
"""So many entries in a row that do not fit end the search for more, once something was shown."""
_SAYS = 8  # tokens that a cut leaves besides its mark, or it is not worth it

_SENTENCE_END = re.compile(
    "[.!?\u2026]+[\"')\\]\u201d\u2019]*(?=\\s)|[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\u201d\u2019\uff09]*|\n"
)
_WIDEST = 16  # characters a token, of which cuts are looked for
_SPACE = re.compile(r"\s")
_JOINERS = "\u200d\ufe0e\ufe0f"


@dataclass(slots=True)
class Fitting:
    """One budget on its way to being full."""

    corpus: Corpus
    counter: TokenCounter
    budget: int
    terms: Callable[[int], Mapping[str, float]]
    question: tuple[str, ...] = ()
    limit: int | None = None
    _shortest: int = field(init=False)

    def __post_init__(self) -> None:
        self._shortest = self.corpus.columns.shortest()
        if isinstance(self.budget, bool) or not isinstance(self.budget, int) or self.budget < 0:
            raise UsageError(f"a token budget is a whole number from 0 on, not {self.budget!r}")
        if self.limit is not None and self.limit < 0:
            raise UsageError(f"a limit is a whole number from 0 on, not {self.limit!r}")

    def fill(self, ranked: Iterable[Ranked]) -> tuple[ShownEntry, ...]:
        """The entries in their order, without those that do not fit. The first of these is cut, if
        a part of it says something."""
        shown: list[ShownEntry] = []
        room, missed = self.budget, 0
        least = self.counter.count(_mark("pg_" + "0" * 26, 1000, 10000)) + _SAYS
        has_cut = False
        for one in ranked:
            can_cut = not has_cut and room >= least
            if missed > PATIENCE or len(shown) == self.limit or self._is_full(room, can_cut):
                break
            entry = self._whole(one, room)
            if entry is None and can_cut:
                entry = self._cut(self.corpus.entries[one.position], one, room)
                has_cut = True
            if entry is None:
                missed += bool(shown) or not one.is_found
                continue
            missed = 0
            shown.append(entry)
            room -= entry.tokens
        return tuple(shown)

    def _whole(self, one: Ranked, room: int) -> ShownEntry | None:
        """All of an entry, if it fits. One that cannot fit need not be fetched."""
        letters = self.corpus.columns.letters[one.position]
        if self.counter.surely_costs(letters) > room:
            return None
        found = self.corpus.entries[one.position]
        cost = self.counter.fits(found.entry.content, room)
        return None if cost is None else self._shown(found, one, found.entry.content, cost)

    def _is_full(self, room: int, can_cut: bool) -> bool:
        """Whether not even the shortest entry, nor the beginning of any, could fit."""
        too_short = not can_cut and self.counter.surely_costs(self._shortest) > room
        return room <= 0 or too_short

    def _cut(self, found: LedgerEntry, one: Ranked, room: int) -> ShownEntry | None:
        """The longest beginning that ends with a sentence, else with a word, else anywhere."""
        content = found.entry.content[: _WIDEST * room]
        for ends in (_sentences(content), _words(content), _characters(content)):
            low = self._most(found, ends, room)
            if low is not None:
                text, remainder = self._marked(found, ends[low])
                return self._shown(found, one, text, self.counter.count(text), remainder)
        return None

    def _most(self, found: LedgerEntry, ends: list[int], room: int) -> int | None:
        """The index of the last end at which the beginning fits, with its mark; None if none."""

        def too_long(end: int) -> bool:
            return self.counter.fits(self._marked(found, end)[0], room) is None

        fits = bisect_right(ends, False, key=too_long)
        while fits and too_long(ends[fits - 1]):
            fits -= 1  # tokenizers may count a longer text less
        return fits - 1 if fits else None

    def _marked(self, found: LedgerEntry, end: int) -> tuple[str, Remainder]:
        content = found.entry.content
        kept = content[:end].rstrip()
        start, size = len(kept.encode()), len(content.encode())
        return kept + _mark(found.page_id, start, size), Remainder(found.page_id, (start, size))

    def _shown(
        self,
        found: LedgerEntry,
        one: Ranked,
        content: str,
        tokens: int,
        remainder: Remainder | None = None,
    ) -> ShownEntry:
        entry = found.entry
        held = (term for term in self.question if self.corpus.has(term, one.position))
        return ShownEntry(
            page_id=found.page_id,
            source=entry.source,
            content=content,
            timestamp=entry.timestamp,
            tags=entry.tags,
            importance=entry.importance,
            goal_id=entry.goal_id,
            score=one.score,
            terms=self.terms(one.position),
            tokens=tokens,
            words=tuple(held),
            revision_id=found.revision_id,
            remainder=remainder,
        )


def _mark(page_id: str, start: int, size: int) -> str:
    return f" […{size - start} more bytes: {page_id}#bytes={start}-{size}]"


def plainly_shown(found: LedgerEntry, counter: TokenCounter) -> ShownEntry:
    """An entry as it is, without ranking."""
    entry = found.entry
    return ShownEntry(
        page_id=found.page_id,
        source=entry.source,
        content=entry.content,
        timestamp=entry.timestamp,
        tags=entry.tags,
        importance=entry.importance,
        goal_id=entry.goal_id,
        score=0.0,
        terms={},
        tokens=counter.count(entry.content),
        revision_id=found.revision_id,
    )


def _sentences(text: str) -> list[int]:
    start = len(text) - len(text.lstrip())
    return [match.end() for match in _SENTENCE_END.finditer(text, start)]


def _words(text: str) -> list[int]:
    start = len(text) - len(text.lstrip())
    return [match.start() for match in _SPACE.finditer(text, start)]


def _characters(text: str) -> list[int]:
    """Ends that part no mark from its letter and no emoji from what belongs to it."""
    return [end for end in range(1, len(text)) if not _belong(text[end - 1], text[end])]


def _belong(before: str, after: str) -> bool:
    return (
        bool(unicodedata.combining(after))
        or after in _JOINERS
        or before in "\u200d"
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or ("\U0001f1e6" <= before <= "\U0001f1ff" and "\U0001f1e6" <= after <= "\U0001f1ff")
    )
