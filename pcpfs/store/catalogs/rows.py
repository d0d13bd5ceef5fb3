"""Rows of the catalog. Each type is one table; its fields are the columns, in order.

Instants are microseconds; lists are JSON.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class PageRow(NamedTuple):
    """A page as it is now. For a source page `revision_id` is the observation in force, else the
    last one; `is_open` tells which. A file that only branches beside the line have `is_beside`: it
    was never observed and has no span; `revision_id` is what was told of it last. An authored page
    is open until it is closed. `heads`, `laid`
    (the heads in the order of their names in `tree/`), `latest`, `tags` and `disputes` are JSON
    lists. `generated`: by its path or its text a program made this source."""

    page_id: str
    scope: str
    is_source: int
    is_open: int
    title: str
    tags: str
    path: str | None
    claim: str | None
    root_id: str | None
    lifecycle: str
    why: str
    incomplete: int
    revision_id: str
    heads: str
    laid: str
    latest: str
    media_type: str | None
    digest: str | None
    size: int | None
    created_at: int
    updated_at: int
    adapter: str | None
    language: str | None
    error_count: int | None
    line_count: int | None
    is_event: int = 0
    disputes: str = "[]"
    generated: int = 0
    is_claimed: int = 0
    is_beside: int = 0


class RevisionRow(NamedTuple):
    """A revision and its payload, which went by policy where it is `thinned`."""

    revision_id: str
    page_id: str
    digest: str | None
    size: int
    thinned: int = 0


class SpanRow(NamedTuple):
    """One interval over which a revision of a page held; `ordinal` counts within the page. What
    the source's history says has the commit and author of its beginning and, if they are known,
    of its end. An observation has its `basis`, and in `place` that of its event in the fold."""

    page_id: str
    ordinal: int
    revision_id: str
    valid_from: int
    valid_to: int | None
    recorded_at: int
    change_id: str
    actor: str
    operation: str
    parents: str
    adapter: str | None
    ended_by: str | None
    moved_to: str | None
    commit_id: str | None = None
    author: str | None = None
    end_commit: str | None = None
    end_author: str | None = None
    basis: str | None = None
    place: int = 0


class ImportRow(NamedTuple):
    """What one revision of a source imports, as an adapter saw it: a JSON list of target and line.
    What imports nothing has no row."""

    page_id: str
    revision_id: str
    adapter: str
    imports: str


class ClosingRow(NamedTuple):
    """How an observation (or, of a JSON list, some frames) was ended, as it was said; `place` is
    that of its event in the fold."""

    page_id: str
    place: int
    change_id: str
    revision_id: str
    valid_to: int
    reason: str
    frames: str | None
    moved_to: str | None
    commit_id: str | None
    author: str | None


class BesideRow(NamedTuple):
    """What a commit beside the line did to a page: the version before and the one after it. Where
    nothing is left it has a `reason`. `moved_to` and `moved_of` are pages; `place` is that of its
    event in the fold."""

    page_id: str
    place: int
    commit_id: str
    author: str
    at: int
    was_revision: str | None
    was_adapter: str | None
    revision_id: str | None
    adapter: str | None
    reason: str | None
    moved_to: str | None
    moved_of: str | None
    change_id: str
    recorded_at: int
    actor: str
    operation: str


class BesideFrameRow(NamedTuple):
    """A symbol that a commit beside the line `opened`, `changed` or `closed`: what it is after it,
    of a closed one what it was."""

    page_id: str
    place: int
    frame_id: str
    event: str
    revision_id: str
    digest: str
    kind: str
    name: str
    qualified_name: str
    signature: str
    line_a: int
    line_b: int
    byte_a: int
    byte_b: int


class BranchesRow(NamedTuple):
    """The branches of a source beside its line, as JSON (`model.branches.Branches`)."""

    root_id: str
    scope: str
    body: str


class FrameRow(NamedTuple):
    """A frame over one run; position and revision are those of the run's last observation."""

    frame_id: str
    digest: str
    page_id: str
    revision_id: str
    valid_from: int
    valid_to: int | None
    kind: str
    name: str
    qualified_name: str
    signature: str
    doc: str
    line_a: int
    line_b: int
    byte_a: int
    byte_b: int
    doc_a: int | None
    doc_b: int | None
    doc_key: str | None


class RelationRow(NamedTuple):
    relation_id: str
    from_page: str
    from_revision: str
    type: str
    to_page: str
    to_revision: str
    to_frame: str | None
    to_digest: str | None
    created_at: int
    body: str


class ChangeRow(NamedTuple):
    """A change; `turn` is `at`, moved behind whatever it comes after: it orders all changes of a
    store, whatever the clocks say."""

    change_id: str
    page_id: str | None
    scope: str
    at: int
    turn: int
    clone: str
    operation: str
    actor: str


class DocumentRow(NamedTuple):
    """A document that the text index of a scope should hold: current ones, and past ones apart.

    A body's key is its revision id, a symbol's key is derived from its frame and its text, so a
    key always means the same words.
    """

    key: str
    scope: str
    page_id: str
    past: int


class Pending(NamedTuple):
    """What a text index has not taken in yet: a document to add, or (removed) to drop."""

    scope: str
    past: int
    key: str
    removed: int


class SegmentRow(NamedTuple):
    """A segment of events: its path, and a shorter name for it."""

    segment: str
    path: str
    scope: str


class EventRow(NamedTuple):
    """Where the line of an event stands: so many bytes of its segment from `start` on. `digest` is
    that of its payload, if the line holds it. An event may stand in several segments."""

    revision_id: str
    segment: str
    page_id: str
    digest: str | None
    start: int
    length: int


class ErasedRow(NamedTuple):
    """A page that was erased; `excluded` is a JSON list of source pages that are this one under
    another path."""

    page_id: str
    scope: str
    excluded: str


class ResidueRow(NamedTuple):
    """A folder or a segment that came back with something of an erased page in it."""

    path: str
    page_id: str
    scope: str


class FollowRow(NamedTuple):
    """An event and one that follows it."""

    followed: str
    revision_id: str


class LatestEventRow(NamedTuple):
    """An event of a scope that no other follows."""

    scope: str
    revision_id: str


class MentionRow(NamedTuple):
    """The names that one revision of a source mentions, and how often (`search.mentions`): kept by
    the first map of its root that needs it. `version` is that of what found them."""

    page_id: str
    scope: str
    revision_id: str
    version: str
    names: str


class GroundRow(NamedTuple):
    """What maps of a source are drawn of (`searches.map_ground`): kept by the first map of it, and
    dropped with any change of its pages. `version` is that of what made it."""

    root_id: str
    scope: str
    version: str
    arrays: bytes


@dataclass(frozen=True, slots=True)
class Tail:
    """From which instant and span on the rows of a page are new; the bytes of the revisions
    `thinned` went, wherever they stand."""

    since: int
    ordinal: int
    thinned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PageRows:
    """All rows of a page; with `tail` those from there on."""

    page: PageRow
    revisions: tuple[RevisionRow, ...]
    spans: tuple[SpanRow, ...]
    frames: tuple[FrameRow, ...]
    relations: tuple[RelationRow, ...]
    changes: tuple[ChangeRow, ...]
    documents: tuple[DocumentRow, ...]
    closings: tuple[ClosingRow, ...] = ()
    imports: tuple[ImportRow, ...] = ()
    tail: Tail | None = None
    besides: tuple[BesideRow, ...] = ()
    beside_frames: tuple[BesideFrameRow, ...] = ()


class ScopeRow(NamedTuple):
    scope: str
    title: str
    latest: str
    incomplete: int
    updated_at: int
    visibility: str
    description: str


class AccessRow(NamedTuple):
    """Somebody (`*`: anybody) may do something in a scope."""

    principal: str
    permission: str
    scope: str


class LinkRow(NamedTuple):
    """A scope that another one links to; it may not be there."""

    target: str
    scope: str


class AcceptedRow(NamedTuple):
    """A secret that was accepted in a scope, salted; `is_over` if that was taken back."""

    scope: str
    salt: str
    kind: str
    digest: str
    at: int
    actor: str
    is_over: int


class RootRow(NamedTuple):
    """A source tree; `walked` says in JSON how far its history is recorded, if that was wanted."""

    root_id: str
    scope: str
    name: str
    kind: str
    observer: str
    fingerprint: str
    include: str
    max_bytes: int
    walked: str | None = None


@dataclass(frozen=True, slots=True)
class ScopeRows:
    scope: ScopeRow
    roots: tuple[RootRow, ...]
    changes: tuple[ChangeRow, ...]
    access: tuple[AccessRow, ...]
    accepted: tuple[AcceptedRow, ...] = ()
    links: tuple[LinkRow, ...] = ()
    branches: tuple[BranchesRow, ...] = ()
