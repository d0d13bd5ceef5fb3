"""What the store in memory can besides PCP: grants that come and go, undoing, erasing, relations as
a graph. With it random rows of all operations are compared with a real store."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pcpfs.model.answers import RelationView, Written
from pcpfs.model.changes import Relation
from pcpfs.model.grants import READ, SHARED_PERMISSIONS
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.model.requests import Draft
from pcpfs_conformance.memory_pages import Archive, Page, are_equal
from pcpfs_conformance.memory_store import MemorySession

Result = TypeVar("Result")


@dataclass(slots=True)
class ModelArchive(Archive):
    """Knows besides which scopes anybody may read, and what is erased."""

    shared: set[str] = field(default_factory=set)
    erased: set[PageId] = field(default_factory=set)
    keys: dict[PageId, tuple[str, str]] = field(default_factory=dict)
    keys_erased: Counter[tuple[str, str]] = field(default_factory=Counter)

    def may(self, principal: Principal, scope: str, permission: str) -> bool:
        is_shared = scope in self.shared and permission in SHARED_PERMISSIONS
        return is_shared or Archive.may(self, principal, scope, permission)


class ModelSession(MemorySession):
    """A session that can take back what it did last."""

    kept: ModelArchive

    def __init__(self, archive: ModelArchive, principal: Principal) -> None:
        super().__init__(archive, principal)
        self.kept = archive

    def write(
        self, scope: str, draft: Draft, *, path: str | None = None, key: str | None = None
    ) -> Written:
        """A key of an erased page names a new page, so the model counts them into the key."""
        count = self.kept.keys_erased[scope, key] if key else 0
        written = super().write(scope, draft, path=path, key=f"{key} {count}" if key else None)
        if key is not None:
            self.kept.keys[written.page_id] = scope, key
        return written

    def delete(self, page: str, why: str) -> None:
        found, _ = self._named(page, READ)
        super().delete(page, why)
        self.kept.erased.add(found.page_id)
        if found.page_id in self.kept.keys:
            self.kept.keys_erased[self.kept.keys[found.page_id]] += 1

    def undo_revision(self, page: str, revision: RevisionId) -> RevisionId:
        """A new head with the text of the head beside it, else of the revision before."""
        found, _ = self._named(page, "write")
        others = [h for h in found.all_heads if not are_equal(found, h, revision)]
        beside = others if len(found.heads) == 2 else []
        again = beside[0] if beside else found.revisions[revision].parents[0]
        equal = [h for h in found.all_heads if are_equal(found, h, revision)]
        at = self.kept.now()
        body = replace(
            found.revisions[again],
            parents=tuple(dict.fromkeys((revision, *equal, *beside))),
            created_at=at,
            created_by=self.principal,
            valid_from=None,
            valid_to=None,
            salt=hashlib.sha256(str(at).encode()).hexdigest()[:32],
        )
        new = RevisionId.of(body.encode())
        found.revisions[new] = body
        if again in found.payloads:
            found.payloads[new] = found.payloads[again]
        return new

    def related(
        self, given: str, *, direction: str, types: Collection[str], depth: int
    ) -> dict[PageId, int]:
        """How far the pages are that relations lead to."""
        start, _ = self._named(given, READ)
        found, edge = {start.page_id: 0}, [start.page_id]
        for number in range(1, depth + 1):
            edge = [
                far
                for near in edge
                for far in self._ends(near, direction, types)
                if found.setdefault(far, number) == number
            ]
        del found[start.page_id]
        return found

    def page(self, given: str) -> Page:
        """All that is known of a page."""
        return self._named(given, READ)[0]

    def _ends(self, near: PageId, direction: str, types: Collection[str]) -> Sequence[PageId]:
        readable = {page.page_id: page for page in self._readable()}
        ends = [
            (way, relation.to_page if way == "out" else page.page_id)
            for page in readable.values()
            for relation in page.relations
            if not types or relation.type in types
            for way, at in (("out", page.page_id), ("in", relation.to_page))
            if at == near
        ]
        return [far for way, far in ends if direction in (way, "both") and far in readable]

    def _view(self, page: Page, relation: Relation, direction: str) -> RelationView:
        view = super()._view(page, relation, direction)
        is_erased = view.status == "missing" and relation.to_page in self.kept.erased
        return replace(view, status="erased") if is_erased else view


def taking_back(page: Page, relation: Relation | None = None) -> Callable[[], None]:
    """Puts a page back into the state that it is in now, and takes a relation away again."""
    lifecycle, closed = page.lifecycle, dict[RevisionId, Instant](page.closed)

    def put_back() -> None:
        page.lifecycle, page.closed = lifecycle, closed
        if relation is not None:
            page.relations.remove(relation)

    return put_back
