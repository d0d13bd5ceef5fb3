"""What the store answers: frozen values that every door (CLI, MCP, provider, view) renders.

`plain` turns an answer into the JSON that DESIGN's contract of the CLI names; absent values are
omitted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass

from pcpfs.model.changes import Relation
from pcpfs.model.ids import Digest, FrameId, PageId, RevisionId, RootId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import ContentRef, Facets, Payload, Principal, ProvenanceEvent


def plain(value: object) -> object:
    """JSON-ready: values that know how (`to_json`), dataclasses as objects without their absent
    members, instants and ids as strings."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Instant | Principal):
        return str(value)
    if hasattr(value, "to_json"):
        return plain(value.to_json())
    if is_dataclass(value) and not isinstance(value, type):
        members = {f.name: getattr(value, f.name) for f in fields(value)}
        return {name: plain(v) for name, v in members.items() if v is not None}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items() if v is not None}
    if isinstance(value, list | tuple | frozenset | set):
        items = sorted(value) if isinstance(value, frozenset | set) else value
        return [plain(item) for item in items]
    raise TypeError(f"{type(value).__name__} is no part of an answer")


def _text(value: str) -> str:
    """Text that UTF-8 can hold: bytes of a path that were none, and halves of characters that
    somebody sent us, are replaced."""
    try:
        raw = value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = value.encode("utf-8", "surrogatepass")
    return raw.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Pins:
    """Two independent points of view: true in the world then, known to the store then."""

    as_of: Instant | None = None
    recorded_as_of: Instant | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The final ids of a write (PCP WritePage, RevisePage). `created` is false for a retry."""

    page_id: PageId
    revision_id: RevisionId
    scope: str
    path: str | None
    created: bool = True
    commit: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """One cited frame that no longer holds: what it was, and what is there now."""

    frame_id: FrameId
    qualified_name: str
    path: str
    digest: Digest
    status: str
    closed_at: Instant | None
    replacement_digest: Digest | None = None
    root: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """A page without its payload: identity, source, time, state (projection `manifest`)."""

    page_id: PageId
    revision_id: RevisionId
    heads: tuple[RevisionId, ...]
    scope: str
    kind: str
    title: str
    path: str | None
    owner_id: str
    namespace: str
    visibility: str
    lifecycle_status: str
    payload: Payload | None
    source_refs: tuple[str, ...]
    provenance: tuple[ProvenanceEvent, ...]
    created_at: Instant
    created_by: Principal
    facets: Facets
    epistemic: Mapping[str, str]
    valid_from: Instant | None
    valid_to: Instant | None
    observed_at: Instant | None
    root: str | None = None
    language: str | None = None
    error_count: int | None = None
    test: bool | None = None
    generated: bool | None = None
    incomplete: bool | None = None
    suspect: tuple[Suspicion, ...] | None = None
    content_ref: ContentRef | None = None
    as_of: Instant | None = None
    recorded_as_of: Instant | None = None


@dataclass(frozen=True, slots=True)
class FrameView:
    """A frame as served: the symbol, where it is, and over which time it holds. `test` and
    `generated` are true where that is so of its source, else None; the same in other answers."""

    frame_id: FrameId
    page_id: PageId
    revision_id: RevisionId
    scope: str
    root: str
    path: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    lines: tuple[int, int]
    bytes: tuple[int, int]
    digest: Digest
    citation_label: str
    valid_from: Instant
    valid_to: Instant | None
    language: str
    test: bool | None = None
    generated: bool | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One step in a page's life; for a source page an observation with its interval. With
    `branches` it is what a commit of theirs did, which holds at no time; with `reason` nothing was
    left of the file."""

    revision_id: RevisionId
    parents: tuple[RevisionId, ...]
    created_at: Instant
    created_by: Principal
    operation: str
    change_id: str
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    path: str | None = None
    title: str | None = None
    size: int | None = None
    opened: int | None = None
    closed: int | None = None
    commit: str | None = None
    author: str | None = None
    branches: tuple[str, ...] | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Two revisions compared: a unified text diff, and for source pages the symbols that differ."""

    page_id: PageId
    before: RevisionId | None
    after: RevisionId
    text: str
    binary: bool
    symbols: Mapping[str, tuple[str, ...]] | None = None


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One result; `channel` says which index found it, `why` which words matched where.
    `test` is true of sources that are tests by their path, `generated` of those that a program made
    by their path or their text, else None."""

    page_id: PageId
    revision_id: RevisionId
    frame_id: FrameId | None
    scope: str
    kind: str
    title: str
    citation_label: str
    path: str | None
    root: str | None
    lines: tuple[int, int] | None
    qualified_name: str | None
    signature: str | None
    language: str | None
    digest: Digest | None
    channel: str
    score: float
    why: str
    excerpt: str
    facets: Facets
    projections: tuple[str, ...]
    suspect: bool | None
    valid_from: Instant | None
    valid_to: Instant | None
    lifecycle_status: str | None = None
    test: bool | None = None
    generated: bool | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits in order; `cursor` asks for more (PCP-S4), `policy` says which scopes were searched,
    `mode` how."""

    results: tuple[SearchHit, ...]
    policy: str
    scopes: tuple[str, ...]
    cursor: str | None = None
    as_of: Instant | None = None
    recorded_as_of: Instant | None = None
    mode: str = "text"


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """What was recorded of a source's git history: `commits` were walked now. Nothing is known of
    what lies before `start`; `cut` tells why, if the history does not begin there. Where all
    branches are followed, `branches` is how many there are besides, and `beside` how many commits
    of theirs were walked now. `lacking` counts the versions of files that git does not have here:
    what holds then is not known."""

    branch: str | None
    tip: str
    commits: int
    start: str
    start_at: Instant | None
    cut: str | None
    observed: int
    closed: int
    retracted: int
    branches: int | None = None
    beside: int | None = None
    lacking: int = 0


@dataclass(frozen=True, slots=True)
class RootReport:
    """What `add` and `sync` did to one root."""

    root: str
    scope: str
    files: int
    symbols: int
    opened: int
    closed: int
    unchanged: int
    changed: int
    added: int
    removed: int
    renamed: int
    skipped: tuple[Skipped, ...]
    state: str = "ok"
    history: HistoryReport | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was not taken in, with the reason."""

    path: str
    reason: str
    root: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class SuspectPage:
    """A page that cites frames which have closed."""

    page_id: PageId
    scope: str
    title: str
    path: str | None
    frames: tuple[Suspicion, ...]


@dataclass(frozen=True, slots=True)
class FrameCheck:
    """One frame against the bytes on the disk now: `valid`, `stale` or `gone`."""

    frame_id: FrameId
    path: str
    qualified_name: str
    status: str
    digest: Digest
    replacement_digest: Digest | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that `fsck` found; `code` is stable."""

    code: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class RelationView:
    """A relation as served: both ends, and whether the far one still holds."""

    relation: Relation
    from_page_id: PageId
    direction: str
    title: str
    status: str

    @property
    def type(self) -> str:
        return self.relation.type

    def to_json(self) -> dict[str, object]:
        return {
            **self.relation.to_json(),
            "from_page_id": self.from_page_id,
            "direction": self.direction,
            "title": self.title,
            "status": self.status,
        }


@dataclass(frozen=True, slots=True)
class ImportedName:
    """An import as it is spelled, its line, and the definition that its last part names."""

    target: str
    line: int
    frame_id: FrameId | None = None


@dataclass(frozen=True, slots=True)
class ImportView:
    """One source imports another: no relation that anybody wrote, but what their texts mean, and
    the files that there are."""

    from_page_id: PageId
    to_page_id: PageId
    direction: str
    title: str
    imports: tuple[ImportedName, ...]
    type: str = "imports"


@dataclass(frozen=True, slots=True)
class RelatedPage:
    """A page that relations lead to; `via` are these, from the start on, each with its direction as
    it was walked."""

    page_id: PageId
    revision_id: RevisionId
    scope: str
    title: str
    lifecycle_status: str
    depth: int
    via: tuple[RelationView | ImportView, ...]
    path: str | None = None


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A scope as ListScopes shows it; nothing of its content."""

    scope: str
    title: str
    kind: str
    visibility: str
    permissions: tuple[str, ...]
    pages: int
    last_activity: Instant
    links: tuple[str, ...] = ()
    description: str | None = None


@dataclass(frozen=True, slots=True)
class RootView:
    """A source root as `status` shows it."""

    root: str
    root_id: RootId
    scope: str
    kind: str
    path: str | None
    files: int
    symbols: int
    observer: bool
    last_sync: Instant | None
    state: str
