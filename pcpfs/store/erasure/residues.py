"""What came back of erased pages, and what history still holds of them.

A receipt outranks every object of its page, wherever it comes from: what a pull brings back goes
again with the next command, and history with the next `pcpfs maintain`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pcpfs.errors import PcpfsError
from pcpfs.git.holding import EVERYWHERE, Standing, fetched, held_in_history
from pcpfs.git.purge import reachable
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.erasure.erase_job import Job, Renew, Working, finish, run, sweep
from pcpfs.store.erasure.tracing import Tracing, survivors
from pcpfs.store.workshop import Workshop

Pages = Mapping[PageId, Namespace]


def sweep_up(shop: Workshop, renew: Renew, at: Instant) -> None:
    """Remove all that came back, by an ordinary commit. Only under the writer's lock."""
    pages: dict[PageId, Namespace] = {}
    for row in shop.catalog.residues():
        namespace, page = Namespace(row.scope), PageId(row.page_id)
        if shop.objects.is_erased(namespace, page):
            pages[page] = namespace
        else:
            with shop.catalog.writing():
                shop.catalog.note_residue(row.path, row.scope, ())
    if pages:
        shop.tree.local.set_purged(pages, False)
        traces = Tracing(shop, pages).traces()
        sweep(Working(shop, Job(traces, (), at, "system:pcpfs"), renew))


def pending(shop: Workshop, *, anew: bool = False) -> dict[PageId, Namespace]:
    """Erased pages that a commit of this clone still holds, or holds again. What was found to be in
    none is remembered, and looked for only in commits that have come since, or where asked."""
    there = dict(erased_pages_of(shop))
    if not there:
        return {}
    local, now = shop.tree.local, Standing.of(shop.git)
    known = set() if anew else local.purged()
    old = {page: ns for page, ns in there.items() if page in known}
    new = {page: ns for page, ns in there.items() if page not in known}
    since = now.since(local.standing())
    held = {
        *held_of(shop, new, (*EVERYWHERE, *now.tips)),
        *(held_of(shop, old, since) if since else ()),
    }
    local.set_purged(there.keys() - held, True)
    local.set_purged(held, False)
    local.set_standing(now)
    return {page: ns for page, ns in there.items() if page in held}


def held_of(shop: Workshop, pages: Pages, commits: Sequence[str]) -> Iterator[PageId]:
    """Those of the pages that one of the commits holds something of."""
    if not pages:
        return
    folders = {layout.page_folder(ns, page): page for page, ns in pages.items()}
    yield from (folders[folder] for folder in held_in_history(shop.git, folders, commits))
    events = [receipt.page for receipt in receipts_of(shop, pages) if receipt.kind == "event"]
    if events:
        objects = reachable(shop.git, commits)
        segments = [name for name, path in objects.items() if layout.segment_of(path)]
        for raw in shop.git.show_blobs(segments):
            yield from (page for page in events if page.encode() in (raw or b""))


def purge_pending(shop: Workshop, renew: Renew, at: Instant, actor: str) -> tuple[PageId, ...]:
    """Rewrite history without the erased pages that it still holds; which these were. Only under
    the writer's lock."""
    pages = pending(shop, anew=True)
    if pages:
        traces = survivors(shop, Tracing(shop, pages, fetched(shop.git)).traces())
        receipts = tuple(receipts_of(shop, pages))
        job = Job(traces, receipts, at, actor, known=known_commits(receipts), is_told=False)
        work = Working(shop, job, renew)
        run(work)
        finish(work)
    return tuple(pages)


def receipts_of(shop: Workshop, pages: Pages) -> Iterator[Receipt]:
    """The receipts of pages, as far as they can be read."""
    for page, namespace in pages.items():
        path = layout.receipt_file(namespace, page)
        try:
            yield Receipt.decode(shop.objects.read(path), path)
        except PcpfsError:
            continue  # fsck names it; the page is erased all the same


def erased_pages_of(shop: Workshop) -> Iterator[tuple[PageId, Namespace]]:
    """All erased pages, by scope and id."""
    for namespace in shop.objects.scopes():
        for page in sorted(shop.objects.erased(namespace)):
            yield page, namespace


def known_commits(receipts: Iterable[Receipt]) -> dict[str, str]:
    """Commits that others have rewritten, old and new names."""
    return {old: new for receipt in receipts for old, new in receipt.commits.items()}
