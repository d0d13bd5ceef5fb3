"""The files of two stores as one, while the one takes over from the other."""

from __future__ import annotations

from collections.abc import Collection

from pcpfs.errors import Corrupt
from pcpfs.model.changes import Change
from pcpfs.model.ids import ChangeId, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Revision
from pcpfs.store import layout
from pcpfs.store.exchanges.foreign_files import Files
from pcpfs.store.folding.kinds import fits
from pcpfs.store.objects import Objects


class BothFiles:
    """What the other store has of the paths `known`, else what this one has."""

    def __init__(self, files: Files, known: Collection[str], objects: Objects) -> None:
        self._files = files
        self._known = known
        self._objects = objects

    def read(self, path: str) -> bytes:
        return self._files.read(path) if path in self._known else self._objects.read(path)

    def change(self, namespace: Namespace, page: PageId, change: ChangeId) -> Change:
        path = layout.change_file(namespace, page, change)
        if path not in self._known:
            return self._objects.change(namespace, page, change)
        return Change.decode(self._checked(path), path)

    def revision(self, namespace: Namespace, page: PageId, revision: RevisionId) -> Revision:
        path = layout.revision_file(namespace, page, revision)
        if path not in self._known:
            return self._objects.revision(namespace, page, revision)
        return Revision.decode(self._checked(path), path)

    def _checked(self, path: str) -> bytes:
        raw = self._files.read(path)
        if not fits(path, raw):
            raise Corrupt(f"{path} does not hold what its name says", path=path)
        return raw
