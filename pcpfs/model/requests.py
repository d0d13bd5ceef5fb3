"""What callers ask of a store: drafts of revisions and events, and the filters of a search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pcpfs.model.instants import Instant
from pcpfs.model.pages import ContentRef

PROJECTIONS = ("manifest", "payload", "source_spans", "relations", "facets", "history")
MODES = ("exact", "text", "graph", "temporal", "auto")
"""The search modes that are declared; PCP also names `semantic` and `hybrid`, which are not."""

STATUSES = ("active", "superseded", "archived", "tombstoned")
SYMBOL = "symbol"
"""As a kind in a filter: any symbol, whatever its own kind."""
EVENT = "event"
MOST_RESULTS = 200
DEFAULT_BYTES = 32_768
"""Of a bundle of parts of several pages."""
DEFAULT_TOKENS = 2048
"""Of a map of a source."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller gives for a new revision. Absent facets are inherited by `revise`.

    Without a payload either `content_ref` says where it lies (PCP-P2), or `source_refs` are all
    that there is (PCP-P1). `relations` are (type, target) pairs as `Session.link` takes them.
    """

    payload: bytes | None = None
    media_type: str | None = None
    title: str | None = None
    tags: tuple[str, ...] | None = None
    cites: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    source_refs: tuple[str, ...] = ()
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    observed_at: Instant | None = None
    epistemic: Mapping[str, str] | None = None
    summary: str | None = None
    keywords: tuple[str, ...] | None = None
    anchors: tuple[str, ...] | None = None
    relations: tuple[tuple[str, str], ...] = ()
    content_ref: ContentRef | None = None
    allow_secret: bool = False


@dataclass(frozen=True, slots=True)
class EventDraft:
    """What a host gives for an event. `observed_at` is when it happened; `about` is what else the
    host says of it, in short texts by name."""

    payload: bytes
    media_type: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    source_refs: tuple[str, ...] = ()
    key: str | None = None
    observed_at: Instant | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    epistemic: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Filters:
    """What results must be; a filter that is not given excludes nothing.

    `kinds`: `page`, `event`, `file`, `symbol`, or kinds of symbols. `prose`: of the sources only
    those that are written for people, or (false) only the others. `tests`, `generated`: of the
    sources only those that are so by their path, or (false) everything else. `path`: a pattern as
    in a `.gitignore` file, over the path of a page in `tree/`, or of a source with or without the
    name of its root. All `tags` are required, and every pair of `epistemic`. `lifecycle`: of
    STATUSES; only `active` if none is given. `relation_types`: the page has a relation of one of
    these types, in or out; in mode `graph` only these are followed, `depth` of them at most.
    `created_after` ≤ recorded < `created_before`.
    """

    kinds: tuple[str, ...] = ()
    prose: bool | None = None
    languages: tuple[str, ...] = ()
    path: str | None = None
    tags: tuple[str, ...] = ()
    lifecycle: tuple[str, ...] = ()
    relation_types: tuple[str, ...] = ()
    created_after: Instant | None = None
    created_before: Instant | None = None
    epistemic: tuple[tuple[str, str], ...] = ()
    depth: int = 1
    tests: bool | None = None
    generated: bool | None = None

    def takes(self, kind: str) -> bool:
        """Whether a result of this kind is wanted."""
        if not self.kinds:
            return True
        is_symbol = kind not in ("page", EVENT, "file")
        return kind in self.kinds or (is_symbol and SYMBOL in self.kinds)

    @property
    def statuses(self) -> tuple[str, ...]:
        return self.lifecycle or ("active",)
