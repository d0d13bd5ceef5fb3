"""Whose doing a file of `tree/` is after git has moved: git's, or a person's edit.

Text equal to any revision of the page, or to git's own blend of two, or with markers while
unmerged, is git's doing and is laid anew. What a person committed otherwise is an edit, and left
for `sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pcpfs.errors import InvalidName, PcpfsError
from pcpfs.git import CommitId, Git, LogEntry, ObjectId
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.names import Namespace, TreePath
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog, decode_list
from pcpfs.store.folding.kinds import Kind, kind_of
from pcpfs.store.local import Base
from pcpfs.store.trees.tree import Seen, Wanted, wanted_heads
from pcpfs.store.workshop import Workshop

OPERATION = "Pcpfs-Operation"
"""The trailer that all of our commits carry."""

_MARKERS = (b"<<<<<<< ", b">>>>>>> ")

Sides = tuple[bytes, bytes, bytes]
"""A text that two others go on from, and these."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: what laying has to know, and the paths that hold a person's edit."""

    seen: Seen
    edits: tuple[str, ...]


@dataclass(slots=True)
class Judge:
    """Judges files of `tree/`. Git may have put there what `commits` hold (None: nothing at all),
    `persons` are paths that a person's commits touched, `unmerged` those with markers, and `sides`
    what git may have blended there. Without `trusts_git` it is not known whose commits there are,
    so a text that no revision has is an edit."""

    shop: Workshop
    commits: Sequence[CommitId | None]
    persons: set[str]
    unmerged: set[str] = field(default_factory=set)
    sides: Callable[[str], Iterable[Sides]] = lambda path: ()
    trusts_git: bool = True
    _blobs: dict[str, tuple[ObjectId | None, ...]] = field(default_factory=dict)

    def verdict(self, candidates: Iterable[str], wanted: Mapping[str, Wanted]) -> Verdict:
        """Look at these paths."""
        bases: dict[str, Base] = {}
        anew: set[str] = set()
        edits: list[str] = []
        paths = sorted(candidates)
        self._blobs = blobs_of(self.shop.git, self.commits, paths)
        for path in paths:
            state, base = self.shop.tree.state(path), self.shop.tree.local.base(path)
            if base is not None and state == base.digest:
                continue
            if state is None:
                is_gits = path not in self.persons and None in self._blobs[path]
                (anew.add if is_gits else edits.append)(path)
                continue
            found = self._gits(path, state, base, wanted.get(path))
            if found is not None:
                bases[path] = found
            elif wanted.get(path) is None or state != wanted[path].digest:
                edits.append(path)
        pages = {base.page_id for base in bases.values()}
        return Verdict(Seen(bases, anew, pages, edits), tuple(edits))

    def _gits(self, path: str, state: str, base: Base | None, goal: Wanted | None) -> Base | None:
        """The base under which git's text is laid over; None for an edit."""
        if state == "other":
            return None
        owners = [o.page_id if isinstance(o, Base) else o.page for o in (base, goal) if o]
        known = self._known(path, state, owners)
        if known is not None:
            return known
        raw = self.shop.disk.read(self.shop.root / path)
        if not self._is_made_by_git(path, raw, owners):
            return None
        page = next(iter(owners), None)
        revision = base.revision if base else goal.revision if goal else None
        if page is None or revision is None:
            return None
        return Base(path, page, Digest.of(raw), revision)

    def _known(self, path: str, state: str, owners: Iterable[PageId]) -> Base | None:
        """A text of the page whose file this is; elsewhere, one that git put there. Not what a
        person chose: another head of the page, or a file moved or copied there."""
        rows = self.shop.catalog.query(
            "SELECT revision.page_id, revision.revision_id FROM revision JOIN page USING (page_id) "
            "WHERE revision.digest = ? AND NOT page.is_source ORDER BY 1, 2",
            (state,),
        )
        owners = set(owners)
        texts: set[str] | None = None
        for page, revision in rows:
            if page not in owners:
                if path in self.persons:
                    continue
                if texts is None:
                    texts = {Digest.of(raw) for raw in self._put(path)}
                if state not in texts:
                    continue
            elif path in self.persons and revision in self._heads(page):
                continue
            return Base(path, PageId(page), Digest(state), RevisionId(revision))
        return None

    def _put(self, path: str) -> list[bytes]:
        """The texts that git may have put at a path."""
        found = self.shop.git.contents(self._blobs[path])
        return [raw for raw in found if raw is not None]

    def _heads(self, page: str) -> list[str]:
        row = self.shop.catalog.page(page)
        return decode_list(row.heads) if row else []

    def _is_made_by_git(self, path: str, raw: bytes, owners: Iterable[PageId]) -> bool:
        if path in self.unmerged and all(mark in raw for mark in _MARKERS):
            return True
        if self.trusts_git and path not in self.persons and raw in self._put(path):
            return True
        return any(
            raw in (git.blend(base, one, other), git.blend(base, other, one))
            for git in (self.shop.git,)
            for base, one, other in (*self.sides(path), *self._sides_of(owners))
        )

    def _sides_of(self, owners: Iterable[PageId]) -> Iterator[Sides]:
        """The heads of pages two by two, with the revisions that they go on from."""
        for page in owners:
            row = self.shop.catalog.page(page)
            heads = decode_list(row.laid) if row else []
            if row is None or len(heads) != 2:
                continue
            above = [_ancestors(self.shop.catalog, page, head) for head in heads]
            for common in (r for r in above[0] if r in above[1]):
                texts = [self._text(row.scope, page, r) for r in (common, *heads)]
                if None not in texts:
                    yield texts[0] or b"", texts[1] or b"", texts[2] or b""
                break

    def _text(self, scope: str, page: PageId, revision: str) -> bytes | None:
        namespace = Namespace(scope)
        try:
            body = self.shop.objects.revision(namespace, page, RevisionId(revision))
            return self.shop.objects.payload(namespace, body.payload.ref) if body.payload else None
        except PcpfsError:
            return None


def _ancestors(catalog: Catalog, page: PageId, head: str) -> list[str]:
    """The revisions that a head goes on from, the nearest first."""
    parents = {span.revision_id: decode_list(span.parents) for span in catalog.spans(page)}
    found: dict[str, None] = {}
    waiting = list(parents.get(head, ()))
    while waiting:
        revision = waiting.pop(0)
        if revision not in found:
            found[revision] = None
            waiting += parents.get(revision, ())
    return list(found)


def persons_paths(git: Git, commits: Iterable[LogEntry]) -> set[str]:
    """The files of `tree/` that commits of a person's own touched; merges are git's."""
    found: set[str] = set()
    for entry in commits:
        if OPERATION in entry.trailers or len(entry.parents) > 1:
            continue
        before = entry.parents[0] if entry.parents else None
        changes = git.diff_tree(before, entry.commit)
        if not any(kind_of(change.path) is Kind.TRUTH for change in changes):
            found.update(c.path for c in changes if kind_of(c.path) is Kind.TREE)
    return found


def claims_at(paths: Iterable[str]) -> set[tuple[str, str]]:
    """The claims that files of `tree/` stand for."""
    found: set[tuple[str, str]] = set()
    for path in paths:
        folder, _, below = path.partition("/tree/")
        try:
            found.add((layout.namespace_of(folder), TreePath(below).claim))
        except InvalidName:
            continue  # none that a page could claim
    return found


def blobs_of(
    git: Git, commits: Iterable[CommitId | None], paths: Sequence[str]
) -> dict[str, tuple[ObjectId | None, ...]]:
    """What each of the commits holds at each path."""
    nothing: list[ObjectId | None] = [None] * len(paths)
    columns = [git.blobs_at(commit, paths) if commit else nothing for commit in commits]
    return dict(zip(paths, zip(*columns, strict=True), strict=True))


def text_at(git: Git, commits: Iterable[CommitId | None], path: str) -> list[bytes | None]:
    """What commits hold at a path."""
    blobs = [git.blobs_at(commit, [path])[0] if commit else None for commit in commits]
    return list(git.contents(blobs))


def wanted_of(shop: Workshop, pages: Iterable[PageId]) -> dict[str, Wanted]:
    """What pages should have in `tree/`."""
    rows = [row for page in pages if (row := shop.catalog.page(page))]
    return wanted_heads(shop.catalog, rows)
