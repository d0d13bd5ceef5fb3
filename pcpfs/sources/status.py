"""What a person wants to know first: what is in the store, and what needs attention."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pcpfs.errors import UsageError
from pcpfs.model.answers import RootView, ScopeView, Skipped, SuspectPage
from pcpfs.model.grants import READ
from pcpfs.model.ids import RootId
from pcpfs.model.instants import Instant
from pcpfs.sources.comparing import known_pages, settled
from pcpfs.sources.plan import GONE, Novelty, plan
from pcpfs.sources.roots import Root, Roots
from pcpfs.sources.scan import scan
from pcpfs.sources.thinning import would_free
from pcpfs.sources.watch_sign import WatcherView, watchers
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Damage
from pcpfs.store.erasure.residues import pending
from pcpfs.store.listing import key_of_conflict, key_of_scope, key_of_suspect
from pcpfs.store.merges.conflicts import ConflictView
from pcpfs.store.paging import DEFAULT_PART, Part, ordered_part
from pcpfs.store.recommending import Recommendation, recommendations
from pcpfs.store.searches.searching import IndexView
from pcpfs.store.session import Session
from pcpfs.store.upkeeping.sizes import Sizes, sizes

_NEW, _CHANGED = "new", "changed"


@dataclass(frozen=True, slots=True)
class StalePath:
    """A source file that differs from what the store says: it is `new`, `changed` or `gone`, or
    left out from now on for a reason (`ignored`, `binary`, …)."""

    root: str
    path: str
    status: str


@dataclass(frozen=True, slots=True)
class More:
    """A list that is longer than what was given of it, and where it goes on."""

    total: int
    cursor: str


@dataclass(frozen=True, slots=True)
class Status:
    """What the session's principal may see; only the owner sees the `generation`, which counts the
    changes of all, and the `watchers` that are at work here. `stale` lists files that `sync` would
    look at; `edits` are files in `tree/` that differ from their pages; `erasure_pending` are erased
    pages that history holds still. Each list holds so many as were asked for; `more` says of those
    that go on how long they are, and where to go on (`status_list`). `skipped_reasons` counts all
    of `skipped`; `size` is there if asked for."""

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
    skipped_reasons: Mapping[str, int]
    more: Mapping[str, More]
    size: Sizes | None = None


def status(session: Session, *, limit: int = DEFAULT_PART, size: bool = False) -> Status:
    """Looks at the stat of every source file, and for `size` of every file of the store; reads the
    source files of which that does not tell whether they are as they were, and writes none.
    NotPermitted where anybody but the owner asks for sizes."""
    store = session.store
    lists = {name: tuple(_items(session, name)) for name in LISTS}
    parts = {name: _part(name, items, limit, None) for name, items in lists.items()}
    return Status(
        store_id=store.store_id,
        path=str(store.path),
        format=store.format,
        pages=sum(scope.pages for scope in lists["scopes"]),
        index=session.index_state(),
        generation=store.catalog.generation if session.authority.is_owner else None,
        size=_sized(session) if size else None,
        watchers=tuple(watchers(store)) if session.authority.is_owner else (),
        skipped_reasons=dict(Counter(str(one.reason) for one in lists["skipped"]).most_common()),
        more={
            name: More(len(lists[name]), part.cursor)
            for name, part in parts.items()
            if part.cursor is not None
        },
        **{name: part.items for name, part in parts.items()},
    )


def _sized(session: Session) -> Sizes:
    """Where the space goes, and what of it thinning lets go."""
    found = sizes(session)
    now, later = (would_free(session.store, whatever_age=age) for age in (False, True))
    return replace(found, thinning=now, thinning_later=later)


def status_list(
    session: Session, name: str, *, limit: int = DEFAULT_PART, cursor: str | None = None
) -> Part[Any]:
    """One of the lists (LISTS), in parts."""
    if name not in LISTS:
        raise UsageError(f"status has no list {name}; there are {', '.join(LISTS)}")
    return _part(name, _items(session, name), limit, cursor)


def _part(name: str, items: Iterable[Any], limit: int, cursor: str | None) -> Part[Any]:
    return ordered_part(items, LISTS[name], ("status", name), limit, cursor)


def _items(session: Session, name: str) -> Iterable[Any]:
    """All of one list."""
    session.store.refresh()
    match name:
        case "scopes":
            return session.scopes()
        case "suspect":
            return session.suspects()
        case "conflicts":
            return session.conflicts()
        case "incomplete":
            return [row.page_id for row in session.authority.catalog.pages("incomplete")]
        case "damaged":
            return session.damages()
        case "erasure_pending":
            return _erasure_pending(session)
        case "edits":
            return [path for path in session.store.edits() if _is_seen(session, path)]
        case "recommended":
            return recommendations(session)
        case _:
            return _of_sources(session, name)


def _of_sources(session: Session, name: str) -> Iterable[Any]:
    """The roots, or what is to be said of their files."""
    roots = Roots(session.store)
    known = {row.root_id for row in session.authority.catalog.roots()}
    bound = {root.root_id: root for root in roots.all() if root.root_id in known}
    match name:
        case "roots":
            return _views(session, roots, bound)
        case "skipped":
            return [skip for root in bound.values() for skip in roots.skipped(root)]
        case _:
            return [stale for root in bound.values() for stale in _stale(session, roots, root)]


def _itself(text: str) -> tuple[str, ...]:
    return (text,)


LISTS: Mapping[str, Callable[[Any], tuple[str, ...]]] = {
    "scopes": key_of_scope,
    "roots": lambda root: (root.scope, root.root, root.root_id),
    "stale": lambda stale: (stale.root, stale.path, stale.status),
    "suspect": key_of_suspect,
    "skipped": lambda skip: (skip.root or "", skip.path, str(skip.reason), skip.detail or ""),
    "conflicts": key_of_conflict,
    "incomplete": _itself,
    "damaged": lambda damage: (damage.page_id,),
    "erasure_pending": _itself,
    "edits": _itself,
    "recommended": lambda told: (str(told.at), told.change_id),
}
"""What `status` lists, and by what each of the lists is ordered."""


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


def _stale(session: Session, roots: Roots, root: Root) -> list[StalePath]:
    """What a sync would do, by path."""
    store = session.store
    found = scan(root.path, root.options, roots.cache(root))
    found, _ = settled(store, root, found, most_bytes=0)
    todo = plan(known_pages(store, root, found), found)
    stale = [
        StalePath(root.name, seen.file.path, _CHANGED if seen.novelty is Novelty.CHANGED else _NEW)
        for seen in todo.observe
    ]
    stale += [
        StalePath(root.name, close.path, GONE if close.moved_to else close.reason)
        for close in todo.close
    ]
    return sorted(stale, key=lambda one: one.path)
