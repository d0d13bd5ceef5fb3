"""Thinning: the bytes of old saves go, by policy; what happened, and every symbol, stays.

Of a superseded observation the bytes are kept if its source's repository has them, something links
to its revision, a branch has told of it, or it was the last on its day (UTC). The rest goes after
seven days, as does what only branches told of that are no more. Only the clone
that observes a root thins it, and only where the source can be asked; not under a hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pcpfs.errors import PcpfsError
from pcpfs.git import Person, Repository, find_repository
from pcpfs.model.changes import COMMIT, Thinned
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Principal
from pcpfs.sources.roots import Root, Roots
from pcpfs.store import layout
from pcpfs.store.branches import recorded_branches
from pcpfs.store.catalogs.rows import SpanRow
from pcpfs.store.folding.retention import retention_of
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.maintain import ThinReport

KEPT_DAYS = 7
_DAY = 86_400_000_000
_AT_ONCE = 200
_PAGES, _REVISIONS, _FILES = 500, 10_000, 10_000
THINNED = "thinned"
"""The file that says when this clone was last done."""


def thin(store: Store, actor: Principal) -> ThinReport:
    """Let go of what the policy does not keep. NotPermitted for anybody but the owner. What a
    killed one left undone is done, too."""
    done = list(thinning(store, actor))
    return ThinReport(sum(part.payloads for part in done), sum(part.bytes for part in done))


def thinning(
    store: Store,
    actor: Principal,
    pages: int = _PAGES,
    revisions: int = _REVISIONS,
    files: int = _FILES,
) -> Iterator[ThinReport]:
    """The same bit by bit: of so many pages at a time so many versions, then so many of their
    files, and in between others may write. At the end this clone knows when it was."""
    Authority(store, actor).require_owner("thin sources out")
    yield from _removed(store, actor, None, files)
    for root in (root for root in Roots(store).all() if root.is_observer):
        for part in _parts(_worth_a_look(store, root), pages):
            found = _candidates(store, root, store.clock.now(), part).values()
            for some in _parts(sorted(_digests(store, set().union(*found))), revisions):
                _mark(store, actor, root, part, frozenset(some))
                yield ThinReport(0, 0)
            yield from _removed(store, actor, part, files)
    store.disk.write(store.local_folder / THINNED, str(store.clock.now()).encode())


def last_thinned(store: Store) -> Instant | None:
    """When this clone was last done with thinning."""
    try:
        return Instant.parse(store.disk.read(store.local_folder / THINNED).decode())
    except (FileNotFoundError, PcpfsError, ValueError):
        return None


def would_free(store: Store, *, whatever_age: bool = False) -> ThinReport:
    """What thinning would let go now; at `whatever_age` what it will within a week, if nothing is
    cited or committed until then."""
    at = store.clock.now()
    sizes: dict[str, int] = {}
    for root in Roots(store).all():
        if root.is_observer and not _is_held(store, root, at):
            limit = Instant(at.microseconds + KEPT_DAYS * _DAY) if whatever_age else at
            for revisions in _candidates(store, root, limit, _worth_a_look(store, root)).values():
                old = _digests(store, revisions)
                for revision in old.keys() - _in_repository(store, root, old):
                    path = layout.payload_file(root.namespace, old[revision])
                    sizes[path] = (store.path / path).stat().st_size
    return ThinReport(len(sizes), sum(sizes.values()))


def superseded(spans: Sequence[SpanRow], now: int, linked: frozenset[str]) -> set[str]:
    """Of one page's observations in order of time the revisions of which nothing but age decides.

    Pure. Kept are the last, those of the last seven days, what a commit has, what is linked to, and
    the last of each day.
    """
    limit = now - KEPT_DAYS * _DAY
    kept = {spans[-1].revision_id, *linked}
    for span, after in pairwise(spans):
        holds_at_night = span.valid_from // _DAY != after.valid_from // _DAY
        is_recent = max(span.recorded_at, after.recorded_at, span.valid_to or now) > limit
        if span.basis == COMMIT or holds_at_night or is_recent:
            kept.add(span.revision_id)
    return {span.revision_id for span in spans} - kept


def _is_held(store: Store, root: Root, now: Instant) -> bool:
    until = retention_of(store, root.namespace).hold_until
    return until is not None and now < until


def _worth_a_look(store: Store, root: Root) -> list[str]:
    """The pages of a root that have the bytes of several versions, or of which branches tell."""
    rows = store.catalog.query(
        "SELECT page_id FROM page JOIN revision USING (page_id) "
        "WHERE root_id = ?1 AND NOT thinned GROUP BY page_id HAVING count(*) > 1 UNION "
        "SELECT page_id FROM page JOIN beside USING (page_id) WHERE root_id = ?1 ORDER BY 1",
        (root.root_id,),
    )
    return [page for (page,) in rows]


def _mark(
    store: Store, actor: Principal, root: Root, pages: Sequence[str], some: frozenset[str]
) -> None:
    """Say of each page which bytes go, if they are of these revisions and may still go."""
    with store.writing("thin", actor) as transaction:
        if _is_held(store, root, transaction.at):
            return
        found = _candidates(store, root, transaction.at, pages)
        digests = _digests(store, some)
        kept = _in_repository(store, root, digests)
        for page, revisions in found.items():
            going = sorted((revisions & digests.keys()) - kept)
            if going:
                transaction.change(root.namespace, page, Thinned(tuple(map(RevisionId, going))))
        if not transaction.is_empty:
            transaction.commit("thin: sources", _trailers(actor))


def _candidates(
    store: Store, root: Root, at: Instant, pages: Sequence[str]
) -> dict[PageId, set[str]]:
    linked = frozenset(row for (row,) in store.catalog.query("SELECT to_revision FROM relation"))
    told, left = _beside(store, root, at)
    linked |= told
    found = {}
    for page in pages:
        spans = store.catalog.spans(page)
        old = superseded(spans, at.microseconds, linked) if spans else set()
        if old:
            found[PageId(page)] = old
    for page_id, revisions in ((page, left[page]) for page in map(PageId, pages) if page in left):
        old = revisions - linked - {span.revision_id for span in store.catalog.spans(page_id)}
        if old:
            found[page_id] = found.get(page_id, set()) | old
    return found


def _beside(store: Store, root: Root, at: Instant) -> tuple[frozenset[str], dict[PageId, set[str]]]:
    """The revisions that branches have told of lately, or of which they are; and, by page, those
    of commits that no branch has any more."""
    commits = recorded_branches(store.catalog, root.root_id).commits
    limit = at.microseconds - KEPT_DAYS * _DAY
    told, left = set[str](), dict[PageId, set[str]]()
    of_root = "page_id IN (SELECT page_id FROM page WHERE root_id = ?)"
    for row in store.catalog.besides(of_root, (root.root_id,)):
        revisions = set(filter(None, (row.was_revision, row.revision_id)))
        if row.commit_id in commits or row.recorded_at > limit:
            told |= revisions
        else:
            left.setdefault(PageId(row.page_id), set()).update(revisions)
    return frozenset(told), left


def _digests(store: Store, revisions: Iterable[str]) -> dict[str, Digest]:
    """The payloads of those revisions that were not thinned yet."""
    rows = (
        row
        for part in _parts(sorted(revisions))
        for row in store.catalog.query(
            "SELECT revision_id, digest FROM revision "
            f"WHERE NOT thinned AND revision_id IN ({', '.join('?' * len(part))})",
            part,
        )
    )
    return {revision: Digest(digest) for revision, digest in rows if digest}


def _in_repository(store: Store, root: Root, old: Mapping[str, Digest]) -> set[str]:
    """The revisions whose bytes the source's repository has (all, where it cannot be asked); those
    whose bytes are not there, too."""
    kept = set(old)
    try:
        around = find_repository(root.path) if root.kind == "git" else None
        repository = Repository.open(around) if around else None
        if root.kind == "git" and repository is None:
            return kept
        for part in _parts(sorted(old)):
            there = dict(_payloads(store, root, part, old))
            kept -= there.keys() - (repository.holding(there) if repository else set())
    except PcpfsError:
        return set(old)
    return kept


def _payloads(
    store: Store, root: Root, revisions: Iterable[str], old: Mapping[str, Digest]
) -> Iterator[tuple[str, bytes]]:
    for revision in revisions:
        if (store.path / layout.payload_file(root.namespace, old[revision])).is_file():
            yield revision, store.objects.payload(root.namespace, old[revision])


def _parts(names: Sequence[str], size: int = _AT_ONCE) -> Iterator[Sequence[str]]:
    return (names[start : start + size] for start in range(0, len(names), size))


def _unneeded(store: Store, pages: Sequence[str] | None = None) -> dict[str, int]:
    """The files of payloads that only thinned revisions have (of these pages, or any), and their
    sizes."""
    of = "" if pages is None else f" AND page_id IN ({', '.join('?' * len(pages))})"
    rows = store.catalog.query(
        "SELECT page.scope, revision.digest, max(revision.size) FROM revision "
        "JOIN page USING (page_id) WHERE revision.digest IN "
        f"(SELECT digest FROM revision WHERE thinned{of}) GROUP BY 1, 2 HAVING min(thinned)",
        pages or (),
    )
    files = {
        layout.payload_file(Namespace(scope), Digest(digest)): size for scope, digest, size in rows
    }
    return {path: size for path, size in files.items() if (store.path / path).is_file()}


def _removed(
    store: Store, actor: Principal, pages: Sequence[str] | None, files: int
) -> Iterator[ThinReport]:
    for part in _parts(sorted(_unneeded(store, pages)), files):
        with store.writing("thin", actor) as transaction:
            now = _unneeded(store, pages)  # somebody may have seen the same bytes again
            gone = {path: now[path] for path in part if path in now}
            done = _remove(store, gone, actor, transaction.at)
        yield done


def _remove(store: Store, gone: Mapping[str, int], actor: Principal, at: Instant) -> ThinReport:
    """Out of git's HEAD, then from the disk: killed in between, the next one goes on."""
    shop = store.workshop
    changed = shop.git.not_in_head(dict.fromkeys(gone)) if gone else {}
    if changed:
        before = shop.git.head()
        message = f"thin: {len(gone)} payloads\n\n" + "".join(
            f"{name}: {value}\n" for name, value in _trailers(actor)
        )
        author = Person(str(actor), f"{str(actor).replace(':', '.')}@pcpfs")
        commit = shop.git.commit(changed.items(), message, at, author)
        shop.tree.local.follow(before, commit)
        if shop.catalog.meta("commit") == (before or ""):
            with shop.catalog.writing():
                shop.catalog.set_meta("commit", commit)
    for path in gone:
        shop.disk.remove(shop.root / path)
        shop.disk.remove_empty((shop.root / path).parent, shop.root)
    return ThinReport(len(gone), sum(gone.values()))


def _trailers(actor: Principal) -> list[tuple[str, str]]:
    return [("Pcpfs-Operation", "thin"), ("Pcpfs-Actor", str(actor))]
