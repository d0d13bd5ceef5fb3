"""The parts in which a page or a symbol can be read (PCP ReadPages)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from pcpfs.cli.call import as_member
from pcpfs.cli.shown import frame_lines, page_lines
from pcpfs.errors import Unavailable, UsageError
from pcpfs.model.answers import plain
from pcpfs.model.names import source_ref

if TYPE_CHECKING:
    from pcpfs.model.answers import FrameView, Manifest, Pins, RelationView
    from pcpfs.store.session import Session

Item = TypeVar("Item")
PROJECTIONS = ("manifest", "payload", "source_spans", "relations", "facets", "history")


class Subject:
    """What `show` shows: a page at a revision, or one symbol, as the pins see it."""

    def __init__(
        self,
        session: Session,
        given: str,
        pins: Pins,
        *,
        limit: int = 200,
        cursor: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        self._session = session
        self._part: dict[str, Any] = {"limit": limit, "cursor": cursor}
        self._span = span
        self._pins = pins
        self._given = given
        self.is_frame = session.resolve(given, pins).frame is not None

    @cached_property
    def manifest(self) -> Manifest:
        return self._session.manifest(self._given, self._pins)

    @cached_property
    def frame(self) -> FrameView:
        return self._session.frame(self._given, self._pins)

    @cached_property
    def content(self) -> bytes:
        """The payload of the revision that the manifest names, or exactly the symbol."""
        shown = self.frame if self.is_frame else self.manifest
        payload = self._session.payload(f"{shown.page_id}@{shown.revision_id}", self._pins)
        whole = payload[slice(*self.frame.bytes)] if self.is_frame else payload
        return whole if self._span is None else whole[slice(*self._span)]

    @property
    def content_if_held(self) -> bytes | None:
        """None where the bytes are no longer kept."""
        try:
            return self.content
        except Unavailable:
            return None

    def lines(self) -> Iterator[str]:
        """The whole for people."""
        if self.is_frame:
            return frame_lines(self.frame, self.content)
        return page_lines(self.manifest, self.content_if_held)

    def document(self, projection: str | None) -> dict[str, object]:
        """The JSON of one projection, with the ids that it belongs to; without one, the manifest,
        or the symbol with its text."""
        if self.is_frame:
            return self._frame_document(projection)
        if projection in (None, "manifest"):
            return _members(self.manifest)
        ids = {"page_id": self.manifest.page_id, "revision_id": self.manifest.revision_id}
        return {**ids, **self._projected(projection)}

    def _frame_document(self, projection: str | None) -> dict[str, object]:
        if projection == "manifest":
            return _members(self.frame)
        if projection in (None, "payload"):
            return {**_members(self.frame), **as_member(self.content)}
        raise UsageError(
            f"a symbol has no projection {projection}; it has manifest and payload, "
            f"its file is {self.frame.page_id}"
        )

    def _projected(self, projection: str | None) -> dict[str, object]:
        session, given, pins = self._session, self._given, self._pins
        if projection == "payload":
            return {"payload": self.manifest.payload, **as_member(self.content)}
        if projection == "facets":
            return {"facets": session.facets(given, pins)}
        if projection == "relations":
            return self._listed("relations", session.relations(given, pins), _key_of_relation)
        if projection == "source_spans":
            spans = [*self._source_refs(), *self._symbol_spans()]
            return self._listed("source_spans", spans, str)
        history = session.history(given, pins, **self._part)
        return {"revisions": history.items, "cursor": history.cursor}

    def _listed(
        self, name: str, items: Sequence[Item], key: Callable[[Item], str]
    ) -> dict[str, object]:
        """As much of a list as is wanted, and how to go on (PCP-S4)."""
        from pcpfs.store.paging import part_of  # noqa: PLC0415 (most reads list nothing)

        part = part_of(items, key, (name, self.manifest.page_id, self._pins), **self._part)
        return {name: part.items, "cursor": part.cursor}

    def _source_refs(self) -> Iterator[dict[str, object]]:
        for ref in self.manifest.source_refs:
            yield {"source_ref": ref}

    def _symbol_spans(self) -> Iterator[dict[str, object]]:
        """Of a source file: where each of its symbols lies."""
        for frame in self._session.frames_of(self._given, self._pins):
            yield {
                "source_ref": source_ref(frame.root, frame.path, frame.lines),
                "frame_id": frame.frame_id,
                "kind": frame.kind,
                "qualified_name": frame.qualified_name,
                "lines": frame.lines,
                "bytes": frame.bytes,
                "digest": frame.digest,
            }


def _key_of_relation(view: RelationView) -> str:
    return f"{view.from_page_id} {view.relation.relation_id}"


def _members(answer: object) -> dict[str, object]:
    members = plain(answer)
    assert isinstance(members, dict)
    return members
