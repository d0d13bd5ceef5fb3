"""Recommending that a page be deleted: what a model may do instead of doing it (PCP DeletePage).

It is a note in the page's changes, so that clones see it; `status` lists it until the page is gone,
or until somebody who may delete it, or who recommended it, dismisses it. That is a note as well,
and names what it dismisses: a recommendation that its writer did not know of stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.answers import Written
from pcpfs.model.changes import Noted
from pcpfs.model.grants import DELETE, WRITE
from pcpfs.model.ids import ChangeId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, refuse_unprintable
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.references import resolve
from pcpfs.store.scopes.secrets import refuse_secrets_in
from pcpfs.store.session import Session
from pcpfs.store.writes import one_line

OPERATION, DISMISSAL = "recommend", "dismiss"
_MEMBER, _DISMISSES = "recommends_deletion", "dismisses"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Somebody thinks that a page should be deleted, and why."""

    page_id: PageId
    scope: str
    title: str
    actor: str
    at: Instant
    why: str
    change_id: ChangeId


def recommend_deletion(session: Session, given: str, why: str) -> Written:
    """Leave the note; the page stays as it is."""

    def note(row: PageRow) -> Noted:
        session.authority.require((WRITE,), row.scope)
        return Noted({_MEMBER: why.strip()})

    return _noted(session, given, OPERATION, why, note)


def dismiss_recommendations(session: Session, given: str, why: str) -> Written:
    """Say that a page is not to be deleted, whatever was recommended so far; who may not delete it
    takes back what they recommended themselves. NotFound if there is nothing to dismiss."""

    def note(row: PageRow) -> Noted:
        authority = session.authority
        there = [one for one in recommendations(session) if one.page_id == row.page_id]
        if not authority.may(DELETE, row.scope):
            own = [one for one in there if one.actor == str(session.principal)]
            authority.require((WRITE,) if own else (DELETE,), row.scope)
            there = own
        if not there:
            raise NotFound(f"nobody recommends to delete {row.title}; see pcpfs status")
        return Noted({_DISMISSES: [one.change_id for one in there], "why": why.strip()})

    return _noted(session, given, DISMISSAL, why, note)


def _noted(
    session: Session, given: str, operation: str, why: str, note: Callable[[PageRow], Noted]
) -> Written:
    refuse_unprintable(why, "reason (--why)")
    refuse_secrets_in("reason", why)
    store, authority = session.store, session.authority
    with store.writing(operation, session.principal) as transaction:
        row = authority.catalog.page(resolve(authority.catalog, given).page)
        if row is None:
            raise NotFound(f"there is no page {given}")
        page = PageId(row.page_id)
        transaction.change(Namespace(row.scope), page, note(row))
        done = transaction.commit(
            f"{operation}: delete {one_line(row.title)}",
            (
                ("Pcpfs-Operation", operation),
                ("Pcpfs-Page", page),
                ("Pcpfs-Actor", str(session.principal)),
            ),
        )
    revision = RevisionId(row.revision_id)
    written = Written(page, revision, row.scope, row.path, created=False, commit=done.commit)
    return authority.told(written)


def recommendations(session: Session) -> tuple[Recommendation, ...]:
    """Those of pages that are still there and that nobody dismissed, oldest first."""
    dismissed = {
        change for _, note in _notes(session, DISMISSAL) for change in _texts(note.get(_DISMISSES))
    }
    return tuple(
        replace(told, why=why)
        for told, note in _notes(session, OPERATION)
        if told.change_id not in dismissed and isinstance(why := note.get(_MEMBER), str)
    )


def _notes(
    session: Session, operation: str
) -> Iterator[tuple[Recommendation, Mapping[str, object]]]:
    """What was noted by an operation, with who, when and of which page, oldest first."""
    found = session.authority.catalog.query(
        "SELECT change_id, page_id, change.scope, title, actor, at FROM change "
        "JOIN page USING (page_id) WHERE change.operation = ? ORDER BY turn, change_id",
        (operation,),
    )
    for change, page, scope, title, actor, at in found:
        ident = ChangeId(change)
        try:
            body = session.store.objects.change(Namespace(scope), PageId(page), ident)
        except (Corrupt, NotFound):
            continue  # fsck names it
        told = Recommendation(PageId(page), scope, title, actor, Instant(at), "", ident)
        yield from ((told, event.note) for event in body.events if isinstance(event, Noted))


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
