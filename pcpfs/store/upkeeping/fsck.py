"""Checks that a store is what it says: names equal digests, changes fold, caches agree.

A check is a function that yields problems; each sees the store alone, so one that finds something
hides nothing from the others.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from pcpfs.errors import Corrupt, NotFound, PcpfsError
from pcpfs.model.answers import Problem
from pcpfs.model.branches import Version
from pcpfs.model.changes import Event, Linked, Observed
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.versions import revisions_of, versions_of
from pcpfs.ports import Progress
from pcpfs.store import layout
from pcpfs.store.catalogs.catalog import Catalog
from pcpfs.store.catalogs.catalog_differences import differences
from pcpfs.store.catalogs.refresh import rebuild
from pcpfs.store.events.event_lines import EventLines
from pcpfs.store.events.event_segments import Segment
from pcpfs.store.folding.thinned import is_thinned
from pcpfs.store.objects import Objects
from pcpfs.store.session import Session
from pcpfs.store.sightings import Sighting, Sightings
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.checks import other_checks


@dataclass(frozen=True, slots=True)
class FsckReport:
    """`checked` counts files; a store is ok if there are no problems. `dangling` are relations to
    pages that are not here, which is no damage: they may be of a scope that was not exported, of
    sources that another clone keeps to itself, or erased where this store comes from."""

    ok: bool
    checked: int
    problems: tuple[Problem, ...]
    dangling: tuple[Problem, ...] = ()


def fsck(store: Store, progress: Progress | None = None) -> FsckReport:
    """Run every check over every file. Reads all; changes nothing."""
    checker = _Checker(store, progress)
    found = {problem for check in checker.checks() for problem in _guarded(check)}
    problems, dangling = (
        tuple(sorted((p for p in found if (p.code == _DANGLING) is wanted), key=_order))
        for wanted in (False, True)
    )
    return FsckReport(not problems, checker.checked, problems, dangling)


_DANGLING = "relation"
_LAST = ("altered", "uncommitted", "index", "catalog")
"""What git knows, and what is only derived, after the damage that it follows from."""


def _order(problem: Problem) -> tuple[int, str, str, str]:
    late = _LAST.index(problem.code) + 1 if problem.code in _LAST else 0
    return late, problem.path, problem.code, problem.message


class _Checker:
    def __init__(self, store: Store, progress: Progress | None) -> None:
        self._store = store
        self._progress = progress
        self._sightings = Sightings(store.objects)
        self.checked = 0

    def checks(self) -> tuple[Callable[[], Iterator[Problem]], ...]:
        return (
            self.refresh,
            partial(other_checks, self._store),
            self.objects,
            self.pages,
            self.scopes,
            self.events,
            self.catalog,
            self.text_index,
            self.committed,
            self.damaged,
        )

    def refresh(self) -> Iterator[Problem]:
        """The catalog can follow the files."""
        self._store.refresh()
        return iter(())

    def objects(self) -> Iterator[Problem]:
        """Payloads have the sha256 that names them; frames files can be read and lie by their
        payload."""
        for namespace in self._store.objects.scopes():
            for path in self._files(f"{namespace.folder}/payloads"):
                yield from self._payload(path)
            for path in self._files(f"{namespace.folder}/frames"):
                yield from self._frames(namespace, path)

    def pages(self) -> Iterator[Problem]:
        """Changes and revisions are what their names say; what they name is there."""
        for namespace in self._store.objects.scopes():
            for page in self._store.objects.pages(namespace):
                yield from self._page(namespace, page)

    def scopes(self) -> Iterator[Problem]:
        """The changes of each scope itself."""
        for namespace in self._store.objects.scopes():
            for path in self._files(f"{namespace.folder}/scope"):
                name = path.rpartition("/")[2].removesuffix(".json")
                yield from self._tried(path, partial(self._change, namespace, None, name))

    def events(self) -> Iterator[Problem]:
        """Segments have the sha256 that names them, and each of their lines can be read."""
        for namespace in self._store.objects.scopes():
            for path in self._files(f"{namespace.folder}/events"):
                yield from self._tried(path, partial(self._segment, namespace, path))

    def catalog(self) -> Iterator[Problem]:
        """A catalog built from the files alone says the same."""
        shop = self._store.workshop
        with TemporaryDirectory() as folder:
            fresh = Catalog.create(Path(folder, "catalog.sqlite"))
            try:
                objects = Objects(shop.root, shop.disk, EventLines(shop.root, lambda: fresh))
                rebuild(replace(shop, catalog=fresh, objects=objects), None)
                yield from differences(self._store.catalog, fresh)
            finally:
                fresh.close()

    def text_index(self) -> Iterator[Problem]:
        """The text indexes, with what waits for them, hold exactly the documents of the catalog."""
        session = Session(self._store, self._store.owner)
        try:
            for row in self._store.catalog.scopes():
                for past in (0, 1):
                    if session.indexed_keys(row.scope, past) != self._document_keys(
                        row.scope, past
                    ):
                        message = f"the text index of {row.scope} is wrong; run pcpfs reindex"
                        yield Problem("index", row.scope, message)
        finally:
            session.close()

    def _document_keys(self, scope: str, past: int) -> set[str]:
        rows = self._store.catalog.query(
            "SELECT key FROM document WHERE scope = ? AND past = ?", (scope, past)
        )
        return {key for (key,) in rows}

    def committed(self) -> Iterator[Problem]:
        """Work tree and git's HEAD hold the same files of the truth, byte for byte."""
        head = self._store.git.head()
        blobs = {e.path: e.blob for e in self._store.git.ls_tree(head)} if head else {}
        there = set()
        for path in self._files(layout.SCOPES):
            if path.partition("/tree/")[1] or path.rpartition("/")[2].startswith("."):
                continue
            there.add(path)
            if path not in blobs:
                if not self._is_going(path):
                    yield Problem("uncommitted", path, f"{path} is in no commit; run pcpfs sync")
            elif _blob(self._store.path / path, len(blobs[path])) != blobs[path]:
                yield Problem("altered", path, f"{path} is not what was committed; git restore it")
        for path in sorted(blobs.keys() - there):
            if path.startswith(layout.SCOPES + "/") and "/tree/" not in path:
                yield Problem("missing", path, f"{path} is missing; git restore it")

    def _is_going(self, path: str) -> bool:
        """Whether it is a payload that thinning took out of git's HEAD, and did not get to remove:
        the next one does."""
        found = layout.payload_of(path)
        return found is not None and is_thinned(self._store.catalog, *found)

    def damaged(self) -> Iterator[Problem]:
        """What the catalog had to leave out."""
        for damage in self._store.catalog.damages():
            yield Problem("damaged", damage.path, damage.message)

    def _page(self, namespace: Namespace, page: PageId) -> Iterator[Problem]:
        folder = layout.page_folder(namespace, page)
        for path in sorted(self._files(folder), key=self._turn(page)):
            name = path.rpartition("/")[2].removesuffix(".json")
            if name.startswith("rev_"):
                yield from self._tried(path, partial(self._revision, namespace, page, name))
            elif name.startswith("chg_"):
                yield from self._tried(path, partial(self._change, namespace, page, name))
            else:
                yield Problem("stray", path, f"{path} is no file of a page; move it away")
        row = self._store.catalog.page(page)
        if row is not None and row.incomplete:
            yield Problem(
                "incomplete", folder, f"{folder} lacks changes that others come after; pull again"
            )

    def _turn(self, page: PageId) -> Callable[[str], int]:
        """Changes come in their order: what one tells by its difference was looked at just now."""
        order = "SELECT change_id FROM change WHERE page_id = ? ORDER BY turn, change_id"
        rows = self._store.catalog.query(order, (page,))
        turns = {f"{change}.json": turn for turn, (change,) in enumerate(rows)}
        return lambda path: turns.get(path.rpartition("/")[2], -1)

    def _revision(self, namespace: Namespace, page: PageId, name: str) -> Iterator[Problem]:
        path = f"{layout.page_folder(namespace, page)}/{name}.json"
        if RevisionId.of(self._store.objects.read(path)) != name:
            raise Corrupt(f"{path} does not hold what its name says")
        body = self._store.objects.revision(namespace, page, RevisionId(name))
        if body.page != page or body.namespace != namespace:
            yield Problem("misplaced", path, f"{path} belongs to page {body.page}")
        if body.payload is not None:
            where = layout.payload_file(namespace, body.payload.ref)
            size = _size(self._store.path / where)
            if size is None and is_thinned(self._store.catalog, namespace, body.payload.ref):
                return
            if size != body.payload.size:
                there = "missing" if size is None else f"{size} bytes long"
                yield Problem("payload", where, f"{where}, which {path} names, is {there}")

    def _change(self, namespace: Namespace, page: PageId | None, name: str) -> Iterator[Problem]:
        change = self._store.objects.change(namespace, page, ChangeId(name))
        path = layout.change_file(namespace, page, ChangeId(name))
        if change.page != page or change.namespace != namespace:
            yield Problem("misplaced", path, f"{path} belongs to page {change.page}")
        for event in change.events:
            if page is not None:
                yield from self._event(namespace, page, ChangeId(name), event, path)
        linked = [event for event in change.events if isinstance(event, Linked)]
        for event in linked:
            far = event.relation.to_page
            if self._store.catalog.page(far) is None and not self._store.catalog.is_erased(far):
                message = f"{path} relates to page {far}, which is not here"
                yield Problem(_DANGLING, path, message)

    def _event(
        self, namespace: Namespace, page: PageId, change: ChangeId, event: Event, path: str
    ) -> Iterator[Problem]:
        for revision in revisions_of(event):
            where = layout.revision_file(namespace, page, revision)
            if not (self._store.path / where).exists():
                yield Problem("revision", where, f"{where}, which {path} names, is missing")
        is_told = isinstance(event, Observed) and event.difference is not None
        for version in versions_of(event):
            yield from self._seen(namespace, page, version, change if is_told else None, path)

    def _seen(
        self, namespace: Namespace, page: PageId, seen: Version, change: ChangeId | None, path: str
    ) -> Iterator[Problem]:
        """What an adapter saw lies in a file, else the change tells of it."""
        try:
            body = self._store.objects.revision(namespace, page, seen.revision)
        except PcpfsError:
            return  # named by the revision's own check
        if body.payload is None:
            return
        where = layout.frames_file(namespace, body.payload.ref, seen.adapter)
        if (self._store.path / where).exists():
            return  # it has a check of its own
        if change is None:
            yield Problem("frames", where, f"{where} is missing; run pcpfs reindex --extract")
            return
        sighting = Sighting(body.payload.ref, seen.adapter, seen.revision, change)
        found = self._sightings.seen(namespace, page, sighting).extraction
        self._match(namespace, body.payload.ref, found, path)

    def _match(self, namespace: Namespace, digest: Digest, seen: Extraction, path: str) -> None:
        """Corrupt if the symbols that a file tells of are not those of the payload, where that was
        not thinned out."""
        where = self._store.path / layout.payload_file(namespace, digest)
        if not where.exists() and is_thinned(self._store.catalog, namespace, digest):
            return
        source = self._store.objects.payload(namespace, digest)
        for symbol in seen.symbols:
            if Digest.of(source[slice(*symbol.bytes)]) != symbol.digest:
                raise Corrupt(f"{path}: {symbol.qualified_name} does not match its source")

    def _segment(self, namespace: Namespace, path: str) -> Iterator[Problem]:
        if layout.segment_of(path) is None:
            yield Problem("stray", path, f"{path} is no segment of events; move it away")
            return
        found = Segment.read(path, namespace, self._store.objects.read(path))
        yield from (Problem("corrupt", path, trouble.message) for trouble in found.troubles)
        for line, _, _ in found.lines:
            payload = line.revision.payload
            if payload is not None and line.content is None:
                self._store.objects.payload(namespace, payload.ref)

    def _payload(self, path: str) -> Iterator[Problem]:
        def check() -> Iterator[Problem]:
            raw = self._store.objects.read(path)
            if hashlib.sha256(raw).hexdigest() != path.rpartition("/")[2]:
                raise Corrupt(f"{path} does not have the sha256 that names it")
            return iter(())

        yield from self._tried(path, check)

    def _frames(self, namespace: Namespace, path: str) -> Iterator[Problem]:
        def check() -> Iterator[Problem]:
            raw = self._store.objects.read(path)
            seen = Extraction.decode(raw, path)
            digest = Digest("sha256:" + path.rpartition("/")[2].split(".")[0])
            if raw != seen.encode():
                raise Corrupt(f"{path} is not in canonical form")
            self._match(namespace, digest, seen, path)
            return iter(())

        yield from self._tried(path, check)

    def _tried(self, path: str, check: Callable[[], Iterator[Problem]]) -> Iterator[Problem]:
        self.checked += 1
        if self._progress is not None and self.checked % 1000 == 0:
            self._progress.step("checking files", self.checked, 0)
        try:
            yield from check()
        except Corrupt as error:
            yield Problem("corrupt", path, error.message)
        except NotFound as error:
            yield Problem("missing", path, error.message)
        except PcpfsError as error:
            yield Problem(error.code, path, error.message)

    def _files(self, folder: str) -> Iterator[str]:
        base = self._store.path
        for place, folders, names in os.walk(base / folder):
            folders.sort()
            for name in sorted(names):
                yield os.path.relpath(os.path.join(place, name), base).replace(os.sep, "/")


def _guarded(check: Callable[[], Iterator[Problem]]) -> Iterator[Problem]:
    """What a check finds; if it cannot go on, that as well."""
    try:
        yield from check()
    except PcpfsError as error:
        path = str(error.fields.get("path", ""))
        yield Problem(error.code, path, error.message)


def _blob(path: Path, digits: int) -> str | None:
    """The name that git gives these bytes, in its old hash or the new one."""
    try:
        raw = path.read_bytes()
    except OSError:
        return None
    name = "sha1" if digits == 40 else "sha256"
    return hashlib.new(name, b"blob %d\0" % len(raw) + raw).hexdigest()


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return None
