"""What adapters saw in the observations of source pages: the one place that reads it.

It lies in the frames file of the payload, or else in the `observed` event, as the difference from
what was seen in an earlier observation of the same page; at most `MOST_STEPS` lead to a file.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple, Protocol, Self

from pcpfs.errors import Corrupt, NotFound, PcpfsError
from pcpfs.model.changes import Change, Observed
from pcpfs.model.codec import canonical
from pcpfs.model.frame_differences import Base, Difference
from pcpfs.model.frames import Extraction
from pcpfs.model.ids import ChangeId, Digest, PageId, RevisionId
from pcpfs.model.names import Namespace
from pcpfs.model.pages import Revision
from pcpfs.store import layout
from pcpfs.store.catalogs.rows import SpanRow

MOST_STEPS = 64
"""So many differences one after the other a writer makes; then there is a frames file again."""
_MOST_READ = 4096
_WORTH_IT = 2
"""A difference is at most one such part of the file in whose place it stands."""
_HELD_SYMBOLS = 20_000


class Sighting(NamedTuple):
    """One observation of a page, by what is needed to find what was seen: its payload, the tag of
    the adapter, and the revision and change that tell of it; None is the change in the making."""

    payload: Digest
    adapter: str
    revision: RevisionId
    change: ChangeId | None

    @classmethod
    def of_span(cls, span: SpanRow, payload: Digest) -> Self:
        """The observation that begins a span of a source page."""
        change = ChangeId(span.change_id)
        return cls(payload, span.adapter or "", RevisionId(span.revision_id), change)

    @property
    def base(self) -> Base:
        return Base(self.revision, self.change)


class Sight(NamedTuple):
    """What was seen, and how many differences led to it."""

    extraction: Extraction
    steps: int = 0


class Files(Protocol):
    """Where the files are. NotFound for what is missing, Corrupt for what is not what it says."""

    def read(self, path: str) -> bytes: ...

    def change(self, namespace: Namespace, page: PageId, change: ChangeId) -> Change: ...

    def revision(self, namespace: Namespace, page: PageId, revision: RevisionId) -> Revision: ...


class Sightings:
    """What was seen in the observations of a store; what was read last is kept in memory."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._held: OrderedDict[tuple[PageId, Digest, str], Sight] = OrderedDict()
        self._symbols = 0

    def seen(self, namespace: Namespace, page: PageId, sighting: Sighting) -> Sight:
        """What an adapter saw in an observation. NotFound if it is nowhere, Corrupt if it, or what
        it starts from, is not what was written."""
        waiting: list[tuple[Sighting, Difference]] = []
        found = self._whole(namespace, page, sighting)
        while found is None:
            difference = self._difference(namespace, page, sighting)
            waiting.append((sighting, difference))
            if len(waiting) > _MOST_READ:
                raise Corrupt(f"the frames of {page} start from too many others", page=page)
            sighting = self._start(namespace, page, sighting, difference.base)
            found = self._whole(namespace, page, sighting)
        while waiting:
            sighting, difference = waiting.pop()
            what = f"{sighting.change} of {page}"
            extraction = difference.applied(found.extraction, what)
            found = Sight(extraction, found.steps + 1)
            self.keep(page, sighting.payload, found)
        return found

    def of_span(self, scope: str, span: SpanRow, payload: Digest) -> Extraction:
        """What was seen in an observation that the catalog knows, of this payload."""
        sighting = Sighting.of_span(span, payload)
        return self.seen(Namespace(scope), PageId(span.page_id), sighting).extraction

    def told(
        self,
        namespace: Namespace,
        page: PageId,
        before: Sighting | None,
        now: Extraction,
        raw: bytes,
    ) -> tuple[Difference | None, int]:
        """How what is seen `now`, of which `raw` would be the frames file, differs from what was
        seen before of the same page, and in how many steps that leads to a file; None where such a
        file is better."""
        if before is None or before.adapter != now.adapter_tag:
            return None, 0
        try:
            was = self.seen(namespace, page, before)
        except PcpfsError:
            return None, 0  # fsck tells what is the matter there
        found = Difference.between(before.base, was.extraction, now, Digest.of(raw))
        is_worth_it = len(canonical(found.to_json())) * _WORTH_IT <= len(raw)
        return (found, was.steps + 1) if is_worth_it and was.steps < MOST_STEPS else (None, 0)

    def keep(self, page: PageId, payload: Digest, seen: Sight) -> None:
        """Have it at hand when the next version is told by its difference."""
        key = (page, payload, seen.extraction.adapter_tag)
        old = self._held.pop(key, None)
        self._held[key] = seen
        self._symbols += len(seen.extraction.symbols) - (len(old.extraction.symbols) if old else 0)
        while self._symbols > _HELD_SYMBOLS and len(self._held) > 1:
            _, gone = self._held.popitem(last=False)
            self._symbols -= len(gone.extraction.symbols)

    def _whole(self, namespace: Namespace, page: PageId, sighting: Sighting) -> Sight | None:
        """As it is in memory, or in a frames file."""
        key = (page, sighting.payload, sighting.adapter)
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        path = layout.frames_file(namespace, sighting.payload, sighting.adapter)
        try:
            seen = Sight(Extraction.decode(self._files.read(path), path))
        except NotFound:
            return None
        self.keep(page, sighting.payload, seen)
        return seen

    def _difference(self, namespace: Namespace, page: PageId, sighting: Sighting) -> Difference:
        wanted = (sighting.revision, sighting.adapter)
        if sighting.change is not None:
            events = self._files.change(namespace, page, sighting.change).events
            for event in (event for event in events if isinstance(event, Observed)):
                if event.difference is not None and (event.revision, event.adapter) == wanted:
                    return event.difference
        path = layout.frames_file(namespace, sighting.payload, sighting.adapter)
        raise NotFound(f"{path} is missing from the store; run pcpfs fsck", path=path)

    def _start(
        self, namespace: Namespace, page: PageId, sighting: Sighting, base: Base
    ) -> Sighting:
        payload = self._files.revision(namespace, page, base.revision).payload
        if payload is None or base in ((sighting.revision, None), sighting.base):
            raise Corrupt(f"the frames of {sighting.revision} start from nothing", page=page)
        return Sighting(
            payload.ref, sighting.adapter, base.revision, base.change or sighting.change
        )
