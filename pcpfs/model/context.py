"""What a thread learns, and bounded views of it: the values of the ledger (ContextProtocol)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pcpfs.errors import UsageError
from pcpfs.model.instants import Instant

FAILURE, SUCCESS, REFLECTION = "failure", "success", "reflection"
IMPORTANCE: Mapping[str, float] = {REFLECTION: 0.9, FAILURE: 0.8, SUCCESS: 0.6}
"""How much entries of these tags matter, unless their writer says otherwise (ledger L7)."""
ORDINARY = 0.5
BY_TAGS = float("nan")
"""Stands for the importance that an entry has by its tags, else ORDINARY."""


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One thing that was learnt: by whom or what (`source`), when, and how much it matters (0..1).

    `timestamp` may be given as RFC 3339 text or an aware datetime, `tags` as any iterable. An
    `importance` that is not given is 0.8 for a failure, 0.6 for a success, 0.9 for a reflection,
    else 0.5. With a `key` the same entry is ingested once, however often it is sent.
    """

    source: str
    content: str
    timestamp: Instant
    tags: tuple[str, ...] = ()
    importance: float = BY_TAGS
    goal_id: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        for name in ("source", "content", "goal_id", "key"):
            _refuse_other_than_text(getattr(self, name), name, optional=name in ("goal_id", "key"))
        if isinstance(self.importance, bool) or not isinstance(self.importance, (int, float)):
            raise UsageError(f"an importance is a number, not {self.importance!r}")
        object.__setattr__(self, "timestamp", _instant(self.timestamp))
        object.__setattr__(self, "tags", _tags(self.tags))
        object.__setattr__(self, "content", _readable(self.content))
        given = importance_of(self.tags) if self.importance is BY_TAGS else float(self.importance)
        object.__setattr__(self, "importance", given)
        if not (math.isfinite(self.importance) and 0 <= self.importance <= 1):
            raise UsageError(f"an importance is between 0 and 1, not {self.importance}")
        if not self.source.strip():
            raise UsageError("an entry names its source, such as tool:grep or user:anna")
        if self.goal_id is not None and not self.goal_id.strip():
            raise UsageError("a goal has a name; leave it away for entries about no goal")


def importance_of(tags: Iterable[str]) -> float:
    """The importance of an entry with these tags if nobody gives another (ledger L7)."""
    return max((IMPORTANCE[tag] for tag in tags if tag in IMPORTANCE), default=ORDINARY)


@dataclass(frozen=True, slots=True)
class Remainder:
    """What a cut entry leaves out: bytes [start, end) of the payload of this page."""

    page_id: str
    bytes: tuple[int, int]


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """An entry as a view shows it. `terms` are the parts of `score`, by name; `words` those words
    of the query that it has; `tokens` what it costs. Of an entry that was too long for the budget
    `content` is the beginning with a mark, and `remainder` the rest."""

    page_id: str
    source: str
    content: str
    timestamp: Instant
    tags: tuple[str, ...]
    importance: float
    goal_id: str | None
    score: float
    terms: Mapping[str, float]
    tokens: int
    words: tuple[str, ...] = ()
    revision_id: str | None = None
    remainder: Remainder | None = None

    def to_json(self) -> dict[str, object]:
        members: dict[str, object] = {
            "page_id": self.page_id,
            "revision_id": self.revision_id,
            "source": self.source,
            "content": self.content,
            "timestamp": str(self.timestamp),
            "tags": list(self.tags),
            "goal_id": self.goal_id,
            "importance": self.importance,
            "score": self.score,
            "terms": dict(self.terms),
            "words": list(self.words),
            "tokens": self.tokens,
            "remainder": self.remainder,
        }
        return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ContextProjection:
    """A ranked view within a budget. `token_count` is the sum over `entries`, never above
    `token_budget`, in the units of `counter`; `total_entries` counts what the view could reach."""

    entries: tuple[ShownEntry, ...]
    summary: str
    total_entries: int
    token_count: int
    algorithm_version: str
    token_budget: int
    counter: str


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """Entries of a thread in its order; `cursor` asks for more."""

    entries: tuple[ShownEntry, ...]
    total_entries: int
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class GoalEvidence:
    """What is known about one goal (None: about none): numbers, and the entries that show it."""

    goal_id: str | None
    entries: int
    tagged: Mapping[str, int]
    evidence: tuple[ShownEntry, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Reflection:
    """Structured evidence for looking back: failures, successes and reflections by goal."""

    goals: tuple[GoalEvidence, ...]
    total_entries: int
    token_count: int
    algorithm_version: str
    token_budget: int
    counter: str


def _instant(given: object) -> Instant:
    if isinstance(given, Instant):
        return given
    if isinstance(given, datetime):
        return Instant.read(given.isoformat())
    if isinstance(given, str):
        return Instant.read(given)
    raise UsageError(f"{given!r} is no time; give RFC 3339 text, or a datetime with a time zone")


def _tags(given: Any) -> tuple[str, ...]:
    if isinstance(given, Mapping) or not isinstance(given, Iterable):
        raise UsageError(f"tags are a list of texts, not {given!r}")
    found = tuple(dict.fromkeys([given] if isinstance(given, str) else given))
    for tag in found:
        _refuse_other_than_text(tag, "one of the tags")
    return found


def _refuse_other_than_text(given: object, name: str, *, optional: bool = False) -> None:
    if not (isinstance(given, str) or (optional and given is None)):
        raise UsageError(f"{name} is a text, not {given!r}")


def _readable(content: str) -> str:
    """Text that is UTF-8: halves of surrogate pairs, which tools do produce, become escapes."""
    return content.encode("utf-8", "backslashreplace").decode("utf-8")
