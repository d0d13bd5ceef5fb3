"""`pull` and `push`: what other clones have written is united with ours, whoever wrote first.

The merge is our own: files of the truth are united, `tree/` is laid from what they say then. A
pull that is cut short leaves a merge that waits, and the next command concludes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pcpfs.errors import Conflict, NotFound, PcpfsError, Unavailable
from pcpfs.git import CommitId, Git, Remote, fetch, push_to, remote_of, tip_of
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.config import Config
from pcpfs.store.erasure.following import follow, receipts_between, replaced, without_erased
from pcpfs.store.folding.kinds import Kind, is_record, kind_of
from pcpfs.store.merges.conflicts import ERASED, ConflictView, conflicts
from pcpfs.store.merges.merging import PULL, Waits
from pcpfs.store.merges.settling import settle
from pcpfs.store.merges.union import erased_pages, union
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store
from pcpfs.store.trees.judging import text_at

_NAMED = 10
"""So many dropped revisions are named."""


@dataclass(frozen=True, slots=True)
class GonePage:
    """A page that was here and is erased; this is the last that is told of it."""

    page_id: PageId
    scope: str
    path: str | None
    title: str


@dataclass(frozen=True, slots=True)
class Pulled:
    """What a pull did: `outcome` is `current`, `forward` or `merged`. `changes` counts those that
    are new here, `left` are files of `tree/` with edits that `sync` has not taken in yet. `erased`
    are the pages that have gone with this pull. Of kind `erased` are those of them that were
    revised here: nothing keeps them, so this is the only answer that tells of them."""

    remote: str
    branch: str
    outcome: str
    before: CommitId
    commit: CommitId
    changes: int
    left: tuple[str, ...]
    conflicts: tuple[ConflictView, ...]
    erased: tuple[GonePage, ...] = ()


@dataclass(frozen=True, slots=True)
class Pushed:
    """Where the branch of the remote stands now, whether it moved, and whether its history was
    replaced by the one without erased pages."""

    remote: str
    branch: str
    commit: CommitId
    moved: bool
    replaced: bool = False


def pull(store: Store, actor: Principal, given: str | None = None) -> Pulled:
    """Fetch from a remote (a name or an address) and unite both histories.

    Conflict if that is another store, if both sides changed a file that only a person can merge,
    or if the remote was rewritten and lost revisions that it had.
    """
    Authority(store, actor).require_owner("pull")
    git = store.git
    with store.writing("pull", actor) as transaction:
        _refuse_waiting(git)
        remote = remote_of(git, given)
        theirs = fetch(git, remote)
        if theirs is None:
            raise NotFound(f"{remote.shown} does not exist yet; make it with: pcpfs push")
        ours = _head(git)
        _refuse_another_store(store, remote, theirs)
        outcome, changes = "current", 0
        lost: tuple[ConflictView, ...] = ()
        gone: tuple[GonePage, ...] = ()
        if not git.is_ancestor(theirs, ours):
            _refuse_rewritten(store, remote, ours, theirs)
            _refuse_clashes(git, ours, theirs)
            told = list(receipts_between(store.workshop, ours, theirs))
            lost = tuple(_revised_and_erased(store, told))
            gone = tuple(_gone(store, told))
            theirs = follow(
                store.workshop, store.renew_caches, ours, theirs,
                at=transaction.at, actor=str(actor),
            )  # fmt: skip
            ours = _head(git)
        if not git.is_ancestor(theirs, ours):
            outcome = "forward" if git.is_ancestor(ours, theirs) else "merged"
            changes = _new_changes(git, ours, theirs)
            _unite(store, transaction.at, remote, theirs)
        _remember(git, remote, theirs)
    store.refresh()
    found, left = conflicts(store.catalog), store.edits()
    name, branch = remote.name, remote.branch
    return Pulled(name, branch, outcome, ours, _head(git), changes, left, (*lost, *found), gone)


def push(store: Store, actor: Principal, given: str | None = None) -> Pushed:
    """Give a remote what is here; Conflict if it has changes that are not."""
    Authority(store, actor).require_owner("push")
    with store.writing("push", actor):
        git = store.git
        _refuse_waiting(git)
        remote = remote_of(git, given)
        commit = _head(git)
        before = git.ref(remote.tracking) if remote.tracking else None
        was_replaced = _pushed(store, remote, commit)
        _remember(git, remote, commit)
        return Pushed(remote.name, remote.branch, commit, before != commit, was_replaced)


def _pushed(store: Store, remote: Remote, commit: CommitId) -> bool:
    """Push, and where the remote stands at a commit that an erasure here has replaced, replace it
    there; whether that was so. What anybody else has pushed since is never replaced."""
    try:
        push_to(store.git, remote, commit)
    except Conflict:
        old = tip_of(store.git, remote)
        if old is None or (new := replaced(store.workshop, old)) == old:
            raise
        if not store.git.is_ancestor(new, commit):
            raise
        push_to(store.git, remote, commit, instead_of=old)
        return True
    return False


def _head(git: Git) -> CommitId:
    head = git.head()
    if head is None:
        raise Unavailable("the store has no commit yet; write something first")
    return head


def _unite(store: Store, at: Instant, remote: Remote, theirs: CommitId) -> None:
    """From here on a merge waits, until it is concluded: now, or by the next command."""
    store.git.begin_merge(store.disk, theirs, f"{PULL}: {remote.shown}")
    try:
        settle(store.workshop, at)
    except Waits as error:
        store.git.forget_merge()
        raise Conflict(error.message) from error


def _gone(store: Store, told: Iterable[Receipt]) -> Iterator[GonePage]:
    """The pages that they erased and that are here."""
    for receipt in told:
        row = store.catalog.page(receipt.page)
        if row is not None:
            yield GonePage(receipt.page, row.scope, row.path, row.title)


def _revised_and_erased(store: Store, told: Iterable[Receipt]) -> Iterator[ConflictView]:
    """The pages that they erased, not knowing of all the revisions that are here."""
    for receipt in told:
        row = store.catalog.page(receipt.page)
        ((count,),) = store.catalog.query(
            "SELECT count(*) FROM revision WHERE page_id = ?", (receipt.page,)
        )
        if row is not None and count > receipt.revisions:
            heads = tuple(decode_list(row.heads))
            yield ConflictView(receipt.page, row.path, ERASED, heads, row.title)


def _new_changes(git: Git, ours: CommitId, theirs: CommitId) -> int:
    return sum(
        kind_of(change.path) is Kind.TRUTH
        and layout.is_change(change.path)
        and change.before is None
        for change in git.diff_tree(ours, theirs)
    )


def _refuse_waiting(git: Git) -> None:
    waiting = git.unfinished()
    if waiting is not None:
        raise Unavailable(
            f"a {waiting} waits here; conclude it with git, or `git {waiting} --abort`, first"
        )


def _refuse_another_store(store: Store, remote: Remote, theirs: CommitId) -> None:
    (raw,) = text_at(store.git, [theirs], layout.CONFIG)
    try:
        known = Config.decode(raw or b"", f"{remote.shown}:{layout.CONFIG}").store_id
    except PcpfsError as error:
        raise Conflict(f"{remote.shown} is no store that this pcpfs reads: {error}") from error
    if known != store.store_id:
        raise Conflict(
            f"{remote.shown} is another store ({known}, this is {store.store_id}); "
            "pull only from clones of this one",
            store_id=known,
        )


def _refuse_clashes(git: Git, ours: CommitId, theirs: CommitId) -> None:
    clashes = sorted(union(git, ours, [theirs]).clashes)
    if clashes:
        raise Conflict(
            f"both sides changed {', '.join(clashes)}, which only you can merge: run `git pull "
            "--no-rebase`, edit, `git add`, `git commit`; pcpfs does the rest",
            paths=clashes,
        )


def _refuse_rewritten(store: Store, remote: Remote, ours: CommitId, theirs: CommitId) -> None:
    """A remote that was pushed to by force, and lost records that it had when we last looked."""
    git = store.git
    if git.is_ancestor(ours, theirs):
        return
    for ref in _remembered(remote):
        old = git.ref(ref)
        if old is None or git.is_ancestor(old, theirs):
            continue
        lost = _dropped(store, old, theirs)
        if lost:
            named = ", ".join(lost[:_NAMED]) + (" …" if len(lost) > _NAMED else "")
            raise Conflict(
                f"{remote.shown} was rewritten and no longer holds {named}; nothing was taken "
                "over. If yours is right, give it back with: git push --force; if theirs is, keep "
                "what you need of yours, then git reset --hard to it",
                dropped=lost,
                remote=remote.name,
            )


def _dropped(store: Store, old: CommitId, new: CommitId) -> list[str]:
    """Revisions, changes and events that one commit has and another has not, but for those of
    erased pages."""
    changes = store.git.diff_tree(old, new)
    erased = erased_pages(changes)
    gone = [
        change
        for change in changes
        if change.after is None and kind_of(change.path) is Kind.TRUTH and is_record(change.path)
    ]
    segments = [change for change in gone if layout.segment_of(change.path)]
    come = [change for change in changes if change.before is None]
    left = {c.path for c in without_erased(store.workshop, new, segments, come)}
    kept = [
        change.path
        for change in gone
        if not any(f"/{page}/" in change.path for page in erased)
        and (change not in segments or change.path in left)
    ]
    names = [path.rpartition("/")[2].removesuffix(".json") for path in kept]
    return sorted(names, key=lambda name: (not name.startswith("rev_"), name))


def _remembered(remote: Remote) -> tuple[str, ...]:
    """What was last seen there: as git remembers it, and as we do (a person's own `git fetch`
    moves only the first)."""
    if remote.tracking is None:
        return ()
    return remote.tracking, f"refs/pcpfs/seen/{remote.name}/{remote.branch}"


def _remember(git: Git, remote: Remote, commit: CommitId) -> None:
    for ref in _remembered(remote):
        git.move_ref(ref, commit)
