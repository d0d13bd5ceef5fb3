"""What the host adds to the answers of its providers: fan-out, audit, duplicates, composition."""

from __future__ import annotations

import time
from functools import partial
from statistics import median

from benchmarks.rows import Aim, Row
from benchmarks.timing import Failed
from pcpfs.host.consent import ConsentGate, Consents
from pcpfs.host.declarations import Answering, Declaration, Inside, Origin
from pcpfs.host.host import Host
from pcpfs.host.transport import Surroundings
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import content_digest
from pcpfs.model.instants import Instant

PROVIDERS, FRAMES = 8, 50
TEXT = " ".join(f"word{number}" for number in range(60))


def measure(times: int) -> list[Row]:
    """Providers in this process that have their answers ready; they go over the wire format all
    the same, since everything does."""
    host = Host([_provider(number) for number in range(PROVIDERS)], _gate(), Surroundings({}))
    spent = median(_asked(host) for _ in range(max(times, 5)))
    what = f"host: {PROVIDERS} providers × {FRAMES} frames"
    return [Row(what, spent, runs=max(times, 5), aim=Aim(0.020), note="of processor")]


def _asked(host: Host) -> float:
    """Seconds of processor for one question, in which everything must be used."""
    count = PROVIDERS * FRAMES
    query = cgp.ContextQuery(goal="why", max_tokens=count * 200, max_frames=count)
    before = time.process_time()
    answer = host.ask(query)
    spent = time.process_time() - before
    if len(answer.usage.items) != count:
        raise Failed(f"{len(answer.usage.items)} of {count} frames were used: {answer.reports}")
    return spent


def _gate() -> ConsentGate:
    return ConsentGate(Consents({}), Instant(0))


def _provider(number: int) -> Declaration:
    name = f"p{number}"
    frames = tuple(_frame(f"{name}-{at}", at / FRAMES) for at in range(FRAMES))
    return Declaration(name, Inside(partial(_started, frames)), Origin.TYPED)


def _started(frames: tuple[cgp.ContextFrame, ...]) -> tuple[Answering, partial[None]]:
    return partial(_answer, frames), partial(_nothing)


def _nothing() -> None:
    """There is nothing to close."""


def _answer(frames: tuple[cgp.ContextFrame, ...], envelope: cgp.Envelope) -> cgp.Envelope:
    if isinstance(envelope, cgp.Query):
        result = cgp.QueryResult(frames=frames, truncated=False)
        return cgp.Frames(id=envelope.id, result=result)
    flow = cgp.DataFlow(reads=True, writes=False, egress=False)
    return cgp.HandshakeAck(
        protocol_version=cgp.VERSION,
        provider=cgp.ProviderInfo(name="ready", version="1", data_flow=flow),
        capabilities=cgp.Capabilities(query=cgp.QueryCapability(kinds=()), correlation=True),
    )


def _frame(name: str, score: float) -> cgp.ContextFrame:
    content = f"{name} {TEXT}\n"
    return cgp.ContextFrame(
        id=name,
        kind="doc",
        title=f"About {name}",
        content=content,
        content_digest=str(content_digest(content)),
        score=score,
        token_cost=cgp.token_cost(content),
        citation_label=f"{name}.md",
    )
