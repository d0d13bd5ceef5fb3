"""Talking to a provider of pcpfs as a host does: line by line."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import (
    advertised_breaches,
    digest_breaches,
    duplicate_breaches,
    frame_breaches,
    kind_breaches,
    line_range,
    lines_at,
    order_breaches,
    representation_breaches,
    respects_budget,
)
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from pcpfs.model.ids import Digest
from pcpfs.model.pages import Principal
from pcpfs.provider.provider import ACK, Provider
from pcpfs.provider.server import serve
from pcpfs.store.session import Session
from pcpfs.store.store import Store

MODEL = Principal("model:local")


class Host:
    """A host of one store; every answer is checked against all rules before a test sees it."""

    def __init__(self, store: Store) -> None:
        self._provider = Provider(lambda: Session(store, MODEL))

    def lines(self, *lines: bytes) -> list[dict[str, Any]]:
        """What the provider writes for these lines."""
        answers = io.BytesIO()
        serve(self._provider, io.BytesIO(b"".join(lines)), answers)
        return [json.loads(line) for line in answers.getvalue().splitlines()]

    def say(self, envelope: cgp.Envelope) -> cgp.Envelope:
        """The reply to one envelope."""
        (reply,) = self.lines(write_envelope(envelope))
        return read_envelope(json.dumps(reply))

    def result(self, goal: str = "", /, **members: Any) -> cgp.QueryResult:
        """The answer to a query, found to keep every rule."""
        given = {"goal": goal, "max_frames": 8, "max_tokens": 4096} | members
        query = cgp.ContextQuery(**given)
        reply = self.say(cgp.Query(query=query))
        assert isinstance(reply, cgp.Frames), reply
        require_sound(reply.result, query)
        return reply.result

    def frames(self, goal: str = "", /, **members: Any) -> tuple[cgp.ContextFrame, ...]:
        return self.result(goal, **members).frames

    def verdicts(self, frames: Sequence[cgp.ContextFrame]) -> list[str]:
        """What verify says of frames that were served."""
        return [verdict.status for verdict in self.verify(frames)]

    def verify(self, frames: Sequence[cgp.ContextFrame]) -> tuple[cgp.Verdict, ...]:
        identities = tuple(
            cgp.Identity(provider_id="mine", frame_id=f.id, content_digest=f.content_digest)
            for f in frames
        )
        reply = self.say(cgp.Verify(request=cgp.IdentityList(frames=identities)))
        assert isinstance(reply, cgp.Verified), reply
        assert tuple(verdict.frame for verdict in reply.response.verdicts) == identities
        return reply.response.verdicts


def require_sound(result: cgp.QueryResult, query: cgp.ContextQuery) -> None:
    """All that holds of every answer, whatever was asked."""
    assert respects_budget(result, query)
    assert advertised_breaches(result.frames, ACK.capabilities) == ()
    assert duplicate_breaches(result.frames) == order_breaches(result.frames) == ()
    assert result.truncated == ((result.dropped_estimate or 0) > 0)
    for frame in result.frames:
        assert (*frame_breaches(frame), *kind_breaches(frame)) == ()
        assert (*representation_breaches(frame), *digest_breaches(frame)) == ()
        assert not query.kinds or frame.kind in query.kinds
        require_provenance(frame)


def require_provenance(frame: cgp.ContextFrame) -> None:
    """F5: the first origin is a file whose bytes are on the disk now."""
    first = frame.provenance[0]
    assert first.type == "file"
    cited = cited_bytes(first)
    assert cited is not None
    assert Digest.of(cited) == first.digest


def cited_bytes(origin: cgp.Provenance) -> bytes | None:
    """The bytes that a file origin names."""
    raw = path_of(origin.uri or "").read_bytes()
    return lines_at(raw, None if origin.range is None else line_range(origin.range))


def path_of(uri: str) -> Path:
    """The file of a `file` uri."""
    assert uri.startswith("file:///")
    return Path(unquote_to_bytes(uri.removeprefix("file://")).decode("utf-8", "surrogateescape"))


def titles(frames: Sequence[cgp.ContextFrame]) -> list[str]:
    return [frame.title for frame in frames]


def by_kind(frames: Sequence[cgp.ContextFrame]) -> Mapping[str, cgp.ContextFrame]:
    return {frame.kind: frame for frame in reversed(frames)}
