"""Reading the immutable files of a store, each checked against its name.

This is the oracle below the catalog: everything the catalog says can be derived from here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Container, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from pcpfs.disk import Disk
from pcpfs.errors import Corrupt, NotFound, PcpfsError
from pcpfs.model.changes import Change
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import SCOPE_FOLDERS, Namespace, is_scope_folder
from pcpfs.model.pages import Revision
from pcpfs.store import layout
from pcpfs.store.sightings import Sightings


class EventSource(Protocol):
    """Where the events of a store are found: they have no files of their own."""

    def revision(self, revision: RevisionId) -> Revision | None: ...

    def payload(self, namespace: Namespace, digest: Digest) -> bytes | None: ...

    def change(self, change: ChangeId) -> Change | None: ...

    def changes(self, page: PageId, known: Container[ChangeId]) -> Mapping[ChangeId, Change]: ...


class NoEvents:
    """The events of a store that has none."""

    def revision(self, revision: RevisionId) -> Revision | None:
        return None

    def payload(self, namespace: Namespace, digest: Digest) -> bytes | None:
        return None

    def change(self, change: ChangeId) -> Change | None:
        return None

    def changes(self, page: PageId, known: Container[ChangeId]) -> Mapping[ChangeId, Change]:
        return {}


class Objects:
    """The objects of one store. Paths are relative to it; a missing file is NotFound, one that is
    not what its name says is Corrupt."""

    def __init__(self, root: Path, disk: Disk, events: EventSource | None = None) -> None:
        self._root = os.fspath(root)
        self._disk = disk
        self._events = events or NoEvents()
        self.forget()

    def forget(self) -> None:
        """Keep nothing in memory of what was read."""
        self.revision: Callable[[Namespace, PageId, RevisionId], Revision] = lru_cache(20_000)(
            self._revision
        )
        self.sightings = Sightings(self)

    def read(self, path: str) -> bytes:
        """The bytes of any file of the store."""
        try:
            return self._disk.read(f"{self._root}/{path}")
        except FileNotFoundError as error:
            raise NotFound(f"{path} is missing from the store; run pcpfs fsck") from error

    def payload(self, namespace: Namespace, digest: Digest) -> bytes:
        path = layout.payload_file(namespace, digest)
        try:
            raw = self.read(path)
        except NotFound:
            inline = self._events.payload(namespace, digest)
            if inline is None:
                raise
            return inline
        if hashlib.sha256(raw).hexdigest() != digest.hex:
            raise Corrupt(f"{path} does not hold what its name says; run pcpfs fsck", path=path)
        return raw

    def change(self, namespace: Namespace, page: PageId | None, change: ChangeId) -> Change:
        path = layout.change_file(namespace, page, change)
        try:
            raw = self.read(path)
        except NotFound:
            event = self._events.change(change)
            if event is None:
                raise
            return event
        if ChangeId.of(raw) != change:
            raise Corrupt(f"{path} does not hold what its name says; run pcpfs fsck", path=path)
        return Change.decode(raw, path)

    def page_changes(
        self,
        namespace: Namespace,
        page: PageId,
        known: Mapping[ChangeId, Change] | None = None,
    ) -> dict[ChangeId, Change]:
        """All changes of a page that are at hand; empty if there is no such page. Those in
        `known` are not read again."""
        have = dict(known or {})
        for change in self._change_ids(layout.page_folder(namespace, page)):
            if change not in have:
                have[change] = self.change(namespace, page, change)
        have.update(self._events.changes(page, have))
        return have

    def count_changes(self, namespace: Namespace, page: PageId) -> int:
        """How many changes of a page have files, as far as names tell."""
        names = self._listed(layout.page_folder(namespace, page))
        return sum(name.startswith("chg_") for name in names)

    def erased(self, namespace: Namespace) -> frozenset[PageId]:
        """The pages of a scope that were erased: whatever else is found of them does not count."""
        names = self._names(f"{namespace.folder}/erased")
        stems = (name.removesuffix(".json") for name in names if name.endswith(".json"))
        return frozenset(PageId(stem) for stem in stems if PageId.pattern.fullmatch(stem))

    def keyed_page(self, namespace: Namespace, key: str) -> PageId:
        """The page that an idempotency key names now: after an erasure another one."""
        erased = 0
        while self.is_erased(namespace, page := PageId.keyed(namespace, key, erased)):
            erased += 1
        return page

    def is_erased(self, namespace: Namespace, page: PageId) -> bool:
        return os.path.lexists(f"{self._root}/{layout.receipt_file(namespace, page)}")

    def scope_changes(self, namespace: Namespace) -> dict[ChangeId, Change]:
        """All changes of a scope that are at hand; empty if there is no such scope."""
        folder = f"{namespace.folder}/scope"
        return {change: self.change(namespace, None, change) for change in self._change_ids(folder)}

    def readable_scope_changes(
        self, namespace: Namespace
    ) -> tuple[dict[ChangeId, Change], list[tuple[str, str]]]:
        """The changes of a scope that can be read, and path and trouble of those that cannot."""
        changes: dict[ChangeId, Change] = {}
        trouble: list[tuple[str, str]] = []
        for change in self._change_ids(f"{namespace.folder}/scope"):
            try:
                changes[change] = self.change(namespace, None, change)
            except PcpfsError as error:
                trouble.append((layout.change_file(namespace, None, change), error.message))
        return changes, trouble

    def scopes(self) -> Iterator[Namespace]:
        """All scopes, sorted by folder: those with changes of their own or with pages."""
        yield from self._scopes_below(layout.SCOPES)

    def pages(self, namespace: Namespace) -> Iterator[PageId]:
        """All pages of a scope, in order of their shards."""
        base = f"{namespace.folder}/pages"
        for first in self._names(base):
            for second in self._names(f"{base}/{first}"):
                for page in self._names(f"{base}/{first}/{second}"):
                    if PageId.pattern.fullmatch(page):
                        yield PageId(page)

    def segments(self, namespace: Namespace) -> Iterator[str]:
        """The paths of all segments of events of a scope, sorted."""
        base = f"{namespace.folder}/events"
        for first in self._names(base):
            for second in self._names(f"{base}/{first}"):
                for name in self._names(f"{base}/{first}/{second}"):
                    path = f"{base}/{first}/{second}/{name}"
                    if layout.segment_of(path):
                        yield path

    def _revision(self, namespace: Namespace, page: PageId, revision: RevisionId) -> Revision:
        path = layout.revision_file(namespace, page, revision)
        try:
            raw = self.read(path)
        except NotFound:
            event = self._events.revision(revision)
            if event is None:
                raise
            return event
        if RevisionId.of(raw) != revision:
            raise Corrupt(f"{path} does not hold what its name says; run pcpfs fsck", path=path)
        return Revision.decode(raw, path)

    def _scopes_below(self, folder: str) -> Iterator[Namespace]:
        names = self._names(folder)
        if folder != layout.SCOPES and {"scope", "pages", "events"} & set(names):
            yield layout.namespace_of(folder)
        for name in names:
            if name not in SCOPE_FOLDERS and is_scope_folder(name):
                yield from self._scopes_below(f"{folder}/{name}")

    def _change_ids(self, folder: str) -> list[ChangeId]:
        return [
            ChangeId(name[:-5])
            for name in self._names(folder)
            if name.endswith(".json") and ChangeId.pattern.fullmatch(name[:-5])
        ]

    def _names(self, folder: str) -> list[str]:
        return sorted(self._listed(folder))

    def _listed(self, folder: str) -> list[str]:
        try:
            return os.listdir(f"{self._root}/{folder}")
        except (FileNotFoundError, NotADirectoryError):
            return []
