"""The frames of a source page: what adapters saw in its observations, as rows of the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from pcpfs.model.branches import Version
from pcpfs.model.frames import FILE_KIND, Extraction, Frame, file_frame, frame_ids
from pcpfs.model.ids import Digest, FrameId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import escaped
from pcpfs.model.pages import Payload, Revision
from pcpfs.store.catalogs.document_keys import document_key
from pcpfs.store.catalogs.rows import BesideFrameRow, FrameRow, ImportRow
from pcpfs.store.folding.fold import PageState
from pcpfs.store.folding.timeline import Aside, Observation, runs
from pcpfs.store.sightings import Sighting

_Seen = Observation | Version


class Bodies(NamedTuple):
    """How to get what the changes only name."""

    revision: Callable[[RevisionId], Revision]
    extraction: Callable[[Sighting], Extraction]
    payload: Callable[[Digest], bytes]


class SeenFrames:
    """What the adapters saw in the observations of one source page."""

    def __init__(self, state: PageState, bodies: Bodies, path: str) -> None:
        self._state = state
        self._bodies = bodies
        self._name = escaped(path.rpartition("/")[2])
        self._frames: dict[tuple[RevisionId, str], dict[FrameId, Frame]] = {}
        self._extractions: dict[tuple[RevisionId, str], Extraction] = {}

    def payload(self, version: _Seen) -> Payload:
        payload = self._bodies.revision(version.revision).payload
        assert payload is not None, "a source revision has a payload"
        return payload

    def extraction(self, version: _Seen) -> Extraction:
        key = (version.revision, version.adapter)
        if key not in self._extractions:
            change = version.change if isinstance(version, Observation) else None
            sighting = Sighting(self.payload(version).ref, version.adapter, key[0], change)
            self._extractions[key] = self._bodies.extraction(sighting)
        return self._extractions[key]

    def import_rows(self) -> tuple[ImportRow, ...]:
        """What the observations import, each revision once for each adapter that saw it."""
        found = {(o.revision, o.adapter): self.extraction(o).imports for o in self._state.timeline}
        return tuple(
            ImportRow(self._state.page, revision, adapter, _json(imports))
            for (revision, adapter), imports in found.items()
            if imports
        )

    def frames(self, version: _Seen) -> dict[FrameId, Frame]:
        """The frames of some bytes as an adapter saw them by id, the whole file first."""
        key = (version.revision, version.adapter)
        if key not in self._frames:
            payload = self.payload(version)
            extraction = self.extraction(version)
            page = self._state.page
            whole = file_frame(page, self._name, payload.ref, payload.size, extraction.line_count)
            frames = (whole, *frame_ids(page, extraction.symbols))
            self._frames[key] = {frame.frame_id: frame for frame in frames}
        return self._frames[key]

    def frame_rows(self) -> tuple[FrameRow, ...]:
        timeline = self._state.timeline
        found = runs(
            timeline,
            lambda o: {f: frame.symbol.digest for f, frame in self.frames(o).items()},
            self._state.earlier.runs if self._state.earlier else (),
        )
        rows = []
        for run in found:
            last = timeline[run.last]
            frame = self.frames(last)[run.frame]
            is_file = frame.symbol.kind == FILE_KIND
            key = None if is_file else self._document_key(last, frame)
            rows.append(self._frame_row(last, frame, run.valid_from, run.valid_to, key))
        return (*rows, *self._seen_otherwise())

    def beside_rows(self) -> tuple[BesideFrameRow, ...]:
        """The symbols that commits beside the line opened, changed and closed."""
        return tuple(row for aside in self._state.asides for row in self._beside(aside))

    def _beside(self, aside: Aside) -> Iterator[BesideFrameRow]:
        was, now = aside.event.was, aside.event.now
        before = self.frames(was) if was else {}
        after = self.frames(now) if now else {}
        for frame_id in dict.fromkeys((*after, *before)):
            old, new = before.get(frame_id), after.get(frame_id)
            if old and new:
                if old.symbol.digest == new.symbol.digest:
                    continue
                event = "changed"
            else:
                event = "opened" if new else "closed"
            frame, version = (new, now) if new else (old, was)
            assert frame is not None, "it was before or is after"
            assert version is not None, "it is in one of the versions"
            symbol = frame.symbol
            if symbol.kind != FILE_KIND:
                yield BesideFrameRow(
                    self._state.page,
                    aside.place,
                    frame_id,
                    event,
                    version.revision,
                    symbol.digest,
                    symbol.kind,
                    symbol.name,
                    symbol.qualified_name,
                    symbol.signature,
                    *symbol.lines,
                    *symbol.bytes,
                )

    def _seen_otherwise(self) -> Iterator[FrameRow]:
        """Frames as an older adapter saw them in the same bytes: they hold for no time, but what
        cites them still means the same (CASES)."""
        for before, after in pairwise(self._state.timeline):
            same = (before.revision, before.valid_from) == (after.revision, after.valid_from)
            if same and before.adapter != after.adapter:
                now = {(f, frame.symbol.digest) for f, frame in self.frames(after).items()}
                for frame_id, frame in self.frames(before).items():
                    if (frame_id, frame.symbol.digest) not in now:
                        start = before.valid_from
                        yield self._frame_row(before, frame, start, start)

    def _frame_row(
        self,
        seen: Observation,
        frame: Frame,
        valid_from: Instant,
        valid_to: Instant | None,
        doc_key: str | None = None,
    ) -> FrameRow:
        symbol = frame.symbol
        doc_a, doc_b = symbol.doc_bytes or (None, None)
        return FrameRow(
            frame.frame_id,
            symbol.digest,
            self._state.page,
            seen.revision,
            valid_from.microseconds,
            None if valid_to is None else valid_to.microseconds,
            symbol.kind,
            symbol.name,
            symbol.qualified_name,
            symbol.signature,
            symbol.doc,
            *symbol.lines,
            *symbol.bytes,
            doc_a,
            doc_b,
            doc_key,
        )

    def _document_key(self, observation: Observation, frame: Frame) -> str:
        symbol = frame.symbol
        a, b = symbol.doc_bytes or symbol.bytes
        is_outside = not (symbol.bytes[0] <= a and b <= symbol.bytes[1])
        outside = b""
        if is_outside and observation.revision not in self._state.thinned:
            outside = self._bodies.payload(self.payload(observation).ref)[a:b]
        return document_key(
            frame.frame_id,
            symbol.digest,
            symbol.signature,
            symbol.doc,
            outside=outside,
            is_generated=self.extraction(observation).generated,
        )


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
