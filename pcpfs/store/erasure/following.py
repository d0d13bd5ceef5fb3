"""Following erasures from clone to clone: what others have erased goes here too, and what others
still have of erased pages does not come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pcpfs.errors import PcpfsError
from pcpfs.git import CommitId, TreeChange
from pcpfs.git.holding import held_in_history
from pcpfs.model.ids import PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.erasure.erase_job import Job, Renew, Working, finish, run
from pcpfs.store.erasure.residues import erased_pages_of, held_of, known_commits, receipts_of
from pcpfs.store.erasure.tracing import Tracing, survivors
from pcpfs.store.events.event_segments import Segment
from pcpfs.store.workshop import Workshop


def follow(
    shop: Workshop, renew: Renew, ours: CommitId, theirs: CommitId, *, at: Instant, actor: str
) -> CommitId:
    """Erase here what the history that was just fetched says is erased, and rewrite that history
    as well where it still holds what is erased here; the commit to unite with. Only under the
    writer's lock."""
    told = list(receipts_between(shop, ours, theirs))
    news = {receipt.page: receipt.namespace for receipt in told}
    here = {page: ns for page, ns in erased_pages_of(shop) if page not in news}
    pages = {
        **_held(shop, news, ("--all", "--reflog", theirs)),
        **{page: here[page] for page in held_of(shop, here, (theirs, f"^{ours}"))},
        **{page: ns for page, ns in news.items() if shop.catalog.page(page)},
    }
    if not pages:
        return theirs
    traces = survivors(shop, Tracing(shop, pages, [theirs]).traces())
    own = list(receipts_of(shop, {page: ns for page, ns in pages.items() if page in here}))
    job = Job(
        traces,
        tuple(receipt for receipt in told if receipt.page in pages),
        at,
        actor,
        known=known_commits([*told, *own]),
        keep=(theirs,),
        is_told=False,
    )
    work = Working(shop, job, renew)
    run(work)
    finish(work)
    return CommitId(work.mapping.get(theirs, theirs))


def replaced(shop: Workshop, commit: CommitId) -> CommitId:
    """What erasures have put in place of a commit, as far as this clone knows; else itself."""
    pages = dict(erased_pages_of(shop))
    known = known_commits(receipts_of(shop, pages))
    seen = {str(commit)}
    last = str(commit)
    while (new := shop.tree.local.rewritten(last) or known.get(last)) and new not in seen:
        seen.add(new)
        last = new
    return CommitId(last)


def without_erased(
    shop: Workshop, theirs: CommitId, lost: Iterable[TreeChange], come: Iterable[TreeChange]
) -> Iterator[TreeChange]:
    """Of segments that another history lacks, those that held an event which is neither erased nor
    in another segment there."""
    lost = list(lost)
    erased = {receipt.page for receipt in _all_receipts(shop, theirs, come)}
    there: set[RevisionId] = set()
    if lost:
        for change in come:
            there |= {event for event, _ in _events(shop, change, change.after)}
    for change in lost:
        left = {
            event
            for event, page in _events(shop, change, change.before)
            if page not in erased and event not in there
        }
        if left:
            yield change


def _events(
    shop: Workshop, change: TreeChange, blob: str | None
) -> Iterator[tuple[RevisionId, PageId]]:
    namespace = layout.segment_of(change.path)
    if namespace is None or blob is None:
        return
    raw = next(shop.git.show_blobs([blob]), None) or b""
    for placed in Segment.read(change.path, namespace, raw).lines:
        yield placed.line.revision_id, placed.line.revision.page


def receipts_between(shop: Workshop, ours: CommitId, theirs: CommitId) -> Iterator[Receipt]:
    """The receipts that `theirs` has and this clone, which stands at `ours`, has not."""
    changes = shop.git.diff_tree(ours, theirs)
    for receipt in _all_receipts(shop, theirs, changes):
        if not shop.objects.is_erased(receipt.namespace, receipt.page):
            yield receipt


def _all_receipts(
    shop: Workshop, theirs: CommitId, changes: Iterable[TreeChange]
) -> Iterator[Receipt]:
    new = [c for c in changes if c.after is not None and layout.receipt_of(c.path)]
    raws = shop.git.contents([change.after for change in new])
    for change, raw in zip(new, raws, strict=True):
        try:
            yield Receipt.decode(raw or b"", change.path)
        except PcpfsError:
            continue  # nothing can be followed by it; the page that it names is hidden all the same


def _held(
    shop: Workshop, pages: dict[PageId, Namespace], commits: Iterable[str]
) -> dict[PageId, Namespace]:
    """Those of the pages of which a commit holds something."""
    folders = {layout.page_folder(ns, page): page for page, ns in pages.items()}
    if not folders:
        return {}
    held = held_in_history(shop.git, folders, commits)
    return {folders[folder]: pages[folders[folder]] for folder in held}
