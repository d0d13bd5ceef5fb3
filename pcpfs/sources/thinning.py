"""Thinning: the bytes of old saves go, by policy; what happened, and every symbol, stays.

Of a superseded observation the bytes are kept if its source's repository has them, something links
to its revision, a branch has told of it, or it was the last on its day (UTC). The rest goes after
seven days, as does what only branches told of that are no more. Only the clone
that observes a root thins it, and only where the source can be asked; not under a hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise

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
from pcpfs.store.transaction import Transaction
from pcpfs.store.upkeeping.maintain import ThinReport

KEPT_DAYS = 7
_DAY = 86_400_000_000
_AT_ONCE = 200


def thin(store: Store, actor: Principal) -> ThinReport:
    """Let go of what the policy does not keep. NotPermitted for anybody but the owner. What a
    killed one left undone is done, too."""
    Authority(store, actor).require_owner("thin sources out")
    with store.writing("thin", actor) as transaction:
        for root in Roots(store).all():
            if root.is_observer and not _is_held(store, root, transaction.at):
                _mark(store, transaction, root)
        if not transaction.is_empty:
            transaction.commit("thin: sources", _trailers(actor))
        gone = _unneeded(store)
        if gone:
            _remove(store, gone, actor, transaction.at)
        return ThinReport(len(gone), sum(gone.values()))


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


def _mark(store: Store, transaction: Transaction, root: Root) -> None:
    """Say of each page which bytes go."""
    digests = _digests(store, root)
    for page, revisions in _candidates(store, root, transaction.at).items():
        old = {revision: digests[revision] for revision in revisions if revision in digests}
        going = sorted(old.keys() - _in_repository(store, root, old))
        if going:
            transaction.change(root.namespace, page, Thinned(tuple(map(RevisionId, going))))


def _candidates(store: Store, root: Root, at: Instant) -> dict[PageId, set[str]]:
    linked = frozenset(row for (row,) in store.catalog.query("SELECT to_revision FROM relation"))
    told, left = _beside(store, root, at)
    linked |= told
    rows = store.catalog.rows(
        "SELECT span.* FROM span JOIN page USING (page_id) WHERE root_id = ? "
        "ORDER BY page_id, ordinal",
        (root.root_id,),
    )
    found = {}
    for page, spans in groupby(map(SpanRow._make, rows), key=lambda span: span.page_id):
        old = superseded(list(spans), at.microseconds, linked)
        if old:
            found[PageId(page)] = old
    for page_id, revisions in left.items():
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


def _digests(store: Store, root: Root) -> dict[str, Digest]:
    """The payloads of revisions of a root that were not thinned yet."""
    rows = store.catalog.query(
        "SELECT revision.revision_id, revision.digest FROM revision JOIN page USING (page_id) "
        "WHERE root_id = ? AND NOT thinned",
        (root.root_id,),
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


def _parts(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))


def _unneeded(store: Store) -> dict[str, int]:
    """The files of payloads that only thinned revisions have, and their sizes."""
    rows = store.catalog.query(
        "SELECT page.scope, revision.digest, max(revision.size) FROM revision "
        "JOIN page USING (page_id) WHERE revision.digest IN "
        "(SELECT digest FROM revision WHERE thinned) GROUP BY 1, 2 HAVING min(thinned)"
    )
    files = {
        layout.payload_file(Namespace(scope), Digest(digest)): size for scope, digest, size in rows
    }
    return {path: size for path, size in files.items() if (store.path / path).is_file()}


def _remove(store: Store, gone: Mapping[str, int], actor: Principal, at: Instant) -> None:
    """Out of git's HEAD, then from the disk: killed in between, the next one goes on."""
    shop = store.workshop
    changed = shop.git.not_in_head(dict.fromkeys(gone))
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


def _trailers(actor: Principal) -> list[tuple[str, str]]:
    return [("Pcpfs-Operation", "thin"), ("Pcpfs-Actor", str(actor))]
