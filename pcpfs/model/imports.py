"""What importers find in a foreign format: pages and events, before a store has seen them."""

from __future__ import annotations

from dataclasses import dataclass

from pcpfs.model.requests import Draft, EventDraft


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page of a foreign collection. `key` names it there, for good. Links point to one of the
    `names` of another page of the same import; names are compared without upper and lower case."""

    key: str
    draft: Draft
    path: str
    names: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FoundEvents:
    """Events of one conversation or log, in their order; each has a key. `scope` is where they go
    if the caller names none."""

    scope: str
    drafts: tuple[EventDraft, ...]


@dataclass(frozen=True, slots=True)
class Unread:
    """Something that could not be taken in, and why; the rest is."""

    path: str
    reason: str


Found = FoundPage | FoundEvents | Unread
