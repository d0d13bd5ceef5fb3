"""The checks of a provider that look at the frames it serves, and at its verdicts on them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from pcpfs.errors import InvalidInstant
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import (
    advertised_breaches,
    cost_breaches,
    count_breaches,
    digest,
    digest_breaches,
    duplicate_breaches,
    expired_breaches,
    frame_breaches,
    future_breaches,
    instant,
    is_anchored,
    kind_breaches,
    line_range,
    lines_at,
    representation_breaches,
)
from pcpfs.model.instants import Instant
from pcpfs_conformance.provider_bench import (
    Bench,
    CheckFailed,
    CheckSkipped,
    Talk,
    described,
    require_none,
)
from pcpfs_conformance.provider_checks import NOBODY

_LARGEST_FILE = 64 << 20
_MOST_PINS = 4
_SECOND = 1_000_000


def frame_validity(bench: Bench) -> str:
    """F1 to F5, G1, U2: scores, wording, instants, kinds, and the form of provenance."""
    with bench.talk() as talk:
        frames = talk.frames()
    require_none([b for frame in frames for b in (*frame_breaches(frame), *kind_breaches(frame))])
    return f"{len(frames)} frames"


def representation_members(bench: Bench) -> str:
    """P1 to P3: what each representation must have and must not have."""
    with bench.talk() as talk:
        frames = (*talk.frames(), *_short_frames(talk))
    require_none([b for frame in frames for b in representation_breaches(frame)])
    return f"{len(frames)} frames, {_counted(f.representation or cgp.FULL for f in frames)}"


def resolve_offered(bench: Bench) -> str:
    """P4, P5: compact and reference frames only with `resolve`, and only where offered."""
    with bench.talk() as talk:
        frames = (*talk.frames(), *_short_frames(talk))
        require_none(advertised_breaches(frames, talk.capabilities))
        offered = ", ".join(talk.capabilities.representations) or cgp.FULL
    return f"offers {offered}; {len(frames)} frames"


def _short_frames(talk: Talk) -> tuple[cgp.ContextFrame, ...]:
    """What it serves to a host that likes compact frames; a refusal by name is fine (P4)."""
    query = talk.asked(representation_preferences=(cgp.COMPACT, cgp.FULL))
    reply = talk.request(cgp.Query(query=query))
    if isinstance(reply, cgp.Error) and reply.code == cgp.Code.UNSUPPORTED_REPRESENTATION:
        return ()
    if not isinstance(reply, cgp.Frames):
        raise CheckFailed("P4: a preference for compact frames was answered by no frames")
    return reply.result.frames


def content_digest(bench: Bench) -> str:
    """D2: a content digest is that of the inline content, as sent."""
    with bench.talk() as talk:
        told = [f for f in talk.frames() if f.content_digest is not None]
    if not told:
        raise CheckSkipped("no frame has a content digest")
    require_none([breach for frame in told for breach in digest_breaches(frame)])
    return f"{len(told)} digests"


def unique_ids(bench: Bench) -> str:
    """D1: an id names one frame of an answer."""
    with bench.talk() as talk:
        frames = talk.frames()
    require_none(duplicate_breaches(frames))
    return f"{len(frames)} ids"


def budget_honesty(bench: Bench) -> str:
    """B1, B3: the cost is what the content costs, and the sum stays within any budget."""
    with bench.talk() as talk:
        talk.frames()
        total = sum(len((f.content or "").encode()) for f in talk.frames()) // 4
        budgets = (talk.plain.max_tokens, total // 2, total // 4, 1)
        for budget in dict.fromkeys(budgets):
            query = talk.asked(max_tokens=budget)
            require_none(cost_breaches(_within(talk, query), query))
    return f"budgets of {', '.join(map(str, dict.fromkeys(budgets)))} tokens"


def _within(talk: Talk, query: cgp.ContextQuery) -> cgp.QueryResult:
    """The answer within a budget; a refusal by name serves nothing (X1)."""
    reply = talk.request(cgp.Query(query=query))
    if isinstance(reply, cgp.Error) and reply.code == cgp.Code.BUDGET_UNSATISFIABLE:
        return cgp.QueryResult(frames=(), truncated=True)
    if not isinstance(reply, cgp.Frames):
        raise CheckFailed(f"B1: {query.max_tokens} tokens were answered by {described(reply)}")
    return reply.result


def frame_limit(bench: Bench) -> str:
    """B4: no more frames than asked for."""
    with bench.talk() as talk:
        count = len(talk.frames())
        limits = [limit for limit in (1, count // 2, count - 1) if 0 < limit < count]
        if not limits:
            raise CheckSkipped("one frame only; give a query that matches more with --query")
        for limit in dict.fromkeys(limits):
            query = talk.asked(max_frames=limit)
            require_none(count_breaches(talk.ask(query), query))
    return f"{count} frames, limited to {', '.join(map(str, dict.fromkeys(limits)))}"


def kinds_filter(bench: Bench) -> str:
    """Q1: asked for a kind, it serves that kind only."""
    with bench.talk() as talk:
        frames = talk.frames()
        kinds = talk.capabilities.query.kinds or tuple({f.kind for f in frames})
        anchors = _anchors(frames)[:1] if talk.capabilities.graph else ()
        served = []
        for kind in dict.fromkeys(kinds):
            found = talk.ask(talk.asked(kinds=(kind,), anchors=anchors)).frames
            others = [frame for frame in found if frame.kind != kind]
            if others:
                raise CheckFailed(f"Q1: asked for {kind}, it serves {others[0].kind}")
            served += [kind] if found else []
    if not served:
        raise CheckSkipped("no kind that it declares has a frame")
    return f"{len(served)} of {len(kinds)} kinds with frames: {', '.join(served)}"


def anchor_relevance(bench: Bench) -> str:
    """G3: a frame at the anchor is served, and comes first."""
    with bench.talk() as talk:
        if not talk.capabilities.graph:
            raise CheckSkipped("it does not offer graph")
        anchors = _anchors(talk.frames())
        if len(anchors) < 2:
            raise CheckSkipped("all frames have one uri; an anchor would change nothing")
        for anchor in reversed(anchors[-3:]):
            found = talk.ask(talk.asked(anchors=(anchor,))).frames
            if not any(is_anchored(frame, [anchor]) for frame in found):
                raise CheckFailed(f"G3: no frame at the anchor {anchor}")
            if not is_anchored(found[0], [anchor]):
                raise CheckFailed(f"G3: {found[0].id} comes before what is at {anchor}")
    return f"{len(anchors[-3:])} anchors"


def _anchors(frames: Sequence[cgp.ContextFrame]) -> tuple[str, ...]:
    """The uris of frames, those of the first ones first."""
    return tuple(dict.fromkeys(frame.uri for frame in frames if frame.uri))


def as_of_temporal(bench: Bench) -> str:
    """No frame that began after the pinned instant."""
    with bench.talk() as talk:
        pins = _starts(talk.frames())
        if not pins:
            raise CheckSkipped("no frame says when it began")
        seen = 0
        for pin in [_before(pins[0]), *pins[:_MOST_PINS], _before(pins[-1])]:
            frames = talk.ask(talk.asked(as_of=str(pin))).frames
            require_none(future_breaches(frames, pin))
            seen += len(frames)
    if not seen:
        raise CheckSkipped("under no pin there was a frame")
    return f"{seen} frames under {min(len(pins), _MOST_PINS) + 2} pins"


def as_of_two_sided(bench: Bench) -> str:
    """No frame that had ended at the pinned instant; intervals are half-open."""
    with bench.talk() as talk:
        starts = _starts(talk.frames())
        found = list(talk.base().frames)
        for pin in [*map(_before, starts[-_MOST_PINS:]), *map(_before, starts[:_MOST_PINS])]:
            found += talk.ask(talk.asked(as_of=str(pin))).frames
        ends = sorted({end for frame in found if (end := instant(frame.valid_to)) is not None})
        if not ends:
            raise CheckSkipped("no frame says when it ended")
        for end in ends[:_MOST_PINS]:
            require_none(expired_breaches(talk.ask(talk.asked(as_of=str(end))).frames, end))
    return f"{len(ends[:_MOST_PINS])} ends"


def _starts(frames: Sequence[cgp.ContextFrame]) -> list[Instant]:
    return sorted({start for frame in frames if (start := instant(frame.valid_from)) is not None})


def _before(moment: Instant) -> Instant:
    earlier = Instant(moment.microseconds - _SECOND)
    try:
        return Instant.parse(str(earlier))
    except (InvalidInstant, OverflowError):
        return moment


def provenance_fixture_consistency(bench: Bench) -> str:
    """F5: every file digest is that of the bytes that are on the disk now."""
    with bench.talk() as talk:
        origins = [(f, o) for f in talk.frames() for o in f.provenance if o.type == "file"]
        checked = 0
        for frame, origin in origins:
            wanted, path = digest(origin.digest), _path(origin.uri)
            has_range = origin.range is None or line_range(origin.range) is not None
            if wanted is None or path is None or not has_range:
                continue  # that is a matter of frame-validity
            _require_bytes(frame, origin, path)
            checked += 1
    if not checked:
        raise CheckSkipped("no frame comes from a file that can be read here")
    return f"{checked} digests against the disk"


def _require_bytes(frame: cgp.ContextFrame, origin: cgp.Provenance, path: Path) -> None:
    try:
        raw = _read(path)
    except OSError as error:
        raise CheckFailed(f"F5: {frame.id} comes from {path}: {error.strerror}") from error
    cited = lines_at(raw, (origin.range and line_range(origin.range)) or None)
    if cited is None:
        raise CheckFailed(f"F5: {frame.id} comes from {origin.range} of {path}: no such lines")
    if f"sha256:{hashlib.sha256(cited).hexdigest()}" != origin.digest:
        raise CheckFailed(f"F5: {frame.id}: {path} {origin.range or ''} has another digest")


def _read(path: Path) -> bytes:
    """A regular file of bearable size; whatever a provider names is opened with care."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LARGEST_FILE:
            raise OSError(0, "it is no regular file, or too large")
        return file.read()


def _path(uri: str | None) -> Path | None:
    try:
        parts = urlsplit(uri or "")
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path:
        return None
    raw = unquote_to_bytes(parts.path)
    return None if b"\0" in raw else Path(os.fsdecode(raw))


def verify_honesty(bench: Bench) -> str:
    """V1 to V4: valid for what was served, stale for what never was, never valid for nothing."""
    with bench.talk() as talk:
        if not talk.capabilities.verify:
            raise CheckSkipped("it does not offer verify")
        served = [
            cgp.Identity(provider_id=NOBODY, frame_id=f.id, content_digest=f.content_digest)
            for f in talk.frames()
            if f.content_digest is not None
        ]
        if not served:
            raise CheckSkipped("no frame has a content digest")
        forged = [_forged(identity) for identity in served]
        unheard = [cgp.Identity(provider_id=NOBODY, frame_id="never", content_digest=_ZERO)]
        _require_verdicts(talk, served, (cgp.Status.VALID,))
        _require_verdicts(talk, forged, (cgp.Status.STALE,))
        _require_verdicts(talk, unheard, (cgp.Status.GONE, cgp.Status.UNKNOWN, None))
    return f"{len(served)} valid, {len(forged)} forged ones stale"


_ZERO = "sha256:" + "0" * 64


def _forged(identity: cgp.Identity) -> cgp.Identity:
    return cgp.Identity(
        provider_id=identity.provider_id, frame_id=identity.frame_id, content_digest=_ZERO
    )


def _require_verdicts(
    talk: Talk, identities: Sequence[cgp.Identity], allowed: Sequence[str | None]
) -> None:
    """One of these statuses for each; None stands for no verdict at all (V2)."""
    found = {verdict.frame: verdict.status for verdict in talk.verify(identities)}
    for identity in identities:
        status = found.get(identity)
        if status not in allowed:
            said = status or "no verdict that echoes it whole"
            raise CheckFailed(f"V3: {identity.frame_id} with {identity.content_digest}: {said}")


def _counted(names: Iterable[str]) -> str:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
