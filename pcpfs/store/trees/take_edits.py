"""Turning the edits in `tree/` into changes: look, wait until nobody writes, plan, apply."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from pcpfs.git import CommitId
from pcpfs.model.changes import Event, LifecycleSet, Linked, Named, Relation, RevisionWritten
from pcpfs.model.ids import Digest, PageId, RelationId, RevisionId, base32
from pcpfs.model.names import Namespace, media_type_of
from pcpfs.model.pages import Facets, Payload, Principal, ProvenanceEvent, Revision
from pcpfs.model.texts import decoded
from pcpfs.store.catalogs.catalog import decode_list
from pcpfs.store.intents import Committed, position_now
from pcpfs.store.local import Base
from pcpfs.store.scopes.secrets import AllowList, Finding
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.trees.tree import Seen, wanted_heads
from pcpfs.store.trees.tree_edits import OLDER_TEXT, plan
from pcpfs.store.trees.tree_knowledge import StoreKnowledge, situation
from pcpfs.store.trees.tree_look import CHANGING, NOTHING_KNOWN, Look, agreed, look, read_file
from pcpfs.store.trees.tree_state import (
    Create,
    Edit,
    Plan,
    Rename,
    Restore,
    Revise,
    Tombstone,
    parted,
)
from pcpfs.store.writes import one_line

_EMPTY = Digest.of(b"")
_REMOVED = "its file in tree/ was removed"
_KEEP_IT = "take it out, or keep it: pcpfs sync --allow-secret FILE"
_RETURNED = "its file in tree/ came back"


@dataclass(frozen=True, slots=True)
class TreeChange:
    """An edit that was taken. `was` is the earlier path; `now` is where the text is by now, if not
    at `path`; `heads` are named where the page has several."""

    path: str
    page_id: PageId
    revision_id: RevisionId | None = None
    was: str | None = None
    now: str | None = None
    heads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A path in `tree/` that was not taken, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What a look at `tree/` did. `reverted` were laid anew, `held_back` were removed by somebody,
    too many at once, and are there again; `left` stays as it is."""

    revised: tuple[TreeChange, ...] = ()
    created: tuple[TreeChange, ...] = ()
    renamed: tuple[TreeChange, ...] = ()
    tombstoned: tuple[TreeChange, ...] = ()
    restored: tuple[TreeChange, ...] = ()
    resolved: tuple[TreeChange, ...] = ()
    reverted: tuple[LeftAlone, ...] = ()
    held_back: tuple[str, ...] = ()
    left: tuple[LeftAlone, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """The report, and whether somebody was still writing, so that it is worth looking again."""

    report: TreeReport
    commit: CommitId | None = None
    warnings: tuple[str, ...] = ()
    unsettled: bool = False


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. An edit is taken when two looks `apart` agree, an empty file after `empty`."""

    apart: float = 0.1
    empty: float = 2.0
    pause: Callable[[float], None] = time.sleep


class EditTaker:
    """Takes the edits in `tree/` of one store, in the name of one principal."""

    def __init__(self, store: Store, actor: Principal, patience: Patience | None = None) -> None:
        self._store = store
        self._actor = actor
        self._patience = patience or Patience()
        self._last = NOTHING_KNOWN
        self._quiet: tuple[object, TreeReport] | None = None

    def take(self, *, accept_removals: bool = False, wait: bool = True) -> Taken:
        """Look at all of `tree/` and take every edit that is settled. With `wait`, files that are
        being written are waited for, some seconds; else they are left for the next time."""
        self._store.refresh()
        first = self._look(self._last, old_only=True)
        if self._quiet is not None and self._quiet[0] == self._state(first):
            return Taken(self._quiet[1])
        quiet, _ = self._plan(first, accept_removals)
        if _is_quiet(quiet):
            report = TreeReport(left=_left(quiet.left))
            self._remember(first)
            self._quiet = self._state(first), report
            return self._with_undone(Taken(report))
        settled = self._settled(first, wait)
        with self._store.writing("edit", self._actor) as transaction:
            found = agreed(settled, self._look(settled))
            todo, known = self._plan(found, accept_removals)
            applying = _Applying(self._store, self._actor, transaction, known)
            done = applying.apply(todo)
            self._remember(found)
        unsettled = CHANGING in {left.reason for left in done.report.left}
        return self._with_undone(replace(done, unsettled=unsettled))

    def _state(self, found: Look) -> object:
        """All that a plan depends on: while it is the same, nothing is to do again."""
        position = position_now(self._store.workshop)
        return self._store.catalog.generation, position, found.files, found.problems

    def _with_undone(self, taken: Taken) -> Taken:
        """With what was laid anew when git had moved, by whatever command came first."""
        undone = [(path, OLDER_TEXT) for path in self._store.local.take_undone()]
        reverted = {*taken.report.reverted, *_left(undone)}
        order = tuple(sorted(reverted, key=lambda left: left.path))
        return replace(taken, report=replace(taken.report, reverted=order))

    def _look(self, before: Look, *, old_only: bool = False) -> Look:
        marks = before.old_marks(self._store.clock.now()) if old_only else before.marks
        return look(self._store.path, self._store.local.laid_paths(), before, marks)

    def _plan(self, found: Look, accept_removals: bool) -> tuple[Plan, Mapping[str, Base]]:
        """What to do, and the bases from which that follows."""
        knowledge = StoreKnowledge(self._store.workshop)
        now = situation(self._store.workshop, knowledge, found)
        if CHANGING in found.problems.values():
            now = replace(now, absence=False)  # a file may be on its way from one name to another
        return plan(now, knowledge, accept_removals=accept_removals), now.bases

    def _settled(self, first: Look, wait: bool) -> Look:
        """What several looks agree on."""
        rounds = int(self._patience.empty / self._patience.apart) + 5 if wait else 1
        found = first
        for _ in range(rounds):
            self._patience.pause(self._patience.apart)
            second = self._look(NOTHING_KNOWN)
            found = self._without_emptied(agreed(first, second))
            if CHANGING not in found.problems.values():
                break
            first = second
        return found

    def _without_emptied(self, found: Look) -> Look:
        """A file that was emptied a moment ago is about to be filled: many programs save so."""
        now = self._store.clock.now().microseconds * 1000
        latest = self._patience.empty * 1e9
        emptied = {
            path: CHANGING
            for path, digest in found.files.items()
            if digest == _EMPTY and 0 <= now - found.marks[path].mtime < latest
        }
        files = {path: digest for path, digest in found.files.items() if path not in emptied}
        return Look(files, {**found.problems, **emptied}, found.marks)

    def _remember(self, found: Look) -> None:
        self._last = found
        shop = self._store.workshop
        position = position_now(shop)
        if shop.tree.local.position() != position:
            shop.tree.local.set_position(position)


def _is_quiet(todo: Plan) -> bool:
    changes = (todo.edits, todo.adopted, todo.dropped, todo.reverted, todo.held_back, todo.relaid)
    return not any(changes)


def _left(left: Iterable[tuple[str, str]]) -> tuple[LeftAlone, ...]:
    return tuple(LeftAlone(path, reason) for path, reason in left)


@dataclass(slots=True)
class _Applying:
    """Writes what a plan says within one transaction."""

    store: Store
    actor: Principal
    transaction: Transaction
    known: Mapping[str, Base]
    events: dict[PageId, list[Event]] = field(default_factory=dict)
    scopes: dict[PageId, Namespace] = field(default_factory=dict)
    bases: dict[str, Base] = field(default_factory=dict)
    done: list[tuple[str, TreeChange]] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)

    def apply(self, todo: Plan) -> Taken:
        self.store.local.set_bases(todo.adopted, todo.dropped)
        for edit in todo.edits:
            self.one(edit)
        for page, events in self.events.items():
            self.transaction.change(self.scopes[page], page, *events)
        committed = self.commit(todo)
        return Taken(self.report(todo), committed.commit, committed.warnings)

    def one(self, edit: Edit) -> None:
        """Write one edit, unless its file was written to since it was looked at."""
        if not isinstance(edit, Revise | Create):
            self.event(edit)
            return
        raw = self.text(edit.path)
        if Digest.of(raw) != edit.digest:
            self.left.append((edit.path, CHANGING))
        elif found := self.secrets(edit, raw):
            self.left.append((edit.path, f"it holds {found[0]}; {_KEEP_IT}"))
        elif isinstance(edit, Revise):
            self.revise(edit, raw)
        else:
            self.create(edit, raw)

    def secrets(self, edit: Revise | Create, raw: bytes) -> tuple[Finding, ...]:
        """What keeps a text out of the store; it stays where the person wrote it."""
        scope = parted(edit.path)[0]
        allowed = AllowList.of(self.store.catalog, scope)
        return allowed.findings([("text", decoded(raw)), ("path", edit.path)])

    def event(self, edit: Rename | Tombstone | Restore) -> None:
        """What needs no new text."""
        match edit:
            case Rename():
                self.add(edit.page, Named(edit.name))
                base = edit.base
                self.bases[edit.path] = Base(edit.path, edit.page, base.digest, base.revision)
                change = TreeChange(edit.path, edit.page, was=edit.was)
                self.done.append(("renamed", change))
            case Tombstone():
                self.add(edit.page, LifecycleSet("tombstoned", _REMOVED))
                self.done.append(("tombstoned", TreeChange(edit.path, edit.page)))
            case Restore():
                self.add(edit.page, LifecycleSet("active", _RETURNED))
                self.done.append(("restored", TreeChange(edit.path, edit.page)))

    def revise(self, edit: Revise, raw: bytes) -> None:
        row = self.store.catalog.page(edit.page)
        assert row is not None, "the plan speaks of known pages"
        scope = Namespace(row.scope)
        like = edit.parents[0] if edit.parents else RevisionId(row.revision_id)
        old = self.store.objects.revision(scope, edit.page, like)
        media_type = old.payload.media_type if old.payload else _media_type(edit.path, raw)
        body = replace(
            self.envelope(scope, edit.page, raw, media_type, "edit"),
            parents=edit.parents,
            source_refs=old.source_refs,
            facets=old.facets,
            epistemic=old.epistemic,
        )
        revision = self.keep(body, raw, edit.path, self.still_open(edit))
        self.add(edit.page, RevisionWritten(revision, edit.parents))
        self.done.append((edit.operation, TreeChange(edit.path, edit.page, revision)))

    def still_open(self, edit: Revise) -> tuple[RevisionId, ...]:
        """What other editors may have in their buffers, after one that was behind saved."""
        base = self.known.get(edit.path)
        if base is None or base.page_id != edit.page or base.revision in edit.parents:
            return ()
        return (*base.before, base.revision)

    def create(self, edit: Create, raw: bytes) -> None:
        page = PageId.authored(self.store.entropy.time_ordered())
        self.transaction.ensure_scope(edit.scope, str(edit.scope))
        media_type = _media_type(edit.path, raw)
        body = self.envelope(edit.scope, page, raw, media_type, "edit")
        if not media_type.startswith("text/"):
            body = replace(body, facets=Facets(title=edit.name.rpartition("/")[2]))
        revision = self.keep(body, raw, edit.path)
        self.scopes[page] = edit.scope
        self.add(page, RevisionWritten(revision), Named(edit.name))
        if edit.instead_of is not None:
            self.add(page, Linked(self.supersedes(revision, edit.instead_of)))
        self.done.append(("created", TreeChange(edit.path, page, revision)))

    def supersedes(self, revision: RevisionId, page: PageId) -> Relation:
        row = self.store.catalog.page(page)
        assert row is not None, "the plan speaks of known pages"
        return Relation(
            RelationId("rel_" + base32(self.store.entropy.random(16))),
            revision,
            "supersedes",
            page,
            RevisionId(row.revision_id),
            self.actor,
            self.transaction.at,
        )

    def envelope(
        self, scope: Namespace, page: PageId, raw: bytes, media_type: str, how: str
    ) -> Revision:
        return Revision(
            page=page,
            namespace=scope,
            payload=Payload(media_type, Digest.of(raw), len(raw)),
            created_at=self.transaction.at,
            created_by=self.actor,
            provenance=(ProvenanceEvent(how, self.actor, self.transaction.at),),
            salt=self.store.entropy.random(16).hex(),
        )

    def keep(
        self, body: Revision, raw: bytes, path: str, before: tuple[RevisionId, ...] = ()
    ) -> RevisionId:
        self.transaction.payload(body.namespace, raw)
        revision = self.transaction.revision(body)
        self.bases[path] = Base(path, body.page, Digest.of(raw), revision, before)
        return revision

    def add(self, page: PageId, *events: Event) -> None:
        if page not in self.scopes:
            row = self.store.catalog.page(page)
            assert row is not None, "the plan speaks of known pages"
            self.scopes[page] = Namespace(row.scope)
        self.events.setdefault(page, []).extend(events)

    def text(self, path: str) -> bytes:
        try:
            return read_file(self.store.path / path)
        except OSError:
            return b""

    def commit(self, todo: Plan) -> Committed:
        pages = {*todo.relaid, *self.events}
        if not pages:
            return Committed(None)
        before = self.store.git.head()
        trailers = [("Pcpfs-Operation", "edit"), ("Pcpfs-Actor", str(self.actor))]
        if len(self.events) == 1:
            trailers.insert(1, ("Pcpfs-Page", next(iter(self.events))))
        known = {path: base for path, base in self.known.items() if base.page_id in pages}
        adopted = {base.path: base for base in todo.adopted}
        seen = Seen({**known, **adopted, **self.bases}, {*todo.anew, *todo.held_back}, pages)
        committed = self.transaction.commit(self.subject(), trailers, seen=seen)
        return replace(committed, commit=None) if committed.commit == before else committed

    def subject(self) -> str:
        titles = [self.transaction.title_of(page) or page for page in self.events]
        if len(titles) == 1:
            return f"edit: {one_line(titles[0])}"
        counts = Counter(operation for operation, _ in self.done)
        told = ", ".join(f"{count} {operation}" for operation, count in sorted(counts.items()))
        return f"edit: {told or 'tree/ laid anew'}"

    def report(self, todo: Plan) -> TreeReport:
        lists: dict[str, list[TreeChange]] = {}
        for operation, change in self.done:
            lists.setdefault(operation, []).append(self.shown(change))
        return TreeReport(
            **{operation: tuple(changes) for operation, changes in lists.items()},
            reverted=_left(todo.reverted),
            held_back=todo.held_back,
            left=_left(sorted([*todo.left, *self.left])),
        )

    def shown(self, change: TreeChange) -> TreeChange:
        """With what became of the page."""
        row = self.store.catalog.page(change.page_id)
        if row is None:
            return change
        heads = decode_list(row.heads)
        places = wanted_heads(self.store.catalog, [row])
        now = next((p for p, w in places.items() if w.revision == change.revision_id), None)
        return replace(
            change,
            now=now if now != change.path else None,
            heads=tuple(heads) if len(heads) > 1 else (),
        )


def _media_type(path: str, raw: bytes) -> str:
    """By the ending of the name, else by whether it is text."""
    told = media_type_of(path.rpartition("/")[2])
    if told is not None:
        return told
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if "\0" in text else "text/plain"
