"""Writing what commits beside the line did to the pages of their paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pcpfs.git import ObjectId
from pcpfs.model.branches import Beside, Version
from pcpfs.model.changes import Event
from pcpfs.model.ids import RevisionId
from pcpfs.sources.past_apply import PastApplier, Writing
from pcpfs.sources.past_plan import Contents, Held, Told
from pcpfs.store import layout


@dataclass(slots=True)
class BesideApplier(PastApplier):
    """As what the line says is written; of each path also what was there before, so that what a
    commit did can be told whatever else is recorded. Nothing is observed or closed by it."""

    told: int = 0

    def _blobs(self, page: Writing) -> Iterator[ObjectId]:
        return (blob for one in page.said for blob in (one.was, one.blob) if blob)

    def _is_known(self, page: Writing, blob: ObjectId, content: bytes, contents: Contents) -> bool:
        held, adapter = contents.get(blob), self._adapter(page.path, content)
        if not isinstance(held, Held):
            return False
        body = self._body(page, held, f"{adapter.name}-{adapter.version}")
        revision = RevisionId.of(body.encode())
        rows = self.catalog.query(
            "SELECT adapter FROM span WHERE revision_id = ?1 AND adapter IS NOT NULL UNION ALL "
            "SELECT adapter FROM beside WHERE revision_id = ?1 LIMIT 1",
            (revision,),
        )
        for (tag,) in rows:  # a difference from another version is none that branches can name
            file = layout.frames_file(self.root.namespace, held.digest, tag)
            if (self.transaction.shop.root / file).is_file():
                self._known[page.page, blob] = Version(revision, tag)
        return (page.page, blob) in self._known

    def _events(self, page: Writing, versions: Mapping[ObjectId, Version]) -> Iterator[Event]:
        for one in page.said:
            was = versions.get(one.was) if one.was else None
            now = versions.get(one.blob) if one.blob else None
            if was or now:
                self.told += 1
                yield self._beside(one, was, now)

    def _beside(self, one: Told, was: Version | None, now: Version | None) -> Beside:
        to = self._page_of(one.moved_to) if one.moved_to else None
        of = self._page_of(one.moved_from) if one.moved_from else None
        step, reason = one.step, None if now else one.reason
        return Beside(step.commit, step.author, step.at, was, now, reason, to, of)
