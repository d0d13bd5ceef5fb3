"""Erasing pages for good (PCP DeletePage): from files, caches and history, with a receipt.

What an erasure does step by step is `erase_job`; here is what it is about, whether it may be, and
what is told of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from pcpfs.errors import NotFound, NotPermitted, Unavailable, UsageError
from pcpfs.git import Git
from pcpfs.git.follow import borrowed_from, is_collecting, require_plain_refs, unfinished_in
from pcpfs.git.purge import lacks_folders
from pcpfs.model.grants import DELETE
from pcpfs.model.ids import PageId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, refuse_unprintable
from pcpfs.model.pages import Principal
from pcpfs.model.receipts import Receipt
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.rows import PageRow
from pcpfs.store.erasure.erase_job import Job, Working, finish, run
from pcpfs.store.erasure.proof import Proof, prove
from pcpfs.store.erasure.traces import Traces
from pcpfs.store.erasure.tracing import Tracing, survivors
from pcpfs.store.folding.retention import retention_of
from pcpfs.store.intents import INTENT
from pcpfs.store.references import resolve
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.scopes.secrets import refuse_secrets_in
from pcpfs.store.store import Store

DERIVED = ("derived_from", "renamed_from", "supersedes")
"""Relations whose source has its content from its target."""

RENAMED = ("renamed_from",)


@dataclass(frozen=True, slots=True)
class PageName:
    """A page as people know it; `relation` is what it has to do with an erased one."""

    page_id: PageId
    scope: str
    title: str
    path: str | None
    relation: str | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """What an erasure is about: the pages that go, those that were made of them and stay, and those
    that name them. `held_until` is the end of the longest hold that is in the way."""

    pages: tuple[PageName, ...]
    derived: tuple[PageName, ...]
    citing: tuple[PageName, ...]
    held_until: Instant | None


@dataclass(frozen=True, slots=True)
class Gone:
    """A page that is erased, and its receipt (a path in the store)."""

    page_id: PageId
    scope: str
    revisions: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure did. `kept` are pages that hold the same bytes: theirs stay. `commits` counts
    those that were rewritten, `commit` holds the receipts: both are told the owner alone."""

    pages: tuple[Gone, ...]
    derived: tuple[PageName, ...]
    citing: tuple[PageName, ...]
    kept: tuple[PageName, ...]
    commits: int | None
    commit: str | None
    proof: Proof | None
    warnings: tuple[str, ...] = ()


def extent(
    store: Store, given: str, *, cascade: bool = False, seen: Catalog | None = None
) -> Extent:
    """What erasing a page would be about, as far as somebody has `seen` the store (else all of it).
    NotFound for no page."""
    store.refresh()
    catalog = seen or store.catalog
    first = resolve(catalog, given).page
    pages = _closure(catalog, [first]) if cascade else {first: None}
    rows = [row for page in pages if (row := catalog.page(page))]
    if not rows:
        raise NotFound(f"there is no page {given}")
    related = [
        name for row in rows for name in _pointing_at(catalog, row) if name.page_id not in pages
    ]
    ends = [retention_of(store, Namespace(r.scope)).held_until(Instant(r.updated_at)) for r in rows]
    now = store.clock.now()
    return Extent(
        tuple(map(_name, rows)),
        tuple(name for name in related if name.relation in DERIVED),
        tuple(name for name in related if name.relation not in DERIVED),
        max((end for end in ends if end is not None and end > now), default=None),
    )


def delete(
    store: Store,
    actor: Principal,
    given: str,
    why: str,
    *,
    cascade: bool = False,
    proven: bool = False,
    override: str | None = None,
) -> Erasure:
    """Erase a page (with `cascade` all that was made of it), and perhaps prove it.

    NotPermitted for who may not delete there (a model never may), and under a hold unless
    `override` says why not; Unavailable while an operation of git waits.
    """
    for where, text in (("reason (--why)", why), ("reason (--override-hold)", override or "none")):
        refuse_unprintable(text, where)
        refuse_secrets_in(where, text)
    authority = Authority(store, actor)
    if proven:
        authority.require_owner("have every byte of the store searched")
    with closing(authority), store.writing("delete", actor) as transaction:
        about = extent(store, given, cascade=cascade, seen=authority.catalog)
        for name in about.pages:
            authority.require((DELETE,), name.scope)
        _refuse_hold(about, override)
        _refuse_unsettled(store)
        pages = {name.page_id: Namespace(name.scope) for name in about.pages}
        found = Tracing(store.workshop, pages).traces()
        traces = told = survivors(store.workshop, found)
        if not authority.is_owner:
            seen = {row.scope for row in authority.catalog.scopes()}
            told = survivors(store.workshop, found, seen)
        if any(told.names_it(text.encode()) for text in (why, override or "")):
            raise UsageError(
                "the reason is kept for ever, and yours says what is to be erased; say it without "
                "the title and the content"
            )
        kept = tuple(_holders(authority.catalog, traces))
        counts = {page: _revisions(store, page) for page in pages}
        cited = tuple(_cited_digests(store.catalog, pages))
        kinds = {page: _kind(store, page) for page in pages}
        excluded = tuple(sorted({*_closure(store.catalog, pages, RENAMED)} - pages.keys()))
        receipts = tuple(
            Receipt(ns, page, transaction.at, actor, why.strip(), counts[page], kinds[page],
                    override and override.strip(), excluded)
            for page, ns in pages.items()
        )  # fmt: skip
        work = Working(
            store.workshop, Job(traces, receipts, transaction.at, str(actor)), store.renew_caches
        )
        run(work)
        finish(work)
    proof = prove(store.path, store.git, traces) if proven else None
    if proof is not None:
        proof = replace(proof, unproven=(*proof.unproven, *cited))
    return Erasure(
        tuple(_gone(receipt) for receipt in receipts),
        about.derived,
        about.citing,
        kept,
        len(work.job.commits) if authority.is_owner else None,
        store.git.head() if authority.is_owner else None,
        proof,
        (*_limits(store.git), *cited, *work.warnings) if authority.is_owner else (),
    )


def _closure(
    catalog: Catalog, first: Iterable[PageId], relations: Sequence[str] = DERIVED
) -> dict[PageId, None]:
    """Pages and all that was made of them, one from the other."""
    found: dict[PageId, None] = {}
    waiting = [*first]
    while waiting:
        page = waiting.pop()
        row = catalog.page(page)
        if page in found or row is None:
            continue
        found[page] = None
        made = (n for n in _pointing_at(catalog, row) if n.relation in relations)
        waiting += [name.page_id for name in made]
    return found


def _pointing_at(catalog: Catalog, row: PageRow) -> Iterator[PageName]:
    relations = catalog.relations("to_page = ? AND from_page <> to_page", (row.page_id,))
    found = dict.fromkeys((r.from_page, r.type) for r in relations)
    moved = catalog.besides("moved_of = ?", (row.page_id,))
    for source, kind in found | dict.fromkeys((r.page_id, RENAMED[0]) for r in moved):
        page = catalog.page(source)
        if page is not None:
            yield _name(page, kind)


def _name(row: PageRow, relation: str | None = None) -> PageName:
    return PageName(PageId(row.page_id), row.scope, row.title, row.path, relation)


def _holders(catalog: Catalog, traces: Traces) -> Iterator[PageName]:
    for digest in traces.others:
        rows = catalog.query(
            "SELECT DISTINCT page_id FROM revision WHERE digest = ? ORDER BY 1", (digest,)
        )
        for (page,) in rows:
            row = catalog.page(page)
            if row is not None and page not in traces.pages:
                yield _name(row, "the same bytes")


def _cited_digests(catalog: Catalog, pages: Container[str]) -> Iterator[str]:
    """What pages that stay keep of a part of an erased source: said, since a change of theirs that
    has happened is never written anew."""
    rows = catalog.query(
        "SELECT DISTINCT relation.from_page, relation.to_page, page.title FROM relation "
        "JOIN page ON page.page_id = relation.from_page WHERE to_digest IS NOT NULL ORDER BY 3, 1"
    )
    for source, target, title in rows:
        if target in pages and source not in pages:
            yield (
                f"{title} ({source}) cites a symbol of it, and its citation keeps that symbol's "
                "digest, by which a guess of its bytes can be checked; erase that page as well if "
                "this matters"
            )


def _revisions(store: Store, page: PageId) -> int:
    ((count,),) = store.catalog.query("SELECT count(*) FROM revision WHERE page_id = ?", (page,))
    return int(count)


def _kind(store: Store, page: PageId) -> str:
    row = store.catalog.page(page)
    is_event = row is not None and row.is_event
    return "event" if is_event else "source" if row is not None and row.is_source else "page"


def _gone(receipt: Receipt) -> Gone:
    path = layout.receipt_file(receipt.namespace, receipt.page)
    return Gone(receipt.page, receipt.namespace, receipt.revisions, path)


def _refuse_hold(about: Extent, override: str | None) -> None:
    if about.held_until is not None and override is None:
        raise NotPermitted(
            f"the retention of its scope keeps this page until {about.held_until}; if it has to go "
            "all the same, say why: --override-hold TEXT (it is recorded in the receipt)",
            held_until=str(about.held_until),
        )


def _refuse_unsettled(store: Store) -> None:
    waiting = unfinished_in(store.git)
    if waiting is not None:
        raise Unavailable(f"{waiting} is not finished; conclude it with git, and try again")
    if (store.local_folder / INTENT).exists():
        raise Unavailable("an unfinished operation waits to be committed; see git status")
    if is_collecting(store.git):
        raise Unavailable("`git gc` is at work in this store; try again when it has ended")
    require_plain_refs(store.git)
    if lacks_folders(store.git):
        raise Unavailable(
            "this clone was made without the folders of older commits, so nobody can tell which "
            "of them hold the page; get them with `git fetch --refetch --filter=blob:none`, and "
            "try again"
        )


def _limits(git: Git) -> Iterator[str]:
    """What an erasure cannot reach, said each time."""
    remotes = sorted({key.split(".")[1] for key, _ in git.get_configs(r"^remote\..*\.url$")})
    if remotes:
        yield (
            f"what was pushed to {', '.join(remotes)} is still there: run pcpfs push (it replaces "
            "the branch), and have old objects removed there"
        )
    if git.is_shallow():
        yield (
            "history is cut off here: what lies before is in the repository it came from, which "
            "may refuse a push of this; then erase the page in a whole clone as well"
        )
    if git.is_partial():
        yield "objects that were left out here are still in the repository it came from"
    for place in borrowed_from(git):
        yield (
            f"objects are borrowed from {place}, where nothing was erased; to borrow no more, run "
            "git repack -a -d, then remove .git/objects/info/alternates"
        )
