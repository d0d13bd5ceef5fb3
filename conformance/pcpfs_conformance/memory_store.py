"""A store in memory: the rules of PCP in the plainest words, and stricter than a real one may be.

It is the reference that the suite is proven on, the right half of every mutant, and the model that
random rows of operations are compared with. Nothing in it is fast.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pcpfs.errors import Conflict, InvalidName, KeyReused, NotFound, NotPermitted, UsageError
from pcpfs.model.answers import (
    LogEntry,
    Manifest,
    Pins,
    RelationView,
    ScopeView,
    SearchAnswer,
    SearchHit,
    Written,
)
from pcpfs.model.changes import Relation
from pcpfs.model.ids import CloneId, PageId, RelationId, RevisionId, derived
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import ActorType, Facets, Occurrence, Principal, ProvenanceEvent, Revision
from pcpfs.model.requests import MOST_RESULTS, PROJECTIONS, Draft, EventDraft, Filters
from pcpfs_conformance.memory_pages import (
    Archive,
    Page,
    are_equal,
    check,
    facets_of,
    inherited,
    payload_of,
    says_the_same,
)
from pcpfs_conformance.stores import NOW, OWNER

MODES = ("exact", "text", "temporal", "auto")
_CLONE = CloneId("cl_" + "0" * 26)


@dataclass(frozen=True, slots=True)
class Fragment:
    page_id: PageId
    revision_id: RevisionId
    scope: str
    projection: str
    source_refs: tuple[str, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class Bundle:
    fragments: tuple[Fragment, ...]


class MemorySession:
    """The operations of one principal on an archive."""

    def __init__(self, archive: Archive, principal: Principal) -> None:
        self.kept = archive
        self.principal = principal

    def capabilities(self) -> Mapping[str, Any]:
        return {"search_modes": list(MODES), "projections": list(PROJECTIONS)}

    def scopes(self) -> Sequence[ScopeView]:
        names = sorted({page.scope for page in self._readable()})
        return [ScopeView(n, n, Namespace(n).kind, "private", (), 0, Instant(0)) for n in names]

    # writing

    def write(
        self, scope: str, draft: Draft, *, path: str | None = None, key: str | None = None
    ) -> Written:
        self._require(scope, "write")
        check(draft)
        page = PageId("pg_" + derived("page", scope, key or str(self.kept.ticks)))
        known = self.kept.pages.get(page)
        if known is not None:
            first = next(iter(known.revisions))
            if known.revisions[first].payload != payload_of(draft.payload, draft.media_type):
                raise KeyReused(f"this key already names {page}", page_id=page)
            return Written(page, first, scope, None, created=False)
        made = Page(page, scope)
        revision = self._add(made, draft, (), "write")
        self.kept.pages[page] = made
        return Written(page, revision, scope, path)

    def revise(
        self, page: str, draft: Draft, *, expect: Sequence[str] = (), branch: str | None = None
    ) -> Written:
        found, _ = self._named(page, "write")
        check(draft)
        if bool(expect) == (branch is not None):
            raise UsageError("say what you read: expect or branch")
        if found.lifecycle == "tombstoned":
            raise Conflict("the page is tombstoned", heads=[])
        if found.is_event:
            raise UsageError("an event stays as it happened")
        if branch is not None:
            parents: tuple[RevisionId, ...] = (self._named(branch, "read")[1],)
        else:
            wrong = [given for given in expect if given not in found.all_heads]
            if wrong:
                raise Conflict("no head any more", heads=list(found.heads), expected=wrong[0])
            parents = tuple(map(RevisionId, expect))
        full = inherited(draft, found.revisions[parents[0]])
        is_head = len(parents) == 1 and parents[0] in found.all_heads
        if is_head and not found.is_over and says_the_same(full, found, parents[0]):
            return Written(found.page_id, parents[0], found.scope, None, created=False)
        equal = [h for h in found.all_heads if any(are_equal(found, h, p) for p in parents)]
        if branch is None:
            parents = tuple(dict.fromkeys((*parents, *equal)))
        revision = self._add(found, full, parents, "revise")
        return Written(found.page_id, revision, found.scope, None)

    def ingest(self, scope: str, drafts: Sequence[EventDraft]) -> Sequence[Written]:
        self._require(scope, "write")
        done = []
        for given in drafts:
            draft = Draft(given.payload, given.media_type, title=given.title)
            written = self.write(scope, draft, key=None if given.key is None else f"e:{given.key}")
            self.kept.pages[written.page_id].is_event = True
            done.append(written)
        return done

    def link(self, source: str, relation_type: str, target: str) -> RelationView:
        if not re.fullmatch(r"[a-z][a-z0-9_.:-]{0,63}", relation_type):
            raise InvalidName(f"{relation_type!r} is no relation type")
        page, revision = self._named(source, "link")
        return self._view(page, self._relate(page, revision, relation_type, target), "out")

    def _set(self, page: str, status: str) -> Written:
        found, revision = self._named(page, "tombstone")
        is_new = found.lifecycle != status
        found.lifecycle = status
        return Written(found.page_id, revision, found.scope, None, created=is_new)

    def tombstone(self, page: str, why: str) -> Written:
        return self._set(page, "tombstoned")

    def archive(self, page: str, why: str) -> Written:
        return self._set(page, "archived")

    def restore(self, page: str, why: str) -> Written:
        return self._set(page, "active")

    def delete(self, page: str, why: str) -> None:
        if self.principal.actor_type is ActorType.MODEL:
            raise NotPermitted("a model may not delete, it may recommend it")
        del self.kept.pages[self._named(page, "delete")[0].page_id]

    def close_at(self, page: str, at: Instant, why: str) -> Written:
        """Only for what lies behind: then it is over at once."""
        found, revision = self._named(page, "write")
        start, end = found.interval(revision)
        if found.lifecycle == "tombstoned" or len(found.heads) > 1:
            raise Conflict("tombstoned, or in conflict", heads=list(found.heads))
        if at < start:
            raise UsageError("it cannot end before it begins")
        is_new = end is None or at < end
        if is_new:
            found.closed[revision] = at
        return Written(found.page_id, revision, found.scope, None, created=is_new)

    def suppress(self, task: str, pages: Sequence[str], why: str) -> object:
        for given in pages:
            self.kept.suppressed.add((task, self._named(given, "read")[0].page_id))
        return None

    # reading

    def manifest(self, given: str, pins: Pins = NOW) -> Manifest:
        page, revision = self._at(given, pins)
        body = page.revisions[revision]
        start, end = page.interval(revision)
        status = page.lifecycle
        if status == "active" and revision not in page.all_heads:
            status = "superseded"
        assert body.created_at is not None, "every revision here is dated"
        assert body.created_by is not None, "every revision here has an author"
        return Manifest(
            page_id=page.page_id,
            revision_id=revision,
            heads=page.heads,
            scope=page.scope,
            kind="event" if page.is_event else "page",
            title=body.facets.title or page.page_id,
            path=None,
            owner_id=str(OWNER),
            namespace=page.scope,
            visibility="private",
            lifecycle_status=status,
            payload=body.payload,
            source_refs=body.source_refs,
            provenance=body.provenance,
            created_at=body.created_at,
            created_by=body.created_by,
            facets=body.facets,
            epistemic=body.epistemic,
            valid_from=start,
            valid_to=end,
            observed_at=body.observed_at,
            content_ref=body.content_ref,
        )

    def payload(self, given: str, pins: Pins = NOW) -> bytes:
        page, revision = self._at(given, pins)
        if revision not in page.payloads:
            raise NotFound(f"{page.page_id} has no payload here")
        return page.payloads[revision]

    def facets(self, given: str, pins: Pins = NOW) -> Facets:
        page, revision = self._at(given, pins)
        return page.revisions[revision].facets

    def relations(
        self, given: str, pins: Pins = NOW, *, direction: str = "both"
    ) -> Sequence[RelationView]:
        page, _ = self._at(given, NOW)
        found = []
        if direction in ("out", "both"):
            found += [self._view(page, relation, "out") for relation in page.relations]
        if direction in ("in", "both"):
            for other in self._readable():
                ours = [r for r in other.relations if r.to_page == page.page_id]
                found += [self._view(other, relation, "in") for relation in ours if other != page]
        return found

    def log(self, given: str, pins: Pins = NOW) -> Sequence[LogEntry]:
        page, _ = self._at(given, NOW)
        return [
            LogEntry(
                revision, body.parents, body.created_at, body.created_by, "write", str(revision)
            )
            for revision, body in reversed(page.revisions.items())
            if body.created_at and body.created_by
        ]

    def bundle(
        self,
        given: Sequence[str],
        projections: Sequence[str] = ("payload",),
        pins: Pins = NOW,
        *,
        budget: int = 32_768,
    ) -> Bundle:
        fragments: list[Fragment] = []
        for name in given:
            shown = self.manifest(name, pins)
            content = self.payload(name, pins)
            if sum(len(f.content) for f in fragments) + len(content) <= budget:
                fragments.append(
                    Fragment(
                        shown.page_id,
                        shown.revision_id,
                        shown.scope,
                        "payload",
                        shown.source_refs,
                        content,
                    )
                )
        return Bundle(tuple(fragments))

    def search(
        self,
        query: str,
        *,
        scopes: Sequence[str] = (),
        policy: str | None = None,
        filters: Filters | None = None,
        pins: Pins = NOW,
        limit: int = 10,
        cursor: str | None = None,
        mode: str = "auto",
        task: str | None = None,
    ) -> SearchAnswer:
        if mode not in MODES:
            raise UsageError(f"{mode} is no mode here")
        if not 1 <= limit <= MOST_RESULTS:
            raise UsageError(f"a limit is between 1 and {MOST_RESULTS}")
        given = set(cursor.split()) if cursor else set()
        where = sorted(set(scopes) or {page.scope for page in self._readable()})
        hidden = {page for of, page in self.kept.suppressed if of == task}
        hits = [
            h
            for h in self._hits(query, where, filters or Filters(), mode)
            if h.page_id not in hidden
        ]
        left = [hit for hit in hits if hit.page_id not in given]
        more = " ".join([*sorted(given), *(hit.page_id for hit in left[:limit])])
        return SearchAnswer(
            tuple(left[:limit]),
            "strict" if scopes else "global",
            tuple(where),
            more if len(left) > limit else None,
            mode=mode if mode != "auto" else "text",
        )

    # inside

    def _hits(
        self, query: str, scopes: Collection[str], filters: Filters, mode: str
    ) -> Iterator[SearchHit]:
        words = re.findall(r"\w+", query.casefold())
        for page in self._readable():
            if page.scope not in scopes or page.lifecycle not in filters.statuses:
                continue
            for head in (head for head in page.heads if head not in page.closed):
                body = page.revisions[head]
                text = page.payloads.get(head, b"").decode("utf-8", "replace")
                facets = body.facets
                parts = [facets.title, facets.summary, *facets.keywords, *facets.tags, text]
                known = set(re.findall(r"\w+", " ".join(filter(None, parts)).casefold()))
                matched = [word for word in words if word in known]
                enough = bool(matched) if mode in ("text", "auto") else len(matched) == len(words)
                if enough and (mode != "exact" or query in text or query == facets.title):
                    yield self._hit(page, head, mode, f"{', '.join(matched)} in text")
                    break

    def _hit(self, page: Page, revision: RevisionId, mode: str, why: str) -> SearchHit:
        shown = self.manifest(revision)
        return SearchHit(
            page_id=page.page_id,
            revision_id=revision,
            frame_id=None,
            scope=page.scope,
            kind=shown.kind,
            title=shown.title,
            citation_label=f"{shown.title} ({page.scope})",
            path=None,
            root=None,
            lines=None,
            qualified_name=None,
            signature=None,
            language=None,
            digest=shown.payload.ref if shown.payload else None,
            channel="text" if mode == "auto" else mode,
            score=1.0,
            why=why,
            excerpt="",
            facets=shown.facets,
            projections=PROJECTIONS,
            suspect=None,
            valid_from=shown.valid_from,
            valid_to=shown.valid_to,
        )

    def _readable(self) -> list[Page]:
        may = self.kept.may
        return [p for p in self.kept.pages.values() if may(self.principal, p.scope, "read")]

    def _require(self, scope: str, permission: str) -> None:
        Namespace(scope)
        if not self.kept.may(self.principal, scope, permission):
            raise NotPermitted(f"{self.principal} may not {permission} in {scope}")

    def _named(self, given: str, permission: str) -> tuple[Page, RevisionId]:
        """A page and the revision that is meant: its own, or the head that speaks."""
        for page in self._readable():
            if given in (page.page_id, *page.revisions):
                self._require(page.scope, permission)
                is_page = given == page.page_id
                return page, page.heads[0] if is_page else RevisionId(given)
        raise NotFound(f"nothing here is called {given!r}")

    def _at(self, given: str, pins: Pins) -> tuple[Page, RevisionId]:
        page, revision = self._named(given, "read")
        if given != page.page_id or pins.as_of is None:
            return page, revision
        for one in reversed(page.revisions):
            start, end = page.interval(one)
            if start <= pins.as_of and (end is None or pins.as_of < end):
                return page, one
        raise NotFound(f"{page.page_id} has nothing that held then")

    def _add(
        self, page: Page, draft: Draft, parents: tuple[RevisionId, ...], operation: str
    ) -> RevisionId:
        inputs = tuple(self._named(given, "read")[1] for given in draft.derived_from)
        at = self.kept.now()
        how = ProvenanceEvent("derive" if inputs else operation, self.principal, at, inputs)
        body = Revision(
            page=page.page_id,
            namespace=Namespace(page.scope),
            payload=payload_of(draft.payload, draft.media_type),
            parents=parents,
            source_refs=draft.source_refs,
            facets=facets_of(draft),
            created_at=at,
            created_by=self.principal,
            provenance=(how,),
            observed_at=draft.observed_at,
            valid_from=draft.valid_from,
            valid_to=draft.valid_to,
            epistemic=draft.epistemic or {},
            salt=hashlib.sha256(str(at).encode()).hexdigest()[:32],
            event=Occurrence(_CLONE) if page.is_event else None,
            content_ref=draft.content_ref,
        )
        revision = RevisionId.of(body.encode())
        page.revisions[revision] = body
        if draft.payload is not None:
            page.payloads[revision] = draft.payload
        for given in draft.derived_from:
            self._relate(page, revision, "derived_from", given)
        for relation_type, target in draft.relations:
            self._relate(page, revision, relation_type, target)
        return revision

    def _relate(self, page: Page, revision: RevisionId, kind: str, target: str) -> Relation:
        other, end = self._named(target, "read")
        at = self.kept.now()
        identity = RelationId("rel_" + derived("relation", str(at)))
        made = Relation(identity, revision, kind, other.page_id, end, self.principal, at)
        page.relations.append(made)
        return made

    def _view(self, page: Page, relation: Relation, direction: str) -> RelationView:
        far = relation.to_page if direction == "out" else page.page_id
        other = next((p for p in self._readable() if p.page_id == far), None)
        title = other.revisions[other.heads[0]].facets.title if other else None
        status = other.lifecycle if other else "missing"
        return RelationView(relation, page.page_id, direction, title or far, status)


class MemoryBackend:
    """The archive outlives its sessions, as a disk would."""

    session: type[MemorySession] = MemorySession

    def __init__(self, session: type[MemorySession] | None = None) -> None:
        self.kept = Archive()
        self._session = session or type(self).session

    def open(self, principal: Principal) -> MemorySession:
        return self._session(self.kept, principal)

    def grant(self, scope: str, principal: Principal, permissions: Sequence[str]) -> None:
        self.kept.grants |= {(scope, principal, name) for name in permissions}
