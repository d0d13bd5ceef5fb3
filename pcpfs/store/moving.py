"""Moving a page into another scope. A page never changes its scope: a new page there says the same
and supersedes it, and the old one is tombstoned, in one commit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pcpfs.errors import Conflict, UsageError
from pcpfs.model.answers import Written
from pcpfs.model.changes import (
    Event,
    LifecycleSet,
    Linked,
    Relation,
    RevisionWritten,
)
from pcpfs.model.grants import LINK, TOMBSTONE, WRITE
from pcpfs.model.ids import PageId, RelationId, RevisionId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, escaped, refuse_unprintable
from pcpfs.model.pages import Revision
from pcpfs.model.requests import Draft
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.scopes.secrets import checked, refuse_secrets_in
from pcpfs.store.transaction import Transaction
from pcpfs.store.writes import Writes, refuse_event

SUPERSEDES = "supersedes"


class Moving(Writes):
    """Moves pages in the name of one principal."""

    def move(
        self, given: str, scope: str, why: str, *, path: str | None, allow_secret: bool
    ) -> Written:
        """See `Session.move`."""
        refuse_unprintable(why, "reason (--why)")
        refuse_secrets_in("reason", why)
        namespace = Namespace.given(scope)
        with self._store.writing("move", self._actor) as transaction:
            row = self._page(given)
            self._authority.require((TOMBSTONE,), row.scope)
            self._authority.require((WRITE, LINK), namespace)
            _refuse(row, namespace)
            old = self._envelope(row, RevisionId(row.revision_id))
            page = PageId.authored(self._store.entropy.time_ordered())
            draft = self._draft(row, old, allow_secret=allow_secret)
            kept = path if path is not None or draft.payload is None else row.path
            names = self._names(namespace, page, draft, kept)
            if path is None and not row.is_claimed:
                names = [replace(name, of_title=True) for name in names]
            transaction.ensure_scope(namespace, escaped(scope))
            notes = checked(self._store, transaction, namespace, draft, path)
            made_of = replace(draft, derived_from=(row.revision_id,))
            revision = self._revision(transaction, namespace, page, made_of, ())
            events: list[Event] = [RevisionWritten(revision), *names, *notes]
            events += map(Linked, self._relations_of(transaction, row, revision))
            transaction.change(namespace, page, *events)
            transaction.change(
                Namespace(row.scope), PageId(row.page_id), LifecycleSet("tombstoned", why.strip())
            )
            return self._finish(transaction, namespace, page, revision)

    def _draft(self, row: PageRow, old: Revision, *, allow_secret: bool) -> Draft:
        """What the page says, over the time for which it said that."""
        catalog, facets = self._authority.catalog, old.facets
        (span,) = (s for s in catalog.spans(row.page_id) if s.revision_id == row.revision_id)
        known, raw = old.payload or old.content_ref, None
        if old.payload is not None:
            raw = self._store.objects.payload(Namespace(row.scope), old.payload.ref)
        return Draft(
            raw,
            known.media_type if known else None,
            title=facets.title,
            tags=facets.tags,
            summary=facets.summary,
            keywords=facets.keywords,
            anchors=facets.anchors,
            source_refs=old.source_refs,
            valid_from=Instant(span.valid_from),
            valid_to=None if span.valid_to is None else Instant(span.valid_to),
            observed_at=old.observed_at,
            epistemic=old.epistemic,
            content_ref=old.content_ref,
            allow_secret=allow_secret,
        )

    def _relations_of(
        self, transaction: Transaction, row: PageRow, revision: RevisionId
    ) -> Sequence[Relation]:
        """The new page supersedes the old one, and has its relations; citations stay citations of
        what they cited."""
        known = self._authority.catalog.relations("from_page = ?", (row.page_id,))
        first = self._relation(transaction, revision, SUPERSEDES, row.revision_id)
        again = (Relation.from_json(json.loads(one.body)) for one in known)
        return [
            first,
            *(
                replace(
                    one,
                    relation_id=RelationId("rel_" + base32(self._store.entropy.random(16))),
                    from_revision=revision,
                    created_by=self._actor,
                    created_at=transaction.at,
                )
                for one in again
            ),
        ]


def _refuse(row: PageRow, namespace: Namespace) -> None:
    refuse_event(row)
    if row.scope == namespace:
        raise UsageError(f"{row.title} is in {namespace} already; name another scope")
    if len(decode_list(row.heads)) > 1 or row.disputes != "[]":
        raise Conflict(
            f"{row.title} is in conflict; resolve that first (pcpfs resolve)",
            heads=decode_list(row.heads),
            page_id=row.page_id,
        )
