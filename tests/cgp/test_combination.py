"""One frame from the disk to the answer, with all seven properties at once.

Each property is a function of what went over the wire (and of the disk); each mutant takes exactly
one of them away, and exactly that one is missed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import (
    advertised_breaches,
    consent_breaches,
    digest_breaches,
    expired_breaches,
    frame_breaches,
    future_breaches,
    representation_breaches,
    respects_budget,
)
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from tests.cgp.hosting import Host, cited_bytes, path_of
from tests.cgp.test_provider import ROUTER
from tests.integration.source_tree import SourceTree
from tests.store.workplace import Workplace

Json = dict[str, Any]
PIN = "2040-03-01T00:00:00Z"
CHANGED = "2040-06-01T00:00:00Z"


@dataclass(frozen=True)
class Exchange:
    """What a host sent and got, as JSON, and the file that the frame comes from."""

    source: Path
    query: Json
    hello: Json
    answer: Json

    @property
    def frame(self) -> cgp.ContextFrame:
        return self.result.frames[0]

    @property
    def result(self) -> cgp.QueryResult:
        envelope = read_envelope(json.dumps(self.answer))
        assert isinstance(envelope, cgp.Frames)
        return envelope.result

    @property
    def ack(self) -> cgp.HandshakeAck:
        envelope = read_envelope(json.dumps(self.hello))
        assert isinstance(envelope, cgp.HandshakeAck)
        return envelope

    @property
    def asked(self) -> cgp.ContextQuery:
        envelope = read_envelope(json.dumps(self.query))
        assert isinstance(envelope, cgp.Query)
        return envelope.query


def provenance(exchange: Exchange) -> bool:
    """F5: the file first, with the digest of the very bytes; then how the frame was made."""
    file, derivation = exchange.frame.provenance
    cited = cited_bytes(file) if path_of(file.uri or "") == exchange.source else None
    return (
        cited is not None
        and Digest.of(cited) == file.digest
        and cited in exchange.source.read_bytes()
        and (derivation.type, bool(derivation.method and derivation.by)) == ("derivation", True)
    )


def budget(exchange: Exchange) -> bool:
    """B1, B3, B4."""
    return respects_budget(exchange.result, exchange.asked)


def consent(exchange: Exchange) -> bool:
    """C1, C5: it reads, and sends nothing anywhere."""
    flow = exchange.ack.provider.data_flow
    return not consent_breaches(flow) and (flow.reads, flow.writes, flow.egress) == (
        True,
        False,
        False,
    )


def conformance(exchange: Exchange) -> bool:
    """D2, P1 to P5, and every rule of a frame but that of its label and of its time."""
    frame = exchange.frame
    others = [b for b in frame_breaches(frame) if b.rule not in ("F3", "F4", "F5")]
    shapes = (*representation_breaches(frame), *digest_breaches(frame))
    return not (others or shapes or advertised_breaches([frame], exchange.ack.capabilities))


def citation(exchange: Exchange) -> bool:
    """F3: a label that a person can follow to the place."""
    label = exchange.frame.citation_label or ""
    rules = [breach.rule for breach in frame_breaches(exchange.frame)]
    return "F3" not in rules and exchange.source.name in label and exchange.frame.title in label


def version(exchange: Exchange) -> bool:
    """H1."""
    return cgp.family(exchange.ack.protocol_version) == cgp.family(cgp.VERSION)


def validity(exchange: Exchange) -> bool:
    """F4, as_of: it held at the pinned instant, and says over which time."""
    frame, pin = exchange.frame, Instant.parse(exchange.asked.as_of or "")
    told = bool(frame.valid_from) and not [b for b in frame_breaches(frame) if b.rule == "F4"]
    return told and not (future_breaches([frame], pin) or expired_breaches([frame], pin))


PROPERTIES: Mapping[str, Callable[[Exchange], bool]] = {
    check.__name__: check
    for check in (provenance, budget, consent, conformance, citation, version, validity)
}


def missed(exchange: Exchange) -> list[str]:
    """The properties that do not hold."""
    return [name for name, holds in PROPERTIES.items() if not holds(exchange)]


def with_frame(exchange: Exchange, **members: object) -> Exchange:
    """The exchange with some members of its frame changed."""
    answer = json.loads(json.dumps(exchange.answer))
    answer["result"]["frames"][0] |= members
    return replace(exchange, answer=answer)


def with_hello(exchange: Exchange, **members: object) -> Exchange:
    return replace(exchange, hello=exchange.hello | members)


def stale_file_digest(exchange: Exchange) -> Exchange:
    """The digest is that of an earlier text."""
    origins = exchange.answer["result"]["frames"][0]["provenance"]
    stale = origins[0] | {"digest": Digest.of(b"as it was yesterday")}
    return with_frame(exchange, provenance=[stale, *origins[1:]])


def cheaper_than_it_is(exchange: Exchange) -> Exchange:
    return with_frame(exchange, token_cost=1)


def secret_egress(exchange: Exchange) -> Exchange:
    provider = json.loads(json.dumps(exchange.hello["provider"]))
    provider["data_flow"]["egress_scopes"] = ["third-party-index"]
    return with_hello(exchange, provider=provider)


def hidden_reference(exchange: Exchange) -> Exchange:
    """A full frame that carries what only compact ones may."""
    return with_frame(exchange, content_ref={"provider_id": "p", "uri": "u"})


def id_for_a_label(exchange: Exchange) -> Exchange:
    return with_frame(exchange, citation_label=exchange.frame.id)


def next_family(exchange: Exchange) -> Exchange:
    return with_hello(exchange, protocol_version="contextgraph/2.0")


def from_the_future(exchange: Exchange) -> Exchange:
    return with_frame(exchange, valid_from=CHANGED)


MUTANTS: Mapping[str, Callable[[Exchange], Exchange]] = {
    "provenance": stale_file_digest,
    "budget": cheaper_than_it_is,
    "consent": secret_egress,
    "conformance": hidden_reference,
    "citation": id_for_a_label,
    "version": next_family,
    "validity": from_the_future,
}


@pytest.fixture
def exchange(app: SourceTree, place: Workplace) -> Exchange:
    """A symbol on its way from a file, through the store, onto the wire."""
    source = app.write("router.py", ROUTER, at="2030-01-01T00:00:00Z")
    app.add()
    query = cgp.ContextQuery(goal="Router.match", max_frames=1, max_tokens=200, as_of=PIN)
    asked = write_envelope(cgp.Query(query=query))
    hello = write_envelope(cgp.Handshake(protocol_version=cgp.VERSION))
    ack, answer = Host(place.store).lines(hello, asked)
    return Exchange(source, json.loads(asked), ack, answer)


def test_one_frame_has_all_seven_properties(exchange: Exchange) -> None:
    assert missed(exchange) == []
    assert len(PROPERTIES) == 7
    assert (exchange.frame.kind, exchange.frame.title) == ("symbol", "Router.match")


@pytest.mark.parametrize("lost", PROPERTIES)
def test_a_mutant_without_one_property_is_caught_by_it(lost: str, exchange: Exchange) -> None:
    assert missed(MUTANTS[lost](exchange)) == [lost]


def test_an_edit_on_the_disk_takes_the_provenance_away(exchange: Exchange) -> None:
    """The property looks at the disk, not at what the provider says."""
    exchange.source.write_text(ROUTER.replace("longest", "shortest"))
    assert missed(exchange) == ["provenance"]
