"""The feed of changes: what has come to this store since a cursor, also from elsewhere.

A cursor stands at a commit, not at a time and not at a number that this clone counts. What a
commit's tree lacks and HEAD's tree has is new to whoever read the feed up to that commit, however
old it is and whoever brought it: a late `git pull` is never missed. Nothing is kept for it, so
`rm -rf .pcpfs` changes nothing, and a cursor also holds in another clone that has the commit.

Within one catching-up changes come in the order of their `turn` (the date, but after whatever they
come after), then of their ids. While it lasts the cursor also names where it started, which commit
it leads to, and the last change that was given.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace

from pcpfs.errors import Corrupt, NotFound, PcpfsError, UsageError
from pcpfs.git import CommitId
from pcpfs.model.changes import Change, Named
from pcpfs.model.events import change_of
from pcpfs.model.ids import ChangeId, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace
from pcpfs.model.versions import revisions_of
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.erasure.following import replaced
from pcpfs.store.events.event_lines import places_in
from pcpfs.store.intents import Intent
from pcpfs.store.scopes.authority import Authority
from pcpfs.store.store import Store

NOWHERE = "-"
_CURSOR = re.compile(
    r"(?P<base>-|[0-9a-f]{40}|[0-9a-f]{64})"
    r"(?:\.(?P<target>[0-9a-f]{40}|[0-9a-f]{64})\.(?P<turn>\d{1,18})\.(?P<change>chg_[0-9a-f]{32}))?"
)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Up to where somebody has read: all of `base`, and on the way from there to `target` all up to
    a change. Without a `base` nothing; without a `target` they are on no way."""

    base: CommitId | None
    target: CommitId | None = None
    turn: int = -1
    change: str = ""

    @classmethod
    def parse(cls, text: str) -> Cursor:
        """UsageError for what no feed has given."""
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise UsageError(
                f"{text[:80]!r} is no cursor; take one from an earlier line of pcpfs changes, "
                f"or {NOWHERE} to start at the beginning"
            )
        base = None if match["base"] == NOWHERE else CommitId(match["base"])
        if match["target"] is None:
            return cls(base)
        return cls(base, CommitId(match["target"]), int(match["turn"]), match["change"])

    def __str__(self) -> str:
        base = self.base or NOWHERE
        return f"{base}.{self.target}.{self.turn}.{self.change}" if self.target else base


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One change as the feed tells it. `cursor` goes on behind it; `path` is where a person finds
    the page now, `revision_id` what the change wrote or observed."""

    cursor: str
    change_id: ChangeId
    at: Instant
    actor: str
    operation: str
    scope: Namespace
    page_id: PageId | None
    revision_id: RevisionId | None
    path: str | None
    events: tuple[str, ...]
    after: tuple[ChangeId, ...]


@dataclass(frozen=True, slots=True, order=True)
class _Row:
    """A change and its place in the order."""

    turn: int
    change: ChangeId
    namespace: Namespace
    page: PageId | None


class Feed:
    """Reads the changes of one store, as far as somebody may read its scopes: all where nobody is
    named.

    For anybody but the owner a cursor stands at the last commit that changed what they may read,
    so that it stays where it is while others write elsewhere.
    """

    def __init__(self, store: Store, authority: Authority | None = None) -> None:
        self._store = store
        self._authority = authority or Authority(store, store.owner)

    @property
    def _catalog(self) -> Catalog:
        return self._authority.catalog

    def now(self) -> Cursor:
        """The cursor of somebody who has seen everything."""
        self._store.refresh()
        return Cursor(self._stands())

    def since(self, cursor: Cursor, limit: int | None = None) -> Iterator[FeedEntry]:
        """What came since, in order, at most so many; nothing where nothing came.

        NotFound if the commit at which the cursor stands is gone: history was rewritten.
        """
        left = -1 if limit is None else limit
        while left:
            self._store.refresh()
            way = self._way(cursor)
            if way is None:
                return
            cursor = Cursor(way.target)
            for entry in self._on(way, left):
                yield entry
                cursor = Cursor.parse(entry.cursor)
                left -= 1

    def last(self, count: int) -> Iterator[FeedEntry]:
        """The latest changes, newest first, at most so many. Each has the cursor that it has when
        one reads from the beginning to here."""
        self._store.refresh()
        stands = self._stands()
        if stands is None:
            return
        way = Cursor(None, stands)
        for number, row in enumerate(self._newest(way, count)):
            at = replace(way, turn=row.turn, change=row.change) if number else Cursor(stands)
            yield self._entry(row, at, stands)

    def _newest(self, way: Cursor, count: int) -> list[_Row]:
        with self._catalog.snapshot():
            found = self._catalog.query(
                "SELECT turn, change_id, scope, page_id FROM change "
                "WHERE change_id NOT IN (SELECT value FROM json_each(?)) "
                "ORDER BY turn DESC, change_id DESC LIMIT ?",
                (_json(self._uncommitted()), count),
            )
            rows = [*map(_row, found), *self._damaged(way, None)]
        return sorted(rows, reverse=True)[:count]

    def _way(self, cursor: Cursor) -> Cursor | None:
        """The cursor with the commit that it leads to; None where it has arrived."""
        if cursor.target is not None:
            return cursor
        stands = self._stands()
        return None if stands in (None, cursor.base) else Cursor(cursor.base, stands)

    def _stands(self) -> CommitId | None:
        """The commit of whose tree the catalog knows everything."""
        commit = self._store.catalog.meta("commit")
        if self._authority.is_owner or not commit:
            return CommitId(commit) if commit else None
        folders = [Namespace(row.scope).folder for row in self._catalog.scopes()]
        paths = [f"{folder}/{part}" for folder in folders for part in ("events", "pages", "scope")]
        found = self._store.git.log(paths, limit=1) if paths else []
        return found[0].commit if found else None

    def _on(self, way: Cursor, limit: int) -> Iterator[FeedEntry]:
        """The next entries of a way, all if the limit is negative; the last one arrives."""
        rows = self._rows(way, limit)
        given = rows if limit < 0 else rows[:limit]
        for number, row in enumerate(given, 1):
            arrives = number == len(rows)
            at = Cursor(way.target) if arrives else replace(way, turn=row.turn, change=row.change)
            yield self._entry(row, at, str(way.target))

    def _rows(self, way: Cursor, limit: int) -> list[_Row]:
        """The changes of a way behind its position, in order; one more than the limit, if there
        are more."""
        with self._catalog.snapshot():
            among = None if way.base is None else self._added(way.base, way.target)
            without = self._added(way.target, self._stands()) | self._uncommitted()
            found = self._catalog.query(
                "SELECT turn, change_id, scope, page_id FROM change "
                "WHERE (turn, change_id) > (?, ?) "
                "AND (? OR change_id IN (SELECT value FROM json_each(?))) "
                "AND change_id NOT IN (SELECT value FROM json_each(?)) "
                "ORDER BY turn, change_id LIMIT ?",
                (
                    *(way.turn, way.change),
                    *(among is None, _json(among or ())),
                    *(_json(without), limit + 1 if limit >= 0 else -1),
                ),
            )
            return sorted([*map(_row, found), *self._damaged(way, among)])

    def _damaged(self, way: Cursor, among: Set[str] | None) -> Iterator[_Row]:
        """Changes of pages that the catalog had to leave out: git has them as they were."""
        for damage in self._catalog.damages():
            for entry in self._store.git.ls_tree(_known(way.target), damage.path):
                change = _change_of(entry.path)
                if change is None or not (among is None or change in among):
                    continue
                body = self._from_git(str(way.target), entry.path)
                row = _Row(body.at.microseconds, change, body.namespace, body.page)
                if (row.turn, row.change) > (way.turn, way.change):
                    yield row

    def _added(self, before: CommitId | None, after: CommitId | None) -> frozenset[str]:
        """The changes that one commit has and an earlier one lacks."""
        if before is None or after is None or before == after:
            return frozenset()
        try:
            changed = self._store.git.diff_tree(before, after)
        except PcpfsError as error:
            new = replaced(self._store.workshop, before)
            if new != before:
                return self._added(new, after)  # an erasure has rewritten what the cursor stands at
            raise NotFound(
                f"this cursor stands at {before[:12]}, which is not here: the history was "
                f"rewritten, or it is another store's; read from the beginning (--since {NOWHERE})"
            ) from error
        return frozenset(
            change for item in changed if item.status == "A" for change in self._in(item.path)
        )

    def _uncommitted(self) -> frozenset[str]:
        """Changes that were written and wait for their commit: they come with it."""
        intent = Intent.read(self._store.workshop)
        paths = intent.paths if intent else ()
        return frozenset(change for path in paths for change in self._in(path))

    def _in(self, path: str) -> Iterator[ChangeId]:
        """The changes that a file holds: one, or as many as a segment has events."""
        if layout.segment_of(path):
            rows = places_in(self._store.catalog, path)
            yield from (change_of(RevisionId(row.revision_id)) for row in rows)
        change = _change_of(path)
        if change is not None:
            yield change

    def _entry(self, row: _Row, cursor: Cursor, commit: str) -> FeedEntry:
        body = self._body(row, commit)
        page = self._catalog.page(row.page) if row.page else None
        named = next((event.path for event in body.events if isinstance(event, Named)), None)
        return FeedEntry(
            cursor=str(cursor),
            change_id=row.change,
            at=body.at,
            actor=str(body.actor),
            operation=body.operation,
            scope=row.namespace,
            page_id=row.page,
            revision_id=next((said[-1] for said in map(revisions_of, body.events) if said), None),
            path=page.path if page else named,
            events=tuple(event.type for event in body.events),
            after=body.after,
        )

    def _body(self, row: _Row, commit: str) -> Change:
        """The change from its file; from git where that was damaged since."""
        try:
            return self._store.objects.change(row.namespace, row.page, row.change)
        except (Corrupt, NotFound):
            return self._from_git(commit, layout.change_file(row.namespace, row.page, row.change))

    def _from_git(self, commit: str, path: str) -> Change:
        raw = next(self._store.git.show_blobs([f"{commit}:{path}"]), None)
        if raw is None:
            raise Corrupt(f"{path} is damaged, and git has it no more; see pcpfs fsck", path=path)
        return Change.decode(raw, path)


def _row(found: tuple[int, str, str, str | None]) -> _Row:
    turn, change, scope, page = found
    return _Row(turn, ChangeId(change), Namespace(scope), PageId(page) if page else None)


def _change_of(path: str) -> ChangeId | None:
    """The change whose file this is; None for every other file."""
    name = path.rpartition("/")[2].removesuffix(".json")
    if not name.startswith("chg_") or not (layout.page_of(path) or layout.scope_of(path)):
        return None
    return ChangeId(name) if ChangeId.pattern.fullmatch(name) else None


def _known(commit: CommitId | None) -> CommitId:
    assert commit is not None, "a way leads to a commit"
    return commit


def _json(items: Iterable[str]) -> str:
    return json.dumps(sorted(items))
