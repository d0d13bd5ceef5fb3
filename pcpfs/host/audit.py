"""The audit of one provider's answer: what of it may be used at all.

A provider that breaks its budget loses all its frames (B2): nothing that it says of costs can be
built upon. A frame that breaks another rule is left out by itself. Either way it is said aloud.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from pcpfs.host.evidence import Look, Standing
from pcpfs.host.identities import Order, identity_of, order_of
from pcpfs.host.troubles import Kind, Report, one_line
from pcpfs.model import cgp
from pcpfs.model.cgp import ContextFrame, ContextQuery, Identity, QueryResult
from pcpfs.model.cgp_rules import (
    Breach,
    advertised_breaches,
    cost_breaches,
    count_breaches,
    digest_breaches,
    expired_breaches,
    frame_breaches,
    future_breaches,
    instant,
    representation_breaches,
    respects_budget,
    true_cost,
)

LONGEST_ID, LONGEST_KIND = 512, 64
"""Ids and kinds stand in the prompt and cost nothing: no text may hide in them."""


class Reason(StrEnum):
    """Why an offered frame is not in the prompt."""

    DUPLICATE = "duplicate"
    OVER_BUDGET = "over_budget"
    QUARANTINED = "quarantined"
    NO_CONTENT = "no_content"


@dataclass(frozen=True, slots=True)
class Offered:
    """A frame that may be used; `cost` is what its content costs, whatever was said, and `order`
    where its identity stands."""

    identity: Identity
    frame: ContextFrame
    cost: int
    standing: Standing
    order: Order = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_of(self.identity))


@dataclass(frozen=True, slots=True)
class Excluded:
    """A frame that is not used. `cost` and `remaining` are given for one over budget."""

    identity: Identity
    reason: Reason
    message: str
    duplicate_of: Identity | None = None
    cost: int | None = None
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one provider. `info` is what it says of itself, None if it never did; `share`
    is the part of the budget that it had."""

    provider: str
    info: cgp.ProviderInfo | None = None
    share: int = 0
    offered: tuple[Offered, ...] = ()
    excluded: tuple[Excluded, ...] = ()
    reports: tuple[Report, ...] = ()


def judge(
    provider: str, ack: cgp.HandshakeAck, query: ContextQuery, result: QueryResult, look: Look
) -> Answer:
    """The frames of an answer, parted into those that may be used and those that may not."""
    if not respects_budget(result, query):
        return _quarantined(provider, ack, query, result)
    offered: list[Offered] = []
    excluded: list[Excluded] = []
    breaches: list[Breach] = []
    counts = Counter(frame.id for frame in result.frames)
    for frame in result.frames:
        identity = identity_of(provider, frame)
        found = tuple(_breaches(frame, ack, query))
        if counts[frame.id] > 1:
            found += (Breach("D1", f"{counts[frame.id]} frames have the id {frame.id[:60]!r}"),)
        standing = None if found else look.judge(frame)
        if isinstance(standing, Breach):
            found = (standing,)
        if found or not isinstance(standing, Standing):
            breaches += found
            excluded.append(Excluded(identity, Reason.QUARANTINED, one_line(str(found[0]))))
        elif not frame.content:
            excluded.append(Excluded(identity, Reason.NO_CONTENT, "it has no content to show"))
        else:
            offered.append(Offered(identity, frame, true_cost(frame), standing))
    reports = (_report(provider, Kind.LIAR, breaches, "left out"),) if breaches else ()
    return Answer(
        provider, ack.provider, query.max_tokens, tuple(offered), tuple(excluded), reports
    )


def _quarantined(
    provider: str, ack: cgp.HandshakeAck, query: ContextQuery, result: QueryResult
) -> Answer:
    """Nothing of a provider that breaks its budget is used (B2)."""
    counted, costs = count_breaches(result, query), cost_breaches(result, query)
    told = f"all its {len(result.frames)} frames are dropped (B2)"
    reports = [
        _report(provider, kind, found, told)
        for kind, found in ((Kind.FLOODER, counted), (Kind.BUDGET_LIAR, costs))
        if found
    ]
    message = one_line(str((*counted, *costs)[0]))
    return Answer(
        provider,
        ack.provider,
        query.max_tokens,
        excluded=tuple(
            Excluded(identity_of(provider, frame), Reason.QUARANTINED, message)
            for frame in result.frames
        ),
        reports=tuple(reports),
    )


def _breaches(frame: ContextFrame, ack: cgp.HandshakeAck, query: ContextQuery) -> Iterator[Breach]:
    """What is wrong with one frame. A kind that nobody knows is opaque, not wrong (U2)."""
    if len(frame.id) > LONGEST_ID or len(frame.kind) > LONGEST_KIND:
        yield Breach("B3", "its id or kind is so long that it may hold text for which nobody pays")
    yield from frame_breaches(frame)
    yield from representation_breaches(frame)
    if frame.representation not in (None, cgp.FULL):
        yield from advertised_breaches((frame,), ack.capabilities)
    yield from digest_breaches(frame)
    if query.kinds and frame.kind not in query.kinds:
        yield Breach("Q1", f"it is a {frame.kind}, and asked for was {', '.join(query.kinds)}")
    moment = instant(query.as_of)
    if moment is not None:
        yield from future_breaches((frame,), moment)
        yield from expired_breaches((frame,), moment)


def _report(provider: str, kind: Kind, breaches: Iterable[Breach], what: str) -> Report:
    """The first breach, how many more there are, and what came of it."""
    first, *more = breaches
    others = f" (and {len(more)} more)" if more else ""
    return Report(provider, kind, one_line(f"{first.message}{others}; {what}"), first.rule)
