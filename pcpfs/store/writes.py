"""The operations that change authored pages: write, revise, link, and the lifecycle."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from pcpfs.errors import Conflict, InvalidName, KeyReused, NotFound, UsageError
from pcpfs.model.answers import RelationView, Written
from pcpfs.model.changes import (
    Closed,
    Event,
    LifecycleSet,
    Linked,
    Named,
    Noted,
    Relation,
    RevisionWritten,
)
from pcpfs.model.grants import LINK, READ, TOMBSTONE, WRITE
from pcpfs.model.ids import Digest, FrameId, PageId, RelationId, RevisionId, base32
from pcpfs.model.instants import Instant
from pcpfs.model.names import (
    Namespace,
    TreePath,
    escaped,
    extension_of,
    refuse_unprintable,
    slug,
)
from pcpfs.model.pages import ProvenanceEvent, Revision
from pcpfs.model.requests import Draft
from pcpfs.store import drafting
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.folding.disputes import PATH
from pcpfs.store.folding.fold import ASKED, equal_heads
from pcpfs.store.intents import Committed
from pcpfs.store.references import absence, resolve, revision
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.scopes.secrets import checked, refuse_secrets_in
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.tree import wanted_files


class Writes:
    """Changes pages of one store in the name of one principal, as far as they may.

    Whatever they name is looked for among what they may read; what they may not read is not there.
    """

    def __init__(self, store: Store, authority: Authority) -> None:
        self._store = store
        self._authority = authority
        self._actor = authority.principal

    def write(self, scope: str, draft: Draft, *, path: str | None, key: str | None) -> Written:
        """A new page (PCP WritePage). With a key: the same key, scope, bytes and media type answer
        the ids of the first time; other bytes are KeyReused."""
        namespace = Namespace.given(scope)
        drafting.check(draft)
        with self._store.writing("write", self._actor) as transaction:
            self._authority.require(drafting.needed(draft), namespace)
            page = self._new_page(namespace, key)
            known = self._store.catalog.page(page) if key is not None else None
            if known is not None:
                return self._retried(known, draft)
            names = self._names(namespace, page, draft, path)
            transaction.ensure_scope(namespace, escaped(scope))
            notes = checked(self._store, transaction, namespace, draft, path)
            revision_id = self._revision(transaction, namespace, page, draft, ())
            events: list[Event] = [RevisionWritten(revision_id), *names, *notes]
            events += self._links(transaction, draft, revision_id)
            transaction.change(namespace, page, *events)
            return self._finish(transaction, namespace, page, revision_id)

    def revise(
        self, given: str, draft: Draft, *, expect: Sequence[str], branch: str | None
    ) -> Written:
        """A new revision on the heads named by `expect`, or beside them from an older revision.

        Conflict, naming the heads, if one of `expect` is no head (PCP-R3). A revision that says
        what its only parent says is not written again.
        """
        if bool(expect) == (branch is not None):
            raise UsageError("say which revision you read: --expect REV, or else --branch REV")
        drafting.check(draft)
        with self._store.writing("revise", self._actor) as transaction:
            row = self._page(given)
            self._authority.require(drafting.needed(draft), row.scope)
            refuse_event(row)
            return self._revise(transaction, row, draft, self._parents(row, expect, branch))

    def resolve(self, given: str, draft: Draft) -> Written:
        """One revision that goes on from all heads; what else is in dispute then holds as it is
        shown. UsageError if nothing is, unless the page says just that already."""
        drafting.check(draft)
        with self._store.writing("resolve", self._actor) as transaction:
            row = self._page(given)
            self._authority.require(drafting.needed(draft), row.scope)
            refuse_event(row)
            heads = sorted(self._heads(row), key=lambda head: head != row.revision_id)
            is_agreed = len(heads) == 1 and row.disputes == "[]"
            payload = drafting.payload_of(draft)
            if is_agreed and (payload is None or payload.ref != row.digest):
                raise UsageError(f"{row.title} is in no conflict; revise it (pcpfs revise)")
            names = [Named(row.path)] if PATH in decode_list(row.disputes) and row.path else []
            return self._revise(transaction, row, draft, tuple(heads), names)

    def _revise(
        self,
        transaction: Transaction,
        row: PageRow,
        draft: Draft,
        parents: tuple[RevisionId, ...],
        more: Sequence[Event] = (),
    ) -> Written:
        namespace, page = Namespace(row.scope), PageId(row.page_id)
        parent = self._envelope(row, parents[0])
        inherited = drafting.inherited(draft, parent)
        is_new = len(parents) > 1 or row.disputes != "[]" or parents[0] not in self._heads(row)
        if not (is_new or not row.is_open) and drafting.says_the_same(inherited, parent):
            path = self._shown_path(row)
            return Written(page, parents[0], row.scope, path, created=False)
        notes = checked(self._store, transaction, namespace, draft)
        revision_id = self._revision(transaction, namespace, page, inherited, parents)
        events: list[Event] = [RevisionWritten(revision_id, parents), *more, *notes]
        events += self._links(transaction, draft, revision_id)
        transaction.change(namespace, page, *events)
        return self._finish(transaction, namespace, page, revision_id)

    def lifecycle(self, given: str, status: str, operation: str, why: str) -> Written:
        """Archive, tombstone or restore a page: an event of its own (PCP-T2, T3)."""
        refuse_unprintable(why, "reason (--why)")
        refuse_secrets_in("reason", why)
        with self._store.writing(operation, self._actor) as transaction:
            row = self._page(given, any_state=True)
            self._authority.require((TOMBSTONE,), row.scope)
            page, head = PageId(row.page_id), RevisionId(row.revision_id)
            if row.lifecycle == status and row.disputes == "[]":
                return Written(page, head, row.scope, self._shown_path(row), created=False)
            transaction.change(Namespace(row.scope), page, LifecycleSet(status, why.strip()))
            return self._finish(transaction, Namespace(row.scope), page, head)

    def close(self, given: str, at: Instant, why: str) -> Written:
        """Say from when on what a page says no longer holds: its head ends there (PCP-T1)."""
        refuse_unprintable(why, "reason (--why)")
        refuse_secrets_in("reason", why)
        with self._store.writing("close", self._actor) as transaction:
            row = self._page(given)
            self._authority.require((WRITE,), row.scope)
            page, head = PageId(row.page_id), RevisionId(row.revision_id)
            if len(decode_list(row.heads)) > 1:
                raise Conflict(
                    f"{row.title} has several heads; resolve that first (pcpfs resolve)",
                    heads=decode_list(row.heads),
                    page_id=page,
                )
            span = next(s for s in self._store.catalog.spans(page) if s.revision_id == head)
            if at.microseconds < span.valid_from:
                begun = Instant(span.valid_from)
                raise UsageError(f"{row.title} holds from {begun} on; it cannot end before that")
            if span.valid_to is not None and span.valid_to <= at.microseconds:
                return Written(page, head, row.scope, self._shown_path(row), created=False)
            closed = Closed(head, at, ASKED)
            transaction.change(Namespace(row.scope), page, closed, Noted({"why": why.strip()}))
            return self._finish(transaction, Namespace(row.scope), page, head)

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        """A typed relation between two revisions, perhaps to one frame of the second (PCP-L1)."""
        _check_type(relation_type)
        refuse_secrets_in("relation type", relation_type)
        with self._store.writing("link", self._actor) as transaction:
            page, from_revision = revision(self._authority.catalog, source)
            row = self._page(page)
            self._authority.require((LINK,), row.scope)
            relation = self._relation(transaction, from_revision, relation_type, target)
            transaction.change(Namespace(row.scope), page, Linked(relation))
            self._finish(transaction, Namespace(row.scope), page, from_revision)
            far = self._authority.catalog.page(relation.to_page)
            title = far.title if far else relation.to_page
            state = far.lifecycle if far else absence(self._store.catalog, relation.to_page)
            return RelationView(relation, page, "out", title, state)

    def _new_page(self, namespace: Namespace, key: str | None) -> PageId:
        if key is None:
            return PageId.authored(self._store.entropy.time_ordered())
        if not key or len(key) > 500:
            raise UsageError("a key has 1 to 500 characters")
        return self._store.objects.keyed_page(namespace, key)

    def _retried(self, row: PageRow, draft: Draft) -> Written:
        """CASES: the first revision's ids, also after later revisions."""
        first = self._store.catalog.spans(row.page_id)[0]
        body = self._envelope(row, RevisionId(first.revision_id))
        if not drafting.holds_the_same(draft, body):
            raise KeyReused(
                f"this key already names {row.title} ({row.page_id}) with other bytes; "
                "revise that page, or use another key",
                page_id=row.page_id,
                revision_id=first.revision_id,
            )
        return Written(
            PageId(row.page_id),
            RevisionId(first.revision_id),
            row.scope,
            self._shown_path(row),
            created=False,
        )

    def _names(
        self, namespace: Namespace, page: PageId, draft: Draft, given: str | None
    ) -> list[Named]:
        """The path in `tree/`: as given, else from the title, else from the id; flat. None for a
        page whose bytes are not here."""
        if draft.payload is None:
            if given is not None:
                raise UsageError("only a page whose bytes are here has a --path in tree/")
            return []
        extension = extension_of(draft.media_type or "")
        title = draft.title or drafting.own_title(draft) or ""
        path = TreePath(given if given is not None else f"{slug(title) or page}.{extension}")
        folders = [path.claim.rsplit("/", n)[0] for n in range(1, path.claim.count("/") + 1)]
        rivals = self._store.catalog.pages(
            "(scope = ? AND claim IN (SELECT value FROM json_each(?))) "
            "OR (scope = ? AND claim > ? AND claim < ?)",  # so that both sides find their index
            (namespace, json.dumps(folders), namespace, f"{path.claim}/", f"{path.claim}0"),
        )
        if rivals:
            raise InvalidName(
                f"{path} cannot be a file: {rivals[0].path} is in the way; choose another --path"
                if self._authority.may(READ, namespace)
                else f"{path} is in the way of another file; choose another --path"
            )
        return [Named(path, of_title=given is None)]

    def _revision(
        self,
        transaction: Transaction,
        namespace: Namespace,
        page: PageId,
        draft: Draft,
        parents: tuple[RevisionId, ...],
    ) -> RevisionId:
        seen = self._authority.catalog
        inputs = tuple(revision(seen, given)[1] for given in draft.derived_from)
        how = "derive" if inputs else transaction.operation
        body = Revision(
            page=page,
            namespace=namespace,
            payload=drafting.payload_of(draft),
            parents=parents,
            source_refs=draft.source_refs,
            facets=drafting.facets_of(draft),
            created_at=transaction.at,
            created_by=self._actor,
            provenance=(ProvenanceEvent(how, self._actor, transaction.at, inputs),),
            observed_at=draft.observed_at,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            epistemic=draft.epistemic or {},
            salt=self._store.entropy.random(16).hex(),
            content_ref=drafting.content_ref_of(draft),
        )
        if draft.payload is not None:
            transaction.payload(namespace, draft.payload)
        return transaction.revision(body)

    def _links(
        self, transaction: Transaction, draft: Draft, revision_id: RevisionId
    ) -> list[Event]:
        cited = [self._relation(transaction, revision_id, "cites", g) for g in draft.cites]
        if any(relation.to_frame is None for relation in cited):
            raise UsageError("--cites names a frame (fr_…); see pcpfs symbol NAME")
        inputs = [
            self._relation(transaction, revision_id, "derived_from", g) for g in draft.derived_from
        ]
        others = []
        for relation_type, target in draft.relations:
            _check_type(relation_type)
            others.append(self._relation(transaction, revision_id, relation_type, target))
        return [Linked(relation) for relation in (*cited, *inputs, *others)]

    def _relation(
        self, transaction: Transaction, start: RevisionId, relation_type: str, target: str
    ) -> Relation:
        """`target` is REV, PAGE, FRAME or PAGE#FRAME; a frame must hold now."""
        catalog = self._authority.catalog
        whole, _, part = target.partition("#")
        reference = resolve(catalog, part or whole)
        frame, digest = reference.frame, None
        page, end = revision(catalog, whole if not part else reference.page)
        if frame is not None:
            end, digest = self._holding(frame)
        return Relation(
            relation_id=RelationId("rel_" + base32(self._store.entropy.random(16))),
            from_revision=start,
            type=relation_type,
            to_page=page,
            to_revision=end,
            created_by=self._actor,
            created_at=transaction.at,
            to_frame=frame,
            to_digest=digest,
        )

    def _holding(self, frame: FrameId) -> tuple[RevisionId, Digest]:
        rows = self._authority.catalog.frames("frame_id = ? AND valid_to IS NULL", (frame,))
        if not rows:
            raise Conflict(
                f"frame {frame} has closed; cite what holds now (pcpfs symbol NAME)",
                frame_id=frame,
            )
        return RevisionId(rows[-1].revision_id), Digest(rows[-1].digest)

    def _page(self, given: str, *, any_state: bool = False) -> PageRow:
        seen = self._authority.catalog
        row = seen.page(resolve(seen, given).page)
        if row is None:
            raise NotFound(f"there is no page {given}")
        if row.is_source:
            raise UsageError(f"{row.path} is a source: it changes when its file does (pcpfs sync)")
        if row.lifecycle == "tombstoned" and not any_state:
            raise Conflict(
                f"{row.title} is tombstoned; bring it back with: pcpfs restore", heads=[]
            )
        return row

    def _parents(
        self, row: PageRow, expect: Sequence[str], branch: str | None
    ) -> tuple[RevisionId, ...]:
        page = PageId(row.page_id)
        heads = self._heads(row)
        if branch is not None:
            return (self._own_revision(page, branch),)
        named = [self._own_revision(page, given) for given in expect]
        wrong = [revision_id for revision_id in named if revision_id not in heads]
        if wrong:
            distinct = decode_list(row.heads)
            raise Conflict(
                f"{wrong[0]} is no longer the head of {row.title}; now it is "
                f"{' and '.join(distinct)}: look at it (pcpfs diff) and revise that",
                expected=wrong[0],
                heads=distinct,
                page_id=page,
            )
        equal = [h for h in heads if any(self._are_equal(row, h, n) for n in named)]
        return tuple(dict.fromkeys((*named, *equal)))

    def _own_revision(self, page: PageId, given: str) -> RevisionId:
        found = resolve(self._authority.catalog, given)
        if found.page != page or found.revision is None:
            raise NotFound(f"{given} is no revision of {page}")
        return found.revision

    def _heads(self, row: PageRow) -> tuple[RevisionId, ...]:
        """All heads, equal ones included."""
        spans = self._store.catalog.spans(row.page_id)
        parents = {parent for span in spans for parent in decode_list(span.parents)}
        return tuple(RevisionId(s.revision_id) for s in spans if s.revision_id not in parents)

    def _are_equal(self, row: PageRow, one: RevisionId, other: RevisionId) -> bool:
        return one == other or len(equal_heads((one, other), lambda r: self._envelope(row, r))) == 1

    def _envelope(self, row: PageRow, revision_id: RevisionId) -> Revision:
        return self._store.objects.revision(Namespace(row.scope), PageId(row.page_id), revision_id)

    def _finish(
        self,
        transaction: Transaction,
        namespace: Namespace,
        page: PageId,
        revision_id: RevisionId,
    ) -> Written:
        title = transaction.title_of(page) or page
        done: Committed = transaction.commit(
            f"{transaction.operation}: {one_line(title)}",
            (
                ("Pcpfs-Operation", transaction.operation),
                ("Pcpfs-Page", page),
                ("Pcpfs-Revision", revision_id),
                ("Pcpfs-Actor", str(self._actor)),
            ),
        )
        row = self._store.catalog.page(page)
        path = None if row is None else self._shown_path(row)
        written = Written(page, revision_id, namespace, path, commit=done.commit)
        return self._authority.told(replace(written, warnings=done.warnings))

    def _shown_path(self, row: PageRow) -> str | None:
        return next(iter(wanted_files(self._store.catalog, [row])), None)


def one_line(text: str, most: int = 72) -> str:
    """A text that fits the subject of a commit: one line, nothing that a terminal obeys."""
    plain = "".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") else c for c in text)
    plain = " ".join(plain.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def refuse_event(row: PageRow) -> None:
    """UsageError for an event. PCP-P4: what happened is not overwritten; only of two events under
    one key one is chosen."""
    if row.is_event and len(decode_list(row.heads)) == 1:
        raise UsageError(
            f"{row.title} is an event and stays as it happened; write a page that is derived from "
            f"it: pcpfs write --derived-from {row.revision_id[:16]}"
        )


def _check_type(relation_type: str) -> None:
    """An open vocabulary (PCP-L2)."""
    if not re.fullmatch(r"[a-z][a-z0-9_.:-]{0,63}", relation_type):
        raise InvalidName(f"{relation_type!r} is no relation type; one looks like depends_on")
