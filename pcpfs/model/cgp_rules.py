"""The rules of the Context Graph Protocol as pure functions; provider, host and suite share them.

Each gives the breaches that it finds, with the protocol's own id of the rule.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from pcpfs.errors import InvalidInstant, InvalidName
from pcpfs.model.cgp import (
    COMPACT,
    FULL,
    REFERENCE,
    Capabilities,
    ContextFrame,
    ContextQuery,
    DataFlow,
    FrameKind,
    Provenance,
    QueryResult,
    token_cost,
)
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant

LOCAL_SCOPE = "local-only"
OFF_MACHINE_SCOPES = ("org-tenant", "third-party-index", "third-party-model")

_RANGE = re.compile(r"L([1-9][0-9]{0,17})(?:-([1-9][0-9]{0,17}))?", re.ASCII)
_FINGERPRINT = re.compile(r"[^/]+/([0-9]{1,9})(?:/[^/]+)?", re.ASCII)
_BARE_ID = re.compile(
    r"(?:sha256:)?[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|(?:pg|fr|rev|rel)_[0-9a-z]{20,}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Breach:
    """A rule that does not hold, and where."""

    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.message}"


def respects_budget(result: QueryResult, query: ContextQuery) -> bool:
    """Whether an answer keeps to the budget of its query (B1, B3, B4)."""
    return not (cost_breaches(result, query) or count_breaches(result, query))


def cost_breaches(result: QueryResult, query: ContextQuery) -> tuple[Breach, ...]:
    """Costs that are not what the content costs (B3), and a sum that is too high (B1)."""
    return tuple(_cost_breaches(result, query))


def _cost_breaches(result: QueryResult, query: ContextQuery) -> Iterator[Breach]:
    for frame in result.frames:
        wanted = true_cost(frame)
        if frame.token_cost != wanted:
            yield Breach("B3", f"{_name(frame)} says {frame.token_cost} tokens and has {wanted}")
    said = sum(frame.token_cost for frame in result.frames)
    true = sum(map(true_cost, result.frames))
    if max(said, true) > query.max_tokens:
        yield Breach("B1", f"{max(said, true)} tokens, where {query.max_tokens} are allowed")


def count_breaches(result: QueryResult, query: ContextQuery) -> tuple[Breach, ...]:
    """More frames than were asked for (B4)."""
    count = len(result.frames)
    if count <= query.max_frames:
        return ()
    return (Breach("B4", f"{count} frames, where {query.max_frames} are allowed"),)


def true_cost(frame: ContextFrame) -> int:
    """What the inline content costs; nothing where there is none (B3, P3)."""
    return token_cost(frame.content or "")


def frame_breaches(frame: ContextFrame) -> tuple[Breach, ...]:
    """What is wrong with one frame by itself, its representation and its digest aside."""
    return tuple(_frame_breaches(frame))


def _frame_breaches(frame: ContextFrame) -> Iterator[Breach]:
    if not frame.id:
        yield Breach("D1", "a frame has no id")
    if not 0 <= frame.score <= 1:
        yield Breach("F1", f"the score of {_name(frame)} is {frame.score}")
    yield from _wording("title", frame.title, "F2", frame)
    yield from _wording("citation_label", frame.citation_label or "", "F3", frame)
    for origin in frame.provenance:
        yield from _origin_breaches(origin, frame)
    for relation in frame.relations:
        if not (relation.rel and relation.target_uri and (relation.display_name or "").strip()):
            yield Breach("G1", f"a relation of {_name(frame)} has no name or no target")
    yield from _time_breaches(frame)


def _wording(member: str, wording: str, rule: str, frame: ContextFrame) -> Iterator[Breach]:
    wording = wording.strip()
    if not wording:
        yield Breach(rule, f"the {member} of {_name(frame)} is empty")
    elif wording == frame.id or is_bare_id(wording):
        yield Breach("F3", f"the {member} of {_name(frame)} is a bare id")


def is_bare_id(wording: str) -> bool:
    """Whether a title is nothing but a digest, a UUID or one of our ids (F3)."""
    return _BARE_ID.fullmatch(wording) is not None


def _time_breaches(frame: ContextFrame) -> Iterator[Breach]:
    times = {name: getattr(frame, name) for name in ("valid_from", "valid_to", "recorded_at")}
    if frame.content_ref is not None:
        times["expires_at"] = frame.content_ref.expires_at
    for name, moment in times.items():
        if moment is not None and instant(moment) is None:
            yield Breach("F4", f"{name} of {_name(frame)} is {moment!r}")
    start, end = instant(frame.valid_from), instant(frame.valid_to)
    if start is not None and end is not None and end < start:
        yield Breach("F4", f"{_name(frame)} ends before it begins")


def _origin_breaches(origin: Provenance, frame: ContextFrame) -> Iterator[Breach]:
    if not origin.type:
        yield Breach("F5", f"an origin of {_name(frame)} has no type")
    if origin.type != "file":
        return
    if not origin.uri:
        yield Breach("F5", f"a file that {_name(frame)} comes from has no uri")
    if digest(origin.digest) is None:
        yield Breach("F5", f"{_name(frame)} has the file digest {origin.digest!r}")
    if origin.range is not None and line_range(origin.range) is None:
        yield Breach("F5", f"{_name(frame)} has the file range {origin.range!r}")


def kind_breaches(frame: ContextFrame) -> tuple[Breach, ...]:
    """A kind that this family of versions does not know (U2)."""
    known = frame.kind in tuple(FrameKind)
    return () if known else (Breach("U2", f"{_name(frame)} has the kind {frame.kind!r}"),)


_ALWAYS = {
    FULL: ("content",),
    COMPACT: (
        "content",
        "content_digest",
        "canonical_content_hash",
        "transform",
        "content_ref",
    ),
    REFERENCE: ("content_ref", "canonical_content_hash"),
}
_NEVER = {
    FULL: ("content_ref", "transform", "canonical_content_hash"),
    COMPACT: (),
    REFERENCE: ("content", "content_digest", "transform"),
}


def representation_breaches(frame: ContextFrame) -> tuple[Breach, ...]:
    """Members that a representation must have or must not have (P1 to P3)."""
    shape = frame.representation or FULL
    if shape not in _ALWAYS:
        return (Breach("P1", f"{_name(frame)} has the representation {shape!r}"),)
    missing = [name for name in _ALWAYS[shape] if getattr(frame, name) is None]
    forbidden = [name for name in _NEVER[shape] if getattr(frame, name) is not None]
    rule = {FULL: "P1", COMPACT: "P2", REFERENCE: "P3"}[shape]
    found = [Breach(rule, f"{_name(frame)} is {shape} without {name}") for name in missing]
    found += [Breach(rule, f"{_name(frame)} is {shape} with {name}") for name in forbidden]
    return tuple(found)


def advertised_breaches(
    frames: Iterable[ContextFrame], capabilities: Capabilities
) -> tuple[Breach, ...]:
    """Representations that need `resolve`, or were never advertised (P4, P5)."""
    found = []
    offered = {COMPACT, REFERENCE} & set(capabilities.representations)
    if offered and not capabilities.resolve:
        found.append(Breach("P5", f"offers {', '.join(sorted(offered))} without resolve"))
    for frame in frames:
        shape = frame.representation or FULL
        if shape != FULL and not capabilities.resolve:
            found.append(Breach("P5", f"{_name(frame)} is {shape}; resolve is not offered"))
        elif shape != FULL and shape not in capabilities.representations:
            found.append(Breach("P4", f"{_name(frame)} is {shape}, which is not offered"))
    return tuple(found)


def digest_breaches(frame: ContextFrame) -> tuple[Breach, ...]:
    """A content digest that is not the sha256 of the inline content (D2)."""
    if frame.content_digest is None or frame.content is None:
        return ()
    wanted = content_digest(frame.content)
    if frame.content_digest == wanted:
        return ()
    return (Breach("D2", f"{_name(frame)} says {frame.content_digest} and has {wanted}"),)


def content_digest(content: str) -> Digest:
    """The sha256 of the exact inline content as it is sent."""
    return Digest.of(content.encode("utf-8", "surrogatepass"))


def duplicate_breaches(frames: Iterable[ContextFrame]) -> tuple[Breach, ...]:
    """Frames of one answer that share an id (D1)."""
    counts = Counter(frame.id for frame in frames)
    return tuple(Breach("D1", f"{n} frames have the id {i}") for i, n in counts.items() if n > 1)


def future_breaches(frames: Iterable[ContextFrame], moment: Instant) -> tuple[Breach, ...]:
    """Frames that began only after the pinned instant."""
    return tuple(
        Breach("as_of", f"{_name(frame)} began at {start}, after {moment}")
        for frame in frames
        if (start := instant(frame.valid_from)) is not None and start > moment
    )


def expired_breaches(frames: Iterable[ContextFrame], moment: Instant) -> tuple[Breach, ...]:
    """Frames that had ended at the pinned instant: the interval is half-open."""
    return tuple(
        Breach("as_of", f"{_name(frame)} ended at {end}, not after {moment}")
        for frame in frames
        if (end := instant(frame.valid_to)) is not None and end <= moment
    )


def order_breaches(frames: Iterable[ContextFrame]) -> tuple[Breach, ...]:
    """Frames that do not come best first."""
    return tuple(
        Breach("F1", f"{_name(later)} scores more than {_name(earlier)} before it")
        for earlier, later in pairwise(frames)
        if later.score > earlier.score
    )


def is_anchored(frame: ContextFrame, anchors: Iterable[str]) -> bool:
    """Whether a frame is at an anchor: its own uri, or the target of one of its edges (G3)."""
    wanted = set(anchors)
    return frame.uri in wanted or any(edge.target_uri in wanted for edge in frame.relations)


def consent_breaches(flow: DataFlow) -> tuple[Breach, ...]:
    """A data flow that contradicts itself (C5), or names a scope that is none."""
    return tuple(_consent_breaches(flow))


def _consent_breaches(flow: DataFlow) -> Iterator[Breach]:
    for scope in flow.egress_scopes:
        vendor, colon, name = scope.partition(":")
        known = scope == LOCAL_SCOPE or scope in OFF_MACHINE_SCOPES
        if not known and not (colon and vendor and name):
            yield Breach("C5", f"{scope!r} is no egress scope")
        if scope != LOCAL_SCOPE and not flow.egress:
            yield Breach("C5", f"{scope!r} leaves the machine, and egress is false")


def dimensions(fingerprint: str) -> int | None:
    """How long a vector of this space is; None for a fingerprint that is none (E1)."""
    match = _FINGERPRINT.fullmatch(fingerprint)
    return int(match[1]) if match else None


def line_range(given: str) -> tuple[int, int] | None:
    """First and last line of `L5` or `L5-9`; None for anything else (F5)."""
    match = _RANGE.fullmatch(given)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if first <= last else None


def lines_at(raw: bytes, lines: tuple[int, int] | None) -> bytes | None:
    """The exact bytes of some lines, split on LF only, with their line feeds; None for lines that
    are not there (F5)."""
    if lines is None:
        return raw
    parts = raw.split(b"\n")
    count = len(parts) if parts[-1] else len(parts) - 1
    first, last = lines
    if last > count:
        return None
    text = b"\n".join(parts[first - 1 : last])
    return text + b"\n" if last < len(parts) else text


def digest(given: str | None) -> Digest | None:
    """A strict digest, or None."""
    try:
        return None if given is None else Digest(given)
    except InvalidName:
        return None


def instant(given: str | None) -> Instant | None:
    """A strict instant, or None (F4)."""
    try:
        return None if given is None else Instant.parse(given)
    except InvalidInstant:
        return None


def _name(frame: ContextFrame) -> str:
    return f"frame {frame.id[:60]!r}"
