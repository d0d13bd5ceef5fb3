"""Event pages: raw messages, tool events, entries of a ledger, each one line of a segment.

A line is one JSON object in canonical compact form: the envelope, the payload beside it, and the
revision id, so that each line can be checked by itself. What is told of an event never changes.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from pcpfs.errors import Corrupt, PcpfsError
from pcpfs.model.changes import Change, RevisionWritten
from pcpfs.model.codec import decode
from pcpfs.model.ids import ChangeId, Digest, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Revision

INLINE = 1 << 20
"""A payload of more bytes lies in `payloads/`, as those of other pages."""

_compact = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
).encode


@dataclass(frozen=True)
class EventLine:
    """One event page. `content` is its payload; None where that lies outside of the segment."""

    revision: Revision
    content: bytes | None

    @cached_property
    def _envelope(self) -> bytes:
        return self.revision.encode()

    @cached_property
    def revision_id(self) -> RevisionId:
        return RevisionId.of(self._envelope)

    @property
    def change_id(self) -> ChangeId:
        """An event is a change of its page, the first; it is called after the revision."""
        return change_of(self.revision_id)

    @property
    def change(self) -> Change:
        """The event as the fold of its page sees it."""
        body = self.revision
        assert body.event is not None, "an event line holds an event"
        assert body.created_at is not None, "an event says when it was taken in"
        assert body.created_by is not None, "an event says who took it in"
        return Change(
            body.namespace,
            body.page,
            body.created_at,
            body.event.clone,
            body.created_by,
            "event",
            (),
            (RevisionWritten(self.revision_id),),
        )

    @property
    def time(self) -> Instant:
        """When it happened, else when it was taken in: what decides between events of which none
        follows the other."""
        moment = self.revision.observed_at or self.revision.created_at
        assert moment is not None, "an event says when it was taken in"
        return moment

    @property
    def after(self) -> tuple[RevisionId, ...]:
        return self.revision.event.after if self.revision.event else ()

    def encode(self) -> bytes:
        """The bytes of the line, without its line feed."""
        members: dict[str, object] = {
            "envelope": json.loads(self._envelope),
            "revision_id": self.revision_id,
            **_content(self.content),
        }
        return _compact(members).encode("utf-8")

    @classmethod
    def decode(cls, raw: bytes, what: str) -> Self:
        """Read a line and check all it says; Corrupt, naming `what`, for any other."""
        value: dict[str, Any] = decode(raw, what)
        try:
            line = cls(Revision.from_json(value["envelope"], what), _content_of(value))
            line.check()
        except (KeyError, TypeError, ValueError, AttributeError, PcpfsError) as error:
            raise Corrupt(f"{what} is no event: {error}", path=what) from error
        if line.encode() != raw:
            raise Corrupt(f"{what} is not what its revision id says", path=what)
        return line

    def check(self) -> None:
        """ValueError unless this is an event with the payload that its envelope names."""
        body = self.revision
        if body.event is None or body.created_at is None or body.created_by is None:
            raise ValueError("it does not say when it happened, and to whom")
        if self.content is None:
            return
        payload = body.payload
        if payload is None or (payload.ref, payload.size) != (
            Digest.of(self.content),
            len(self.content),
        ):
            raise ValueError("its payload is not the one that it names")


def change_of(revision: RevisionId) -> ChangeId:
    """The id under which an event is a change of its page."""
    return ChangeId(f"chg_{revision[4:36]}")


def segment(lines: Iterable[EventLine]) -> bytes:
    """The bytes of a segment that holds these lines, in this order."""
    return b"".join(line.encode() + b"\n" for line in lines)


def _content(content: bytes | None) -> Mapping[str, str]:
    if content is None:
        return {}
    try:
        return {"text": content.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}


def _content_of(value: Mapping[str, Any]) -> bytes | None:
    if "text" in value:
        return str(value["text"]).encode("utf-8")
    if "base64" in value:
        try:
            return base64.b64decode(value["base64"], validate=True)
        except binascii.Error as error:
            raise ValueError(f"its payload is no base64: {error}") from error
    return None
