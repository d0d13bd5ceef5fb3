"""From the fold to rows: what the changes of one page say, flattened for the catalog. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from pcpfs.errors import Corrupt, InvalidName
from pcpfs.model.front import About, read_front
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.marks import is_generated
from pcpfs.model.names import TreePath, escaped, source_path
from pcpfs.model.pages import Revision
from pcpfs.store.catalogs.rows import (
    AcceptedRow,
    AccessRow,
    BesideRow,
    BranchesRow,
    ChangeRow,
    ClosingRow,
    DocumentRow,
    FrameRow,
    LinkRow,
    PageRow,
    PageRows,
    RelationRow,
    RevisionRow,
    RootRow,
    ScopeRow,
    ScopeRows,
    SpanRow,
    Tail,
)
from pcpfs.store.catalogs.seen_frames import Bodies, SeenFrames
from pcpfs.store.folding.fold import ASKED, Earlier, PageState, authored_spans, equal_heads
from pcpfs.store.folding.scope_fold import Acceptance, ScopeState
from pcpfs.store.folding.timeline import Aside, Observation


def page_rows(state: PageState, bodies: Bodies) -> PageRows:
    """All rows of one page; Corrupt for changes that no writer makes."""
    if state.is_source == bool(state.steps):
        what = "both observed and written" if state.steps else "without any revision at hand"
        raise Corrupt(f"page {state.page} is {what}; pull again, or see pcpfs fsck")
    return _source_rows(state, bodies) if state.is_source else _authored_rows(state, bodies)


def scope_rows(state: ScopeState) -> ScopeRows:
    """All rows of one scope."""
    last = max((body.at.microseconds for _, body in state.changes), default=0)
    row = ScopeRow(
        state.namespace,
        state.title,
        _json(state.latest),
        state.incomplete,
        last,
        state.access.visibility,
        state.description,
    )
    roots = tuple(
        RootRow(
            root.root_id,
            state.namespace,
            root.name,
            root.kind,
            root.observer,
            root.fingerprint,
            _json(root.include),
            root.max_bytes,
            _json(state.walked[root.root_id].to_json()) if root.root_id in state.walked else None,
        )
        for root in state.roots.values()
    )
    permits = sorted(state.access.permits)
    access = tuple(AccessRow(who, what, state.namespace) for who, what in permits)
    accepted = tuple(_accepted_row(state.namespace, one) for one in state.accepted)
    links = tuple(LinkRow(target, state.namespace) for target in sorted(state.access.links))
    branches = tuple(
        BranchesRow(root, state.namespace, _json(found.to_json()))
        for root, found in state.branches.items()
    )
    return ScopeRows(
        row, roots, tuple(_change_rows(None, state)), access, accepted, links, branches
    )


def _accepted_row(namespace: str, one: Acceptance) -> AcceptedRow:
    at, actor, secret = one.at.microseconds, str(one.actor), one.secret
    return AcceptedRow(
        namespace, secret.salt, secret.kind, secret.digest, at, actor, int(one.is_over)
    )


def _authored_rows(state: PageState, bodies: Bodies) -> PageRows:
    heads = equal_heads(state.heads, bodies.revision)
    speaking = bodies.revision(heads[0])
    spans = authored_spans(state.steps, bodies.revision, state.ends)
    path = _tree_path(state.named.path) if state.named else None
    about = _about(speaking, bodies)
    title = speaking.facets.title or about.title or str(state.page)
    page = _page_row(state, speaking, title, heads)._replace(
        tags=_json(list(dict.fromkeys((*speaking.facets.tags, *about.tags)))),
        path=path,
        claim=path.claim if path else None,
        is_claimed=int(state.named is not None and not state.named.of_title),
        laid=_json(_in_place(heads, state, bodies.revision)),
        disputes=_json(state.disputes),
        is_open=int(not _is_over(state, heads[0])),
        is_event=int(bodies.revision(state.steps[0].revision).event is not None),
    )
    revisions = {step.revision: bodies.revision(step.revision) for step in state.steps}
    return PageRows(
        page=page,
        revisions=_revision_rows(state, revisions),
        spans=tuple(
            SpanRow(
                page_id=state.page,
                ordinal=ordinal,
                revision_id=span.revision,
                valid_from=span.valid_from.microseconds,
                valid_to=_microseconds(span.valid_to),
                recorded_at=step.at.microseconds,
                change_id=step.change,
                actor=str(step.actor),
                operation=step.operation,
                parents=_json(step.parents),
                adapter=None,
                ended_by=ASKED if _is_over(state, span.revision) else None,
                moved_to=None,
            )
            for ordinal, (span, step) in enumerate(zip(spans, state.steps, strict=True))
        ),
        frames=(),
        relations=_relation_rows(state),
        changes=tuple(_change_rows(state.page, state)),
        documents=_documents(state, revisions, [h for h in heads if not _is_over(state, h)], ()),
    )


def _source_rows(state: PageState, bodies: Bodies) -> PageRows:
    now = state.in_force
    shown = now or (state.timeline[-1] if state.timeline else state.asides[-1].event.versions[-1])
    body = bodies.revision(shown.revision)
    if not body.is_source or not body.source_refs:
        raise Corrupt(f"page {state.page} has an observation of what is no source")
    root, path = source_path(body.source_refs[0])
    seen = SeenFrames(state, bodies, path)
    frames = seen.frame_rows()
    extraction = seen.extraction(shown)
    shown_path = escaped(path)
    page = _page_row(state, body, shown_path.rpartition("/")[2], [shown.revision])._replace(
        is_open=int(now is not None),
        is_beside=int(not state.timeline),
        path=shown_path,
        root_id=root,
        adapter=shown.adapter,
        language=extraction.language,
        error_count=extraction.error_count,
        line_count=extraction.line_count,
        generated=int(extraction.generated or is_generated(shown_path)),
    )
    observed = {o.revision: bodies.revision(o.revision) for o in state.timeline}
    beside = {v.revision for aside in state.asides for v in aside.event.versions}
    revisions = observed | {revision: bodies.revision(revision) for revision in beside}
    current = (shown.revision,) if now else ()
    before = state.earlier
    tail = _tail(before) if before else None
    numbered = enumerate(state.timeline, tail.ordinal if tail else 0)
    return PageRows(
        page=page,
        revisions=_revision_rows(state, revisions),
        spans=tuple(_observed_row(state.page, number, seen) for number, seen in numbered),
        frames=frames,
        relations=_relation_rows(state),
        changes=tuple(_change_rows(state.page, state)),
        documents=_documents(state, observed, current, frames),
        closings=_closing_rows(state),
        imports=seen.import_rows(),
        tail=tail,
        besides=tuple(_beside_row(state.page, aside) for aside in state.asides),
        beside_frames=seen.beside_rows(),
    )


def _tail(earlier: Earlier) -> Tail:
    return Tail(earlier.since.microseconds, earlier.ordinal, tuple(sorted(earlier.thinned)))


def _page_row(state: PageState, body: Revision, title: str, heads: Sequence[RevisionId]) -> PageRow:
    """The columns that pages of both kinds fill alike; the first of `heads` is what `body` is."""
    payload = body.payload
    created_at = state.earlier.created_at if state.earlier else state.changes[0][1].at
    return PageRow(
        page_id=state.page,
        scope=state.namespace,
        is_source=int(state.is_source),
        is_open=1,
        title=title,
        tags=_json(body.facets.tags),
        path=None,
        claim=None,
        root_id=None,
        lifecycle=state.lifecycle,
        why=state.why,
        incomplete=int(state.incomplete),
        revision_id=heads[0],
        heads=_json(heads),
        laid=_json(heads),
        latest=_json(state.latest),
        media_type=payload.media_type if payload else None,
        digest=payload.ref if payload else None,
        size=payload.size if payload else None,
        created_at=created_at.microseconds,
        updated_at=state.changes[-1][1].at.microseconds,
        adapter=None,
        language=None,
        error_count=None,
        line_count=None,
    )


def _observed_row(page: PageId, ordinal: int, seen: Observation) -> SpanRow:
    return SpanRow(
        page_id=page,
        ordinal=ordinal,
        revision_id=seen.revision,
        valid_from=seen.valid_from.microseconds,
        valid_to=_microseconds(seen.valid_to),
        recorded_at=seen.recorded_at.microseconds,
        change_id=seen.change,
        actor=str(seen.actor),
        operation=seen.operation,
        parents="[]",
        adapter=seen.adapter,
        ended_by=seen.ended_by,
        moved_to=seen.moved_to,
        commit_id=seen.commit,
        author=seen.author,
        end_commit=seen.end_commit,
        end_author=seen.end_author,
        basis=seen.basis,
        place=seen.place,
    )


def _beside_row(page: PageId, aside: Aside) -> BesideRow:
    event, was, now = aside.event, aside.event.was, aside.event.now
    return BesideRow(
        page,
        aside.place,
        event.commit,
        event.author,
        event.at.microseconds,
        was.revision if was else None,
        was.adapter if was else None,
        now.revision if now else None,
        now.adapter if now else None,
        event.reason,
        event.to,
        event.of,
        aside.change,
        aside.at.microseconds,
        str(aside.actor),
        aside.operation,
    )


def _closing_rows(state: PageState) -> tuple[ClosingRow, ...]:
    return tuple(
        ClosingRow(
            state.page,
            place,
            change,
            event.revision,
            event.valid_to.microseconds,
            event.reason,
            None if event.frames is None else _json(event.frames),
            event.to,
            event.commit,
            event.author,
        )
        for event, place, change in state.closings
    )


def _revision_rows(
    state: PageState, revisions: Mapping[RevisionId, Revision]
) -> tuple[RevisionRow, ...]:
    return tuple(
        RevisionRow(
            revision,
            state.page,
            body.payload.ref if body.payload else None,
            body.payload.size if body.payload else 0,
            int(revision in state.thinned),
        )
        for revision, body in revisions.items()
    )


def _relation_rows(state: PageState) -> tuple[RelationRow, ...]:
    return tuple(
        RelationRow(
            r.relation_id,
            state.page,
            r.from_revision,
            r.type,
            r.to_page,
            r.to_revision,
            r.to_frame,
            r.to_digest,
            r.created_at.microseconds,
            _json(r.to_json()),
        )
        for r in state.relations.values()
    )


def _change_rows(page: PageId | None, state: PageState | ScopeState) -> list[ChangeRow]:
    earlier = state.earlier if isinstance(state, PageState) else None
    turns = dict(earlier.turns) if earlier else {}
    for change, body in state.changes:
        behind = (turns[after] + 1 for after in body.after if after in turns)
        turns[change] = max([body.at.microseconds, *behind])
    return [
        ChangeRow(
            change,
            page,
            state.namespace,
            body.at.microseconds,
            turns[change],
            body.clone,
            body.operation,
            str(body.actor),
        )
        for change, body in state.changes
    ]


def _documents(
    state: PageState,
    revisions: Iterable[RevisionId],
    current: Sequence[RevisionId],
    frames: Iterable[FrameRow],
) -> tuple[DocumentRow, ...]:
    """Heads and open frames of an active page are current; everything else is past. What was
    thinned has no text."""
    active = state.lifecycle == "active"
    past: dict[str, int] = {
        revision: int(not (active and revision in current))
        for revision in revisions
        if revision not in state.thinned
    }
    for frame in frames:
        if frame.doc_key is not None:
            is_past = int(not (active and frame.valid_to is None))
            past[frame.doc_key] = min(is_past, past.get(frame.doc_key, 1))
    return tuple(DocumentRow(k, state.namespace, state.page, p) for k, p in past.items())


def _is_over(state: PageState, head: RevisionId) -> bool:
    """Whether somebody said of a head that it no longer holds."""
    return head in state.ends and state.ends[head].is_over


def _tree_path(given: str | None) -> TreePath | None:
    """The claimed path; None where it is none that may be laid (nobody's own writer makes such)."""
    try:
        return TreePath(given) if given else None
    except InvalidName:
        return None


def _in_place(
    heads: Sequence[RevisionId], state: PageState, envelope: Callable[[RevisionId], Revision]
) -> list[RevisionId]:
    """The heads in the order in which `tree/` names them: first the one that goes on from the first
    revision by the eldest child each time (or one that says the same). A name never changes its
    line of descent."""
    children: dict[RevisionId, list[RevisionId]] = {}
    for step in state.steps:
        for parent in step.parents:
            children.setdefault(parent, []).append(step.revision)
    at = state.steps[0].revision
    while at in children:
        at = children[at][0]
    same = {at, *(h for h in heads if len(equal_heads((h, at), envelope)) == 1)}
    return sorted(heads, key=lambda head: head not in same)


def _about(body: Revision, bodies: Bodies) -> About:
    if body.payload is None or not body.payload.media_type.startswith("text/"):
        return About()
    return read_front(bodies.payload(body.payload.ref))


def _microseconds(moment: Instant | None) -> int | None:
    return None if moment is None else moment.microseconds


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
