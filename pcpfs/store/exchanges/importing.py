"""Taking in what importers found: pages under lasting keys, their links, events.

A second time changes nothing. What changed outside goes on from what was imported last: if nobody
revised the page here that is its head, else there are two heads, which the report names. What was
erased here is left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pcpfs.errors import PcpfsError, UsageError
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.imports import Found, FoundEvents, FoundPage, Unread
from pcpfs.model.names import Namespace
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.searches.search_request import NOW
from pcpfs.store.session import Session

_BATCH = 1000
_ERASED = "erased here, and not taken in again"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an importer brought in. `unresolved` are links whose target nobody is called, or
    several are: (path, type, target)."""

    scopes: tuple[str, ...]
    created: int
    revised: int
    unchanged: int
    events: int
    links: int
    conflicts: tuple[tuple[PageId, str], ...] = ()
    unresolved: tuple[tuple[str, str, str], ...] = ()
    unread: tuple[Unread, ...] = ()


@dataclass(slots=True)
class _Taking:
    """One import on its way in."""

    session: Session
    scope: str | None
    allow_secret: bool = False
    scopes: set[str] = field(default_factory=set)
    pages: dict[PageId, FoundPage] = field(default_factory=dict)
    names: dict[str, set[PageId]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    conflicts: list[tuple[PageId, str]] = field(default_factory=list)
    unresolved: list[tuple[str, str, str]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def take(self, found: Found) -> None:
        match found:
            case FoundEvents():
                self._events(found)
            case FoundPage():
                self._page(found)
            case Unread():
                self.unread.append(found)

    def _events(self, found: FoundEvents) -> None:
        scope = self.scope or found.scope
        namespace = Namespace.given(scope)
        self.scopes.add(str(namespace))
        drafts = [d for d in found.drafts if not (d.key and self._was_erased(namespace, d.key))]
        if len(drafts) < len(found.drafts):
            count = len(found.drafts) - len(drafts)
            self.unread.append(Unread(found.scope, f"{count} of its messages: {_ERASED}"))
        for start in range(0, len(drafts), _BATCH):
            try:
                done = self.session.ingest(scope, drafts[start : start + _BATCH])
            except PcpfsError as error:
                self.unread.append(Unread(found.scope, error.message))
                return
            self.count("events", sum(written.created for written in done))
            self.count("unchanged", sum(not written.created for written in done))

    def _page(self, found: FoundPage) -> None:
        if self.scope is None:
            raise UsageError("say where these pages go: --scope SCOPE")
        namespace, key = Namespace.given(self.scope), f"import:{found.key}"
        page = PageId.keyed(namespace, key, erased=0)
        if self._was_erased(namespace, key):
            self.unread.append(Unread(found.path, _ERASED))
            return
        try:
            self._put(page, found, self.scope)
        except PcpfsError as error:
            self.unread.append(Unread(found.path, error.message))
            return
        self.scopes.add(str(Namespace.given(self.scope)))
        self.pages[page] = found
        for name in found.names:
            self.names.setdefault(name.casefold(), set()).add(page)

    def _was_erased(self, namespace: Namespace, key: str) -> bool:
        page = PageId.keyed(namespace, key, erased=0)
        return self.session.store.objects.is_erased(namespace, page)

    def _put(self, page: PageId, found: FoundPage, scope: str) -> None:
        session, draft = self.session, replace(found.draft, allow_secret=self.allow_secret)
        row = session.reader(NOW).catalog.page(page)
        if row is None:
            key = f"import:{found.key}"
            session.write(scope, draft, path=found.path, key=key)
            self.count("created")
            return
        digest = Digest.of(found.draft.payload or b"")
        known = session.reader(NOW).catalog.query(
            "SELECT span.revision_id, digest FROM span JOIN revision USING (revision_id) "
            "WHERE span.page_id = ? ORDER BY ordinal",
            (page,),
        )
        if any(there == digest for _, there in known):
            self.count("unchanged")
            return
        base = self._last_imported(page, [RevisionId(revision) for revision, _ in known])
        if base in decode_list(row.heads):
            session.revise(page, draft, expect=[base])
        else:
            session.revise(page, draft, branch=base)
            self.conflicts.append((page, found.path))
        self.count("revised")

    def _last_imported(self, page: PageId, revisions: list[RevisionId]) -> RevisionId:
        """The newest revision whose source ref names its own bytes; the first was imported."""
        for revision in reversed(revisions):
            manifest = self.session.manifest(f"{page}@{revision}")
            digest = manifest.payload.ref.hex[:16] if manifest.payload else ""
            if any(ref.endswith(f"@{digest}") for ref in manifest.source_refs):
                return revision
        return revisions[0]

    def link(self) -> None:
        """Relations between the pages of this import, where they are not there already."""
        for page, found in self.pages.items():
            known = {
                (view.relation.type, view.relation.to_page)
                for view in (self.session.relations(page, direction="out") if found.links else ())
            }
            for kind, target in found.links:
                others = self.names.get(target.casefold(), set())
                if len(others) != 1:
                    self.unresolved.append((found.path, kind, target))
                    continue
                (other,) = others
                if (kind, other) not in known:
                    self.session.link(page, kind, other)
                    known.add((kind, other))
                    self.count("links")


def take_in(
    session: Session,
    found: Iterable[Found],
    scope: str | None = None,
    *,
    allow_secret: bool = False,
) -> Imported:
    """Bring in all that was found; what cannot be (a page with a secret, unless that is allowed)
    is named, and the rest is in."""
    taking = _Taking(session, scope, allow_secret)
    for one in found:
        taking.take(one)
    taking.link()
    counts = taking.counts
    return Imported(
        tuple(sorted(taking.scopes)),
        counts.get("created", 0),
        counts.get("revised", 0),
        counts.get("unchanged", 0),
        counts.get("events", 0),
        counts.get("links", 0),
        tuple(taking.conflicts),
        tuple(taking.unresolved),
        tuple(taking.unread),
    )
