"""Folding the tail of a source page's timeline, from what the catalog knows of the rest.

What a save or a part of a history costs is then in proportion to what it changes: the observations
from the earliest new instant on, and the one before it. The rows that come of it are those that a
fold of all changes gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pcpfs.model.branches import Beside
from pcpfs.model.changes import (
    COMMIT,
    FIRST,
    Closed,
    Event,
    Linked,
    Noted,
    Observed,
    Thinned,
    UnknownEvent,
)
from pcpfs.model.ids import ChangeId, Digest, FrameId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.catalogs.rows import ClosingRow, PageRow, SpanRow
from pcpfs.store.folding.fold import (
    RETRACTED,
    Changes,
    Earlier,
    Folder,
    PageState,
    in_order,
    latest,
)
from pcpfs.store.folding.timeline import Ended, Run, Seen, timeline

_CONTINUE = (Observed, Closed, Beside, Noted, Linked, Thinned, UnknownEvent)


def continued(
    catalog: Catalog, page: PageId, namespace: Namespace, new: Changes, earlier: int
) -> PageState | None:
    """The state of a page, with what lies before its tail, after changes that the catalog does not
    know yet, where there were `earlier` before them.

    None where all have to be folded: of a page that is not wholly known, for changes that do not
    come after all known ones, or that say more than what was seen and ended.
    """
    row = catalog.page(page)
    if row is None or not _can_go_on(catalog, row, new, earlier):
        return None
    folder = Folder()
    order, _ = in_order(new)
    for number, (change, body) in enumerate(order, earlier):
        folder.take(number, change, body)
    begin = _begin(catalog, page, folder)
    if begin is None:
        return None
    spans = _tail(catalog, page, begin)
    if not spans or spans[0].ended_by == RETRACTED:
        return None
    since = Instant(min(begin, spans[0].valid_from))
    return PageState(
        page=page,
        namespace=namespace,
        changes=tuple(order),
        latest=latest(new),
        incomplete=False,
        steps=(),
        heads=(),
        timeline=timeline(
            [*map(_seen, spans), *folder.observed],
            [*_closings(catalog, page, since), *folder.closed],
        ),
        lifecycle=row.lifecycle,
        why=row.why,
        named=None,
        relations=folder.relations,
        closings=tuple(folder.closed),
        thinned=_thinned(catalog, page) | folder.thinned,
        asides=tuple(folder.asides.values()),
        earlier=Earlier(
            since,
            spans[0].ordinal,
            Instant(row.created_at),
            _turns(catalog, [after for body in new.values() for after in body.after]),
            _runs(catalog, page, since),
            frozenset(folder.thinned),
        ),
    )


def _can_go_on(catalog: Catalog, row: PageRow, new: Changes, earlier: int) -> bool:
    known = catalog.query("SELECT count(*) FROM change WHERE page_id = ?", (row.page_id,))
    return (
        bool(row.is_source)
        and not row.incomplete
        and not decode_list(row.disputes)
        and known == [(earlier,)]
        and _all_later(new, {ChangeId(change) for change in decode_list(row.latest)})
        and all(_goes_on(event) for body in new.values() for event in body.events)
        and not _thinned(catalog, row.page_id) & _observed(new)
        and not _is_told_again(catalog, row.page_id, new)
    )


def _goes_on(event: Event) -> bool:
    """Whether an event only adds to the tail: a first scan would look at the whole history."""
    is_first = isinstance(event, Observed) and event.basis == FIRST
    return isinstance(event, _CONTINUE) and not is_first


def _thinned(catalog: Catalog, page: str) -> frozenset[RevisionId]:
    question = "SELECT revision_id FROM revision WHERE page_id = ? AND thinned"
    return frozenset(RevisionId(revision) for (revision,) in catalog.query(question, (page,)))


def _observed(new: Changes) -> set[RevisionId]:
    events = [event for body in new.values() for event in body.events]
    beside = {v.revision for event in events if isinstance(event, Beside) for v in event.versions}
    return beside | {event.revision for event in events if isinstance(event, Observed)}


def _is_told_again(catalog: Catalog, page: str, new: Changes) -> bool:
    """Whether a commit beside the line is told of that was told of before: the last telling counts,
    as where branches were followed in two clones."""
    told = [e.commit for body in new.values() for e in body.events if isinstance(e, Beside)]
    if not told:
        return False
    known = {row.commit_id for row in catalog.besides("page_id = ?", (page,))}
    return not known.isdisjoint(told)


def _all_later(new: Changes, known: set[ChangeId]) -> bool:
    """Whether each new change comes after all known ones, if only by way of other new ones."""
    return all(
        known.issuperset(body.after) and known.issubset(body.after)
        for body in new.values()
        if not new.keys() & body.after
    ) and all(known.union(new).issuperset(body.after) for body in new.values())


def _begin(catalog: Catalog, page: PageId, folder: Folder) -> int | None:
    """The earliest instant at which something new may hold; None if nothing new was seen or ended,
    but the last known one where branches told something or bytes went. A first scan yields to the
    history of the source, wherever its observation stands."""
    said = [seen.event.valid_from.microseconds for seen in folder.observed]
    said += [ended.event.valid_to.microseconds for ended in folder.closed]
    if any(seen.event.basis == COMMIT for seen in folder.observed):
        first = "SELECT valid_from FROM span WHERE page_id = ? AND basis = 'first'"
        said += [moment for (moment,) in catalog.query(first, (page,))]
    if (folder.asides or folder.thinned) and not said:
        ((last,),) = catalog.query("SELECT max(valid_from) FROM span WHERE page_id = ?", (page,))
        return None if last is None else int(last)
    return min(said, default=None)


def _tail(catalog: Catalog, page: PageId, begin: int) -> Sequence[SpanRow]:
    """The spans from the last one on that begins before an instant, and all that begin with it; all
    spans if none does."""
    found: list[SpanRow] = []
    question = "SELECT * FROM span WHERE page_id = ? ORDER BY ordinal DESC"
    for row in catalog.rows(question, (page,)):
        span = SpanRow(*row)
        if found and span.valid_from < found[-1].valid_from < begin:
            break
        found.append(span)
    return found[::-1]


def _seen(span: SpanRow) -> Seen:
    return Seen(
        Observed(
            RevisionId(span.revision_id),
            Instant(span.valid_from),
            span.basis or "",
            span.adapter or "",
            span.commit_id,
            span.author,
        ),
        span.place,
        ChangeId(span.change_id),
        Instant(span.recorded_at),
        Principal(span.actor),
        span.operation,
    )


def _closings(catalog: Catalog, page: PageId, since: Instant) -> Iterable[Ended]:
    """Those that may end something in the tail."""
    question = "SELECT * FROM closing WHERE page_id = ? AND valid_to >= ?"
    for row in map(ClosingRow._make, catalog.query(question, (page, since.microseconds))):
        frames = None if row.frames is None else tuple(map(FrameId, decode_list(row.frames)))
        to = None if row.moved_to is None else PageId(row.moved_to)
        event = Closed(
            RevisionId(row.revision_id),
            Instant(row.valid_to),
            row.reason,
            frames,
            to,
            row.commit_id,
            row.author,
        )
        yield Ended(event, row.place, ChangeId(row.change_id))


def _turns(catalog: Catalog, changes: Iterable[ChangeId]) -> dict[ChangeId, int]:
    question = "SELECT turn FROM change WHERE change_id = ?"
    return {change: turn for change in changes for (turn,) in catalog.query(question, (change,))}


def _runs(catalog: Catalog, page: PageId, since: Instant) -> tuple[Run, ...]:
    """The runs that began before the tail and reach into it."""
    return tuple(
        Run(FrameId(frame), Digest(digest), Instant(valid_from), since, -1, -1)
        for frame, digest, valid_from in catalog.query(
            "SELECT frame_id, digest, valid_from FROM frame WHERE page_id = ?1 AND valid_from < ?2 "
            "AND valid_to IS NULL UNION ALL "
            "SELECT frame_id, digest, valid_from FROM frame WHERE page_id = ?1 AND valid_from < ?2 "
            "AND valid_to > ?2",
            (page, since.microseconds),
        )
    )
