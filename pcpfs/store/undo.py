"""Undoing: the inverse of a change, written as a change of its own.

Nothing is taken away: what was undone stays in the history. So undoing an undo is a redo, and going
further back means naming the change (`pcpfs log`, `pcpfs changes --last`). An effect is undone only
while it is in force: what others have built on it is a Conflict, never lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from pcpfs.errors import Conflict, NotFound, UsageError
from pcpfs.model.branches import Beside
from pcpfs.model.changes import (
    Change,
    Closed,
    Event,
    LifecycleSet,
    Linked,
    Named,
    Noted,
    Observed,
    Retracted,
    RevisionWritten,
    Thinned,
    Unlinked,
)
from pcpfs.model.grants import LINK, TOMBSTONE, WRITE
from pcpfs.model.ids import ChangeId, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal, ProvenanceEvent, Revision
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import ChangeRow
from pcpfs.store.folding.fold import equal_heads, fold_page
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.tree import wanted_files
from pcpfs.store.writes import one_line

_SHORTEST = 8


@dataclass(frozen=True, slots=True)
class Undone:
    """A change that was undone, and by what: the types of the inverse events. `revision_id` is the
    page's head now."""

    change_id: ChangeId
    operation: str
    page_id: PageId
    revision_id: RevisionId
    scope: Namespace
    path: str | None
    title: str
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UndoReport:
    """What an undo did."""

    undone: tuple[Undone, ...]
    commit: str | None
    warnings: tuple[str, ...] = ()


def undo(store: Store, actor: Principal, given: str | None = None) -> UndoReport:
    """Undo one change, or else the last operation of this actor in this clone, as a whole.

    NotFound if there is none, UsageError for what cannot be undone (what sources hold), Conflict
    if something was built on it since; then nothing is written.
    """
    with closing(Authority(store, actor)) as authority, store.writing("undo", actor) as transaction:
        seen = authority.catalog
        rows = _last(store, seen, actor) if given is None else _named(seen, given)
        inverses = [(row, _Undoing(store, transaction, row).events()) for row in rows]
        for row, events in inverses:
            authority.require(sorted(set(map(_needed, events))), row.scope)
        for row, events in inverses:
            assert row.page_id is not None, "changes of scopes are left out"
            transaction.change(Namespace(row.scope), PageId(row.page_id), *events)
        titles = [transaction.title_of(PageId(row.page_id)) or "" for row in rows if row.page_id]
        done = transaction.commit(
            f"undo: {rows[0].operation} {one_line(', '.join(titles))}",
            (
                ("Pcpfs-Operation", "undo"),
                *((("Pcpfs-Page", str(rows[0].page_id)),) if len(rows) == 1 else ()),
                *((("Pcpfs-Undoes", rows[0].change_id),) if len(rows) == 1 else ()),
                ("Pcpfs-Actor", str(actor)),
            ),
        )
        undone = tuple(_undone(store, row, events) for row, events in inverses)
        told = UndoReport(undone, done.commit, done.warnings)
        return told if authority.is_owner else replace(told, commit=None, warnings=())


def _needed(event: Event) -> str:
    """What somebody must be allowed to do for this event to be theirs."""
    match event:
        case Linked() | Unlinked():
            return LINK
        case LifecycleSet():
            return TOMBSTONE
        case _:
            return WRITE


def _undone(store: Store, row: ChangeRow, events: Sequence[Event]) -> Undone:
    page = store.catalog.page(str(row.page_id))
    assert page is not None, "a page that was just written is known"
    return Undone(
        ChangeId(row.change_id),
        row.operation,
        PageId(page.page_id),
        RevisionId(page.revision_id),
        Namespace(row.scope),
        next(iter(wanted_files(store.catalog, [page])), None),
        page.title,
        tuple(event.type for event in events),
    )


def _named(seen: Catalog, given: str) -> list[ChangeRow]:
    """One change, by its id or a unique prefix of it."""
    if not given.startswith("chg_") or len(given) < _SHORTEST:
        raise UsageError(f"{given[:80]!r} names no change; one looks like chg_3fa9… (pcpfs log)")
    rows = _changes(seen, "change_id >= ? AND change_id < ?", given, given + "\x7f")
    if not rows:
        raise NotFound(f"there is no change {given}; see pcpfs log PAGE or pcpfs changes --last 20")
    if len(rows) > 1:
        ids = [row.change_id for row in rows]
        raise UsageError(f"{given} is the beginning of {len(ids)} ids", candidates=ids[:10])
    if rows[0].page_id is None:
        raise UsageError(f"{given} is a change of the scope {rows[0].scope} itself, not of a page")
    return _without_sources(seen, rows)


def _last(store: Store, seen: Catalog, actor: Principal) -> list[ChangeRow]:
    """The changes that the last operation of an actor made to pages, newest first."""
    ours = "page_id IS NOT NULL AND clone = ? AND actor = ?"
    who = (store.local.clone, str(actor))
    last = _changes(seen, ours, *who, limit=1)
    if not last:
        raise NotFound(f"{actor} has changed nothing in this clone that could be undone")
    same = f"{ours} AND at = ? AND operation = ?"
    return _without_sources(seen, _changes(seen, same, *who, last[0].at, last[0].operation))


def _changes(
    seen: Catalog, condition: str, *parameters: object, limit: int = -1
) -> list[ChangeRow]:
    found = seen.query(
        f"SELECT * FROM change WHERE {condition} ORDER BY turn DESC, change_id DESC LIMIT ?",
        (*parameters, limit),
    )
    return [ChangeRow(*row) for row in found]


def _without_sources(seen: Catalog, rows: list[ChangeRow]) -> list[ChangeRow]:
    """Those that can be undone. What a file held cannot: it is so. UsageError if that is all."""
    pages = {row.change_id: seen.page(str(row.page_id)) for row in rows}
    sources = {change: page for change, page in pages.items() if page and page.is_source}
    kept = [row for row in rows if row.change_id not in sources]
    if kept:
        return kept
    earlier = seen.query(
        "SELECT change_id, change.operation, title FROM change JOIN page USING (page_id) "
        "WHERE NOT is_source AND clone = ? AND actor = ? ORDER BY turn DESC LIMIT 1",
        (rows[0].clone, rows[0].actor),
    )
    hint = [f"; before it: pcpfs undo {change} ({did} {title})" for change, did, title in earlier]
    raise UsageError(
        f"{rows[0].operation} recorded what {sources[rows[0].change_id].path} holds, and that "
        f"cannot be undone: change the file and sync{''.join(hint)}",
        change_id=rows[0].change_id,
    )


class _Undoing:
    """Finds the inverse of one change of an authored page."""

    def __init__(self, store: Store, transaction: Transaction, row: ChangeRow) -> None:
        self._store = store
        self._transaction = transaction
        self._namespace, self._page = Namespace(row.scope), PageId(str(row.page_id))
        changes = store.objects.page_changes(self._namespace, self._page)
        self._changes = changes
        self._now = fold_page(self._page, self._namespace, changes)
        self._id = ChangeId(row.change_id)
        ids = [change for change, _ in self._now.changes]
        place = ids.index(self._id)
        earlier = {change: changes[change] for change in ids[:place]}
        self._before = fold_page(self._page, self._namespace, earlier)
        self._change: Change = changes[self._id]
        later = [event for change in ids[place + 1 :] for event in changes[change].events]
        self._later = {type(event) for event in later}

    def events(self) -> list[Event]:
        """The inverse events; Conflict if there is nothing left to undo."""
        if not self._before.steps and any(map(_is_revision, self._change.events)):
            return [self._unwritten()]
        found = [inverse for event in self._change.events for inverse in self._inverse(event)]
        if not found:
            raise self._conflict("has no effect any more")
        return found

    def _inverse(self, event: Event) -> Iterator[Event]:
        match event:
            case RevisionWritten():
                yield self._revised(event)
            case Named():
                yield from self._renamed(event)
            case LifecycleSet():
                yield self._revived(event)
            case Linked() if event.relation.relation_id in self._now.relations:
                yield Unlinked(event.relation.relation_id)
            case Unlinked() if event.relation_id not in self._now.relations:
                known = self._before.relations.get(event.relation_id)
                yield from [Linked(known)] if known else []
            case Linked() | Unlinked() | Noted():
                pass
            case Closed() if self._now.steps:
                yield from [Retracted((self._id,))] if event.revision in self._now.ends else []
            case Retracted() if self._now.steps:
                for change in event.changes:
                    again = self._changes[change].events if change in self._changes else ()
                    yield from (event for event in again if isinstance(event, Closed))
            case Observed() | Closed() | Beside() | Retracted() | Thinned():
                raise self._conflict("tells of a source, and cannot be undone")
            case _:
                raise self._conflict("was made by a newer pcpfs; undo it with that")

    def _unwritten(self) -> Event:
        """The inverse of a first write: the page is withdrawn, its history stays."""
        if len(self._now.steps) > 1:
            raise self._conflict("was revised since; undo that first, or tombstone the page")
        if self._now.lifecycle == "tombstoned":
            raise self._conflict("is undone already: the page is tombstoned")
        return LifecycleSet("tombstoned", "undo of its first write")

    def _revised(self, event: RevisionWritten) -> Event:
        """A new revision that says what held before, on all heads that it speaks for."""
        if self._now.lifecycle == "tombstoned":
            raise self._conflict("is of a page that is tombstoned; bring it back: pcpfs restore")
        if event.revision not in self._now.heads:
            raise self._conflict("is not the head any more; revise the page instead (pcpfs diff)")
        beside = self._beside(event)
        again = self._envelope(beside[0] if beside else event.parents[0])
        equal = [h for h in self._now.heads if self._are_equal(h, event.revision)]
        parents = tuple(dict.fromkeys((event.revision, *equal, *beside)))
        transaction = self._transaction
        how = ProvenanceEvent("undo", transaction.actor, transaction.at, (event.revision,))
        body = replace(
            again,
            parents=parents,
            created_at=transaction.at,
            created_by=transaction.actor,
            provenance=(how,),
            valid_from=None,
            valid_to=None,
            salt=self._store.entropy.random(16).hex(),
        )
        if body.payload is not None:
            payload = self._store.objects.payload(self._namespace, body.payload.ref)
            transaction.payload(self._namespace, payload)
        return RevisionWritten(transaction.revision(body), parents)

    def _beside(self, event: RevisionWritten) -> list[RevisionId]:
        """For a revision that stands beside another head: that one, which holds without it."""
        others = [h for h in self._now.heads if not self._are_equal(h, event.revision)]
        kept = [head for head in others if head in self._before.heads]
        return kept if len(equal_heads(kept, self._envelope)) == 1 else []

    def _renamed(self, event: Named) -> Iterator[Event]:
        if Named in self._later:
            raise self._conflict("was renamed again since; undo that first")
        before = self._before.named
        if before is not None and before.path != event.path:
            yield before

    def _revived(self, event: LifecycleSet) -> Event:
        if LifecycleSet in self._later:
            raise self._conflict(f"is over: the page is {self._now.lifecycle} since")
        return LifecycleSet(self._before.lifecycle, f"undo of {self._change.operation}")

    def _are_equal(self, one: RevisionId, other: RevisionId) -> bool:
        return len(equal_heads((one, other), self._envelope)) == 1

    def _envelope(self, revision: RevisionId) -> Revision:
        return self._store.objects.revision(self._namespace, self._page, revision)

    def _conflict(self, why: str) -> Conflict:
        row = self._store.catalog.page(self._page)
        title = row.title if row else self._page
        return Conflict(
            f"the {self._change.operation} of {title} {why}",
            page_id=self._page,
            heads=list(self._now.heads),
        )


def _is_revision(event: Event) -> bool:
    return isinstance(event, RevisionWritten)
