"""Recommending that a page be deleted: what a model may do instead of doing it (PCP DeletePage).

It is a note in the page's changes, so that clones see it; `status` lists it until the page is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pcpfs.errors import Corrupt, NotFound
from pcpfs.model.answers import Written
from pcpfs.model.changes import Noted
from pcpfs.model.grants import WRITE
from pcpfs.model.ids import ChangeId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, refuse_unprintable
from pcpfs.store.references import resolve
from pcpfs.store.secrets import refuse_secrets_in
from pcpfs.store.session import Session
from pcpfs.store.writes import one_line

OPERATION = "recommend"
_MEMBER = "recommends_deletion"


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Somebody thinks that a page should be deleted, and why."""

    page_id: PageId
    scope: str
    title: str
    actor: str
    at: Instant
    why: str


def recommend_deletion(session: Session, given: str, why: str) -> Written:
    """Leave the note; the page stays as it is."""
    refuse_unprintable(why, "reason (--why)")
    refuse_secrets_in("reason", why)
    store, authority = session.store, session.authority
    with store.writing(OPERATION, session.principal) as transaction:
        row = authority.catalog.page(resolve(authority.catalog, given).page)
        if row is None:
            raise NotFound(f"there is no page {given}")
        authority.require((WRITE,), row.scope)
        page = PageId(row.page_id)
        transaction.change(Namespace(row.scope), page, Noted({_MEMBER: why.strip()}))
        done = transaction.commit(
            f"recommend: delete {one_line(row.title)}",
            (
                ("Pcpfs-Operation", OPERATION),
                ("Pcpfs-Page", page),
                ("Pcpfs-Actor", str(session.principal)),
            ),
        )
    revision = RevisionId(row.revision_id)
    written = Written(page, revision, row.scope, row.path, created=False, commit=done.commit)
    return authority.told(written)


def recommendations(session: Session) -> tuple[Recommendation, ...]:
    """Those of pages that are still there, oldest first."""
    found = session.authority.catalog.query(
        "SELECT change_id, page_id, change.scope, title, actor, at FROM change "
        "JOIN page USING (page_id) WHERE change.operation = ? ORDER BY turn, change_id",
        (OPERATION,),
    )
    return tuple(
        Recommendation(PageId(page), scope, title, actor, Instant(at), why)
        for change, page, scope, title, actor, at in found
        for why in _reasons(session, Namespace(scope), PageId(page), ChangeId(change))
    )


def _reasons(session: Session, scope: Namespace, page: PageId, change: ChangeId) -> Iterator[str]:
    try:
        body = session.store.objects.change(scope, page, change)
    except (Corrupt, NotFound):
        return  # fsck names it
    for event in body.events:
        if isinstance(event, Noted) and isinstance(why := event.note.get(_MEMBER), str):
            yield why
