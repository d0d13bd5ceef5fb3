"""What the store and git know when `tree/` is looked at: pages, what should be there, what was."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pcpfs.errors import InvalidName, PcpfsError
from pcpfs.git import CommitId
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, TreePath
from pcpfs.model.pages import Revision
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.folding.fold import equal_heads
from pcpfs.store.intents import position_now
from pcpfs.store.local import Base, Position
from pcpfs.store.trees.judging import OPERATION
from pcpfs.store.trees.tree import Wanted, all_wanted
from pcpfs.store.trees.tree_look import Look, read_file
from pcpfs.store.trees.tree_state import Situation, TreePage, parted
from pcpfs.store.workshop import Workshop

SCOPE_GONE = "the pages of its scope are not here"


@dataclass(slots=True)
class StoreKnowledge:
    """`tree_state.Knowledge` of an open store. A text that cannot be read counts as empty: it is
    like no other."""

    shop: Workshop
    _pages: dict[PageId, TreePage | None] = field(default_factory=dict)

    def page(self, page: PageId) -> TreePage | None:
        if page not in self._pages:
            row = self.shop.catalog.page(page)
            self._pages[page] = self._tree_page(row) if row is not None else None
        return self._pages[page]

    def claiming(self, scope: Namespace, name: str) -> list[TreePage]:
        try:
            claim = TreePath(name).claim
        except InvalidName:
            return []
        rows = self.shop.catalog.pages("scope = ? AND claim = ?", (scope, claim))
        return [page for row in rows if (page := self.page(PageId(row.page_id)))]

    def payload(self, scope: Namespace, digest: Digest) -> bytes:
        try:
            return self.shop.objects.payload(scope, digest)
        except PcpfsError:
            return b""

    def text(self, path: str) -> bytes:
        try:
            return read_file(Path(self.shop.root, path))
        except OSError:
            return b""

    def _tree_page(self, row: PageRow) -> TreePage | None:
        if row.is_source or row.path is None:
            return None
        spans = self.shop.catalog.spans(row.page_id)
        of = "SELECT revision_id, digest FROM revision WHERE page_id = ?"
        digests = dict(self.shop.catalog.query(of, (row.page_id,)))
        parents = {parent for span in spans for parent in decode_list(span.parents)}
        heads = [RevisionId(s.revision_id) for s in spans if s.revision_id not in parents]
        return TreePage(
            PageId(row.page_id),
            Namespace(row.scope),
            row.path,
            row.lifecycle,
            tuple(map(RevisionId, decode_list(row.laid))),
            self._equals(row, heads),
            {
                RevisionId(s.revision_id): Digest(digests[s.revision_id])
                for s in spans
                if digests.get(s.revision_id)
            },
        )

    def _equals(
        self, row: PageRow, heads: list[RevisionId]
    ) -> Mapping[RevisionId, tuple[RevisionId, ...]]:
        def envelope(revision: RevisionId) -> Revision:
            return self.shop.objects.revision(Namespace(row.scope), PageId(row.page_id), revision)

        if len(heads) < 2:
            return {head: (head,) for head in heads}
        return {
            head: tuple(h for h in heads if h == head or len(equal_heads((head, h), envelope)) == 1)
            for head in heads
        }


def situation(shop: Workshop, knowledge: StoreKnowledge, found: Look) -> Situation:
    """Everything that a plan needs to know of what was found."""
    stood, stands = shop.tree.local.position(), position_now(shop)
    wanted = all_wanted(shop.catalog)
    bases = {base.path: base for base in shop.tree.local.all_bases()}
    telling = _Telling(shop, knowledge, found, wanted, bases, stood, stands)
    doubtful = telling.doubtful()
    told = telling.tell(doubtful) if doubtful else bases
    missing = any(path not in found.files for path in told)
    changed = any(base.digest != found.files.get(path) for path, base in told.items())
    return Situation(
        files=found.files,
        problems={**found.problems, **dict.fromkeys(_lost_scopes(shop, told), SCOPE_GONE)},
        bases=told,
        wanted=wanted,
        unknown=telling.unknown,
        formers={base.path: base for base in shop.tree.local.formers()},
        unmerged=shop.git.unmerged() if changed else (),
        moved=stood != stands,
        absence=not missing or shop.git.get_config("core.sparseCheckout") != "true",
    )


def _lost_scopes(shop: Workshop, paths: Collection[str]) -> list[str]:
    """The `tree/` folders of scopes that are not in the work tree: nobody removed their files."""
    scopes = {parted(path)[0] for path in paths}
    return [
        f"{s.folder}/tree" for s in sorted(scopes) if not (shop.root / s.folder / "pages").is_dir()
    ]


@dataclass(slots=True)
class _Telling:
    """Finds out what had been laid where that is not known, or where git laid something since."""

    shop: Workshop
    knowledge: StoreKnowledge
    found: Look
    wanted: Mapping[str, Wanted]
    bases: Mapping[str, Base]
    stood: Position | None
    stands: Position
    unknown: dict[str, PageId] = field(default_factory=dict)

    def doubtful(self) -> list[str]:
        """Paths that hold neither what should be there nor what we laid, and that we have not laid
        or git may have changed since our last look."""
        unlaid = self.wanted.keys() - self.bases.keys()
        by_git = self._changed_by_git() & self.bases.keys()
        return sorted(path for path in unlaid | by_git if not self._is_plain(path))

    def tell(self, paths: list[str]) -> Mapping[str, Base]:
        """All bases, with what git knows of these paths."""
        head = self.shop.git.head()
        if head is None:
            return self.bases
        known = dict(self.bases)
        texts = self.shop.git.show_blobs(f"{head}:{path}" for path in paths)
        for path, raw in zip(paths, texts, strict=True):
            page = self._page(path)
            if page is None:
                continue
            base = None if self._is_known(path, page) else self._base(path, page, raw)
            if base is None and path in self.found.files:
                base = self._from_history(path, page)
            if base is not None:
                known[path] = base
        return known

    def _is_plain(self, path: str) -> bool:
        goal, base, digest = self.wanted.get(path), self.bases.get(path), self.found.files.get(path)
        return bool(goal and goal.digest == digest) or bool(base and base.digest == digest)

    def _changed_by_git(self) -> set[str]:
        if self.stood is not None and self.stood.head == self.stands.head:
            return set()
        if self.stood is None or self.stood.head is None or self.stands.head is None:
            return set(self.bases)
        try:
            changes = self.shop.git.diff_tree(CommitId(self.stood.head), CommitId(self.stands.head))
        except PcpfsError:
            return set(self.bases)  # that commit is gone: history was rewritten
        return {change.path for change in changes}

    def _page(self, path: str) -> TreePage | None:
        base, goal = self.bases.get(path), self.wanted.get(path)
        page = self.knowledge.page(base.page_id) if base else None
        return page or (self.knowledge.page(goal.page) if goal else None)

    def _is_known(self, path: str, page: TreePage) -> bool:
        """Whether what we laid is still a text of the page; after a reset it may not be."""
        base = self.bases.get(path)
        return base is not None and base.revision in page.digests

    def _base(self, path: str, page: TreePage, raw: bytes | None) -> Base | None:
        """The base that these bytes of a commit are, if the page has had them."""
        digest = None if raw is None else Digest.of(raw)
        revision = None if digest is None else page.newest(digest)
        if digest is None or revision is None:
            return None
        known = self.bases.get(path)
        if known is not None and known.page_id == page.page:
            return known.followed_by(path, digest, revision)
        return Base(path, page.page, digest, revision)

    def _from_history(self, path: str, page: TreePage) -> Base | None:
        """From the newest commit whose bytes at a path the page has had; where we laid something,
        only from commits of pcpfs (somebody else's, pulled) that came since."""
        entries = self.shop.git.log([path])
        is_known = self._is_known(path, page)
        if is_known and self.stood is not None and self.stood.head is not None:
            since = set(self._commits_since(CommitId(self.stood.head)))
            entries = [e for e in entries if e.commit in since and OPERATION in e.trailers]
        texts = self.shop.git.show_blobs(f"{entry.commit}:{path}" for entry in entries)
        found = next((base for raw in texts if (base := self._base(path, page, raw))), None)
        if found is None and entries and not is_known:
            self.unknown[path] = page.page
        return found

    def _commits_since(self, stood: CommitId) -> Iterator[CommitId]:
        head = self.shop.git.head()
        if not head:
            return iter(())
        return (entry.commit for entry in self.shop.git.between([stood], head))
