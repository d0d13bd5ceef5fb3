"""What the store in memory holds: pages with all that was ever said of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pcpfs.errors import UsageError
from pcpfs.model.changes import Relation
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import EPISTEMIC, Facets, Payload, Principal, Revision
from pcpfs.model.requests import Draft
from pcpfs_conformance.stores import OWNER

_START = Instant.read("2040-01-01").microseconds


@dataclass(slots=True)
class Page:
    """A page with all that was ever said of it."""

    page_id: PageId
    scope: str
    revisions: dict[RevisionId, Revision] = field(default_factory=dict)
    payloads: dict[RevisionId, bytes] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    lifecycle: str = "active"
    is_event: bool = False
    closed: dict[RevisionId, Instant] = field(default_factory=dict)
    """What somebody said is over, and since when."""

    @property
    def heads(self) -> tuple[RevisionId, ...]:
        """The newest first; heads that say the same are one."""
        older = {parent for body in self.revisions.values() for parent in body.parents}
        kept: dict[object, RevisionId] = {}
        for revision in reversed(self.revisions):
            if revision not in older:
                body = self.revisions[revision]
                said = (body.payload, body.content_ref, body.source_refs, body.facets)
                kept.setdefault(said, revision)
        return tuple(kept.values())

    @property
    def all_heads(self) -> tuple[RevisionId, ...]:
        older = {parent for body in self.revisions.values() for parent in body.parents}
        return tuple(r for r in self.revisions if r not in older)

    @property
    def is_over(self) -> bool:
        """Whether the head that speaks was closed: saying the same again is news then."""
        return self.heads[0] in self.closed

    def interval(self, revision: RevisionId) -> tuple[Instant, Instant | None]:
        """From when to when a revision holds, half-open."""
        body = self.revisions[revision]
        start = start_of(body)
        ends = [start_of(other) for other in self.revisions.values() if revision in other.parents]
        ends += [body.valid_to] if body.valid_to else []
        ends += [self.closed[revision]] if revision in self.closed else []
        return start, max(start, min(ends)) if ends else None


@dataclass(slots=True)
class Archive:
    """What outlives a session."""

    pages: dict[PageId, Page] = field(default_factory=dict)
    grants: set[tuple[str, Principal, str]] = field(default_factory=set)
    suppressed: set[tuple[str, PageId]] = field(default_factory=set)
    ticks: int = 0

    def now(self) -> Instant:
        self.ticks += 1
        return Instant(_START + self.ticks * 1_000_000)

    def may(self, principal: Principal, scope: str, permission: str) -> bool:
        return principal == OWNER or (scope, principal, permission) in self.grants


def start_of(body: Revision) -> Instant:
    """Since when a revision holds: as given, else its recording."""
    start = body.valid_from or body.created_at
    assert start is not None, "every revision here is dated"
    return start


def check(draft: Draft) -> None:
    """UsageError for a question that is none of the five."""
    unknown = set(draft.epistemic or {}) - set(EPISTEMIC)
    if unknown:
        raise UsageError(f"{sorted(unknown)[0]} is none of {', '.join(EPISTEMIC)}")


def payload_of(raw: bytes | None, media_type: str | None) -> Payload | None:
    if raw is None:
        return None
    return Payload(media_type or "application/octet-stream", Digest.of(raw), len(raw))


def facets_of(draft: Draft) -> Facets:
    return Facets(
        title=draft.title,
        tags=draft.tags or (),
        summary=draft.summary,
        keywords=draft.keywords or (),
        anchors=draft.anchors or (),
    )


def inherited(draft: Draft, body: Revision) -> Draft:
    """What is not given is as it was."""
    facets = body.facets
    return replace(
        draft,
        media_type=draft.media_type or (body.payload.media_type if body.payload else None),
        title=facets.title if draft.title is None else draft.title,
        tags=facets.tags if draft.tags is None else draft.tags,
        summary=facets.summary if draft.summary is None else draft.summary,
        keywords=facets.keywords if draft.keywords is None else draft.keywords,
        anchors=facets.anchors if draft.anchors is None else draft.anchors,
        source_refs=draft.source_refs or body.source_refs,
        epistemic=body.epistemic if draft.epistemic is None else draft.epistemic,
    )


def says_the_same(draft: Draft, page: Page, revision: RevisionId) -> bool:
    """Whether a revision would say nothing new."""
    body = page.revisions[revision]
    told = (payload_of(draft.payload, draft.media_type), draft.content_ref, facets_of(draft))
    return (
        told == (body.payload, body.content_ref, body.facets)
        and (draft.source_refs, draft.epistemic) == (body.source_refs, body.epistemic)
        and not (draft.derived_from or draft.relations or draft.cites)
        and not (draft.valid_from or draft.valid_to)
    )


def are_equal(page: Page, one: RevisionId, other: RevisionId) -> bool:
    """Whether two heads say the same."""
    first, second = (page.revisions[revision] for revision in (one, other))
    return (first.payload, first.content_ref, first.source_refs, first.facets) == (
        second.payload,
        second.content_ref,
        second.source_refs,
        second.facets,
    )
