"""What a person wants to know first: what is in the store, and what needs attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pcpfs.model.answers import RootView, ScopeView, Skipped, SuspectPage
from pcpfs.model.grants import READ
from pcpfs.model.ids import RootId
from pcpfs.model.instants import Instant
from pcpfs.model.names import unescaped
from pcpfs.sources.roots import Root, Roots
from pcpfs.sources.scan import scan
from pcpfs.sources.scanned import Reason
from pcpfs.sources.watch_sign import WatcherView, watchers
from pcpfs.store import layout
from pcpfs.store.catalog import Damage
from pcpfs.store.conflicts import ConflictView
from pcpfs.store.recommending import Recommendation, recommendations
from pcpfs.store.residues import pending
from pcpfs.store.searching import IndexView
from pcpfs.store.session import Session
from pcpfs.store.sizes import Sizes, sizes


@dataclass(frozen=True, slots=True)
class StalePath:
    """A source file that differs from what the store says, found by its times and size."""

    root: str
    path: str
    status: str


@dataclass(frozen=True, slots=True)
class Status:
    """What the session's principal may see; only the owner sees the `generation`, which counts the
    changes of all, and the `watchers` that are at work here. `stale` lists files that `sync` would
    look at; `edits` are files in `tree/` that differ from their pages; `erasure_pending` are erased
    pages that history holds still; `size` is there if asked for."""

    store_id: str
    path: str
    format: int
    scopes: tuple[ScopeView, ...]
    pages: int
    roots: tuple[RootView, ...]
    stale: tuple[StalePath, ...]
    suspect: tuple[SuspectPage, ...]
    skipped: tuple[Skipped, ...]
    conflicts: tuple[ConflictView, ...]
    incomplete: tuple[str, ...]
    damaged: tuple[Damage, ...]
    erasure_pending: tuple[str, ...]
    edits: tuple[str, ...]
    recommended: tuple[Recommendation, ...]
    index: IndexView
    generation: int | None
    watchers: tuple[WatcherView, ...]
    size: Sizes | None = None


def status(session: Session, *, size: bool = False) -> Status:
    """Looks at the stat of every source file, and for `size` of every file of the store; reads and
    writes none. NotPermitted where anybody but the owner asks for sizes."""
    store = session.store
    scopes = session.scopes()
    seen = session.authority.catalog
    roots = Roots(store)
    known = {row.root_id for row in seen.roots()}
    bound = {root.root_id: root for root in roots.all() if root.root_id in known}
    skipped = [skip for root in bound.values() for skip in roots.skipped(root)]
    return Status(
        store_id=store.store_id,
        path=str(store.path),
        format=store.format,
        scopes=scopes,
        pages=sum(scope.pages for scope in scopes),
        roots=tuple(_views(session, roots, bound)),
        stale=tuple(stale for root in bound.values() for stale in _stale(session, roots, root)),
        suspect=session.suspects(),
        skipped=tuple(skipped),
        conflicts=session.conflicts(),
        incomplete=tuple(row.page_id for row in seen.pages("incomplete")),
        damaged=session.damages(),
        erasure_pending=_erasure_pending(session),
        edits=tuple(path for path in store.edits() if _is_seen(session, path)),
        recommended=recommendations(session),
        index=session.index_state(),
        generation=store.catalog.generation if session.authority.is_owner else None,
        size=sizes(session) if size else None,
        watchers=tuple(watchers(store)) if session.authority.is_owner else (),
    )


def _erasure_pending(session: Session) -> tuple[str, ...]:
    """For the owner, who alone can do something about it."""
    if not session.authority.is_owner:
        return ()
    return tuple(sorted(pending(session.store.workshop)))


def _views(session: Session, roots: Roots, bound: dict[RootId, Root]) -> Iterator[RootView]:
    synced = session.store.local.roots()
    for row in session.authority.catalog.roots():
        root = bound.get(RootId(row.root_id))
        files, symbols = roots.counts(row.root_id)
        last = synced[RootId(row.root_id)].synced_at if root else None
        yield RootView(
            root=row.name,
            root_id=RootId(row.root_id),
            scope=row.scope,
            kind=row.kind,
            path=str(root.path) if root else None,
            files=files,
            symbols=symbols,
            observer=bool(root and root.is_observer),
            last_sync=None if last is None else Instant(last),
            state=_state(root),
        )


def _is_seen(session: Session, path: str) -> bool:
    """Whether a file of `tree/` is of a scope that this principal may read."""
    if session.authority.is_owner:
        return True
    return session.authority.may(READ, layout.namespace_of(path.partition("/tree/")[0]))


def _state(root: Root | None) -> str:
    if root is None:
        return "unbound"
    return "ok" if root.path.is_dir() else "unavailable"


def _stale(session: Session, roots: Roots, root: Root) -> Iterator[StalePath]:
    found = scan(root.path, root.options, roots.cache(root))
    pages = session.store.catalog.pages("root_id = ? AND is_open", (root.root_id,))
    known = {unescaped(page.path or ""): page.digest for page in pages}
    withheld = {s.path for s in roots.skipped(root) if s.reason == Reason.WITHHELD}
    for file in found.files:
        digest = known.pop(file.path, None)
        if file.path in withheld and file.stat.mtime_ns <= _last_look(session, root):
            continue
        if digest is None:
            yield StalePath(root.name, file.path, "new")
        elif file.digest is not None and file.digest != digest:
            yield StalePath(root.name, file.path, "changed")
        elif file.digest is None and file.stat.mtime_ns > _last_look(session, root):
            yield StalePath(root.name, file.path, "touched")
    if not found.unreadable:
        skipped = {skip.path for skip in found.skipped}
        yield from (StalePath(root.name, p, "gone") for p in sorted(known) if p not in skipped)


def _last_look(session: Session, root: Root) -> int:
    synced = session.store.local.roots()[root.root_id].synced_at
    return (synced or 0) * 1000
