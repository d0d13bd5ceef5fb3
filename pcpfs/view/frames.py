"""`/frames/<frame_id>.json`: every frame that holds, as it is served."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pcpfs.errors import NotFound
from pcpfs.model.ids import FrameId
from pcpfs.model.instants import Instant
from pcpfs.store.catalogs.pinned import holds
from pcpfs.store.catalogs.rows import FrameRow
from pcpfs.view.nodes import Directory, Entry, Node, in_batches
from pcpfs.view.place import Vantage, made

_ENDING = ".json"


def frames(here: Vantage) -> Directory:
    condition, values = holds(here.pins, "frame")

    def rows(start: str, count: int) -> Sequence[FrameRow]:
        found = here.catalog.query(
            f"SELECT *, max(valid_from) FROM frame WHERE frame_id >= ? AND {condition} "
            "GROUP BY frame_id ORDER BY frame_id LIMIT ?",
            (start, *values, count),
        )
        return [FrameRow(*row[:-1]) for row in found]

    def entries(start: str) -> Iterator[Entry]:
        for row in in_batches(rows, lambda row: f"{row.frame_id}\0", start):
            held = here.held(row.page_id)
            if held is not None:
                page, span = held
                view = partial(here.reader.frame_view, row, page)
                file = made(Instant(max(row.valid_from, span.valid_from)), view)
                yield Entry(f"{row.frame_id}\0", row.frame_id + _ENDING, file)

    def find(name: str) -> Node | None:
        """Also one that has closed."""
        frame_id = name.removesuffix(_ENDING)
        if not (name.endswith(_ENDING) and FrameId.pattern.fullmatch(frame_id)):
            return None
        try:
            frame = here.reader.frame(frame_id)
        except NotFound:
            return None
        span = here.effective(frame.page_id)
        since = frame.valid_from.microseconds
        return made(Instant(max(since, span.valid_from if span else since)), lambda: frame)

    return Directory(entries, find)
