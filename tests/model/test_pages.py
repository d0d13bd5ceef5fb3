"""Revision envelopes: golden bytes, and what must hold of them."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given

from pcpfs.errors import Corrupt, InvalidName
from pcpfs.model.ids import Digest, PageId, RevisionId
from pcpfs.model.instants import Instant
from pcpfs.model.names import Namespace, source_ref
from pcpfs.model.pages import ActorType, Facets, Payload, Principal, ProvenanceEvent, Revision
from tests.model.strategies import envelopes

PAGE = PageId("pg_" + "0" * 25 + "1")
SCOPE = Namespace("project:a")
AT = Instant.read("2026-03-01T12:00:00Z")
ANNA = Principal("user:anna")
EMPTY = Payload("text/markdown", Digest.of(b""), 0)

AUTHORED = Revision(
    page=PAGE,
    namespace=SCOPE,
    payload=EMPTY,
    facets=Facets(title="É", tags=("a", "b")),
    created_at=AT,
    created_by=ANNA,
    provenance=(ProvenanceEvent("write", ANNA, AT),),
    epistemic={"authority": "primary"},
    salt="00" * 16,
)
GOLDEN = (
    '{\n"authority":"primary",\n"created_at":"2026-03-01T12:00:00Z",\n'
    '"created_by":{"actor_id":"user:anna","actor_type":"user"},\n'
    '"facets":{"tags":["a","b"],"title":"É"},\n"namespace":"project:a",\n'
    f'"page_id":"{PAGE}",\n"parents":[],\n'
    f'"payload":{{"media_type":"text/markdown","ref":"{Digest.of(b"")}","size":0}},\n'
    '"provenance":[{"actor_id":"user:anna","actor_type":"user","input_revision_ids":[],'
    '"operation":"write","timestamp":"2026-03-01T12:00:00Z"}],\n'
    f'"salt":"{"00" * 16}",\n"source_refs":[]\n}}\n'
).encode()


def test_the_golden_bytes_of_an_authored_envelope() -> None:
    assert AUTHORED.encode() == GOLDEN
    assert RevisionId.of(GOLDEN) == "rev_" + hashlib.sha256(GOLDEN).hexdigest()


def test_a_source_envelope_is_a_pure_function_of_page_and_payload() -> None:
    ref = source_ref("root_x", "a.py")
    body = Revision(PAGE, SCOPE, EMPTY, source_refs=(ref,))
    assert body.is_source
    assert (
        body.encode()
        == (
            f'{{\n"namespace":"project:a",\n"page_id":"{PAGE}",\n"parents":[],\n'
            f'"payload":{{"media_type":"text/markdown","ref":"{Digest.of(b"")}","size":0}},\n'
            '"source_refs":["src:root_x/a.py"]\n}\n'
        ).encode()
    )


@given(envelopes)
def test_every_envelope_comes_back_from_its_bytes(body: Revision) -> None:
    raw = body.encode()
    again = Revision.decode(raw, "x")
    assert again == body
    assert again.encode() == raw


def test_a_revision_needs_a_payload_or_a_source() -> None:
    with pytest.raises(InvalidName, match="PCP-P1"):
        Revision(PAGE, SCOPE, None)
    assert Revision(PAGE, SCOPE, None, source_refs=("https://example.org",)).payload is None


def test_a_revision_may_not_end_before_it_begins() -> None:
    with pytest.raises(InvalidName):
        Revision(PAGE, SCOPE, EMPTY, valid_from=AT, valid_to=Instant(AT.microseconds - 1))
    assert Revision(PAGE, SCOPE, EMPTY, valid_from=AT, valid_to=AT).valid_to == AT


@pytest.mark.parametrize(
    "text", ["", "anna", "user:", "root:x", "user:a b", "user:a\n", "user:\0", "user:" + "x" * 101]
)
def test_what_names_nobody_is_no_principal(text: str) -> None:
    with pytest.raises(InvalidName):
        Principal(text)


def test_an_agent_acts_as_a_model() -> None:
    assert Principal("agent:x").actor_type is ActorType.MODEL
    assert Principal("tool:x").to_json() == {"actor_type": "tool", "actor_id": "tool:x"}


@pytest.mark.parametrize("media_type", ["", "text", "text/", "/x", "a/b\nc", "text/x\0", "a b/c"])
def test_what_is_no_media_type_is_refused(media_type: str) -> None:
    with pytest.raises(InvalidName):
        Payload(media_type, Digest.of(b""), 0)


BROKEN = {
    "no payload digest": {"payload": {"media_type": "text/plain", "ref": "x", "size": 0}},
    "no page": {"page_id": 5},
    "neither payload nor source": {"payload": None},
    "parents are no list": {"parents": 3},
    "an instant that is none": {"created_at": "yesterday"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_envelope_that_says_nonsense_is_corrupt_and_named(name: str) -> None:
    members = json.loads(GOLDEN) | BROKEN[name]
    with pytest.raises(Corrupt, match="pages/rev_x"):
        Revision.decode(json.dumps(members).encode(), "pages/rev_x")


@pytest.mark.parametrize("facets", ["x", {"tags": 5}, {"tags": "abc"}, {"title": ["x"]}, []])
def test_facets_of_another_shape_are_corrupt(facets: object) -> None:
    with pytest.raises(Corrupt):
        Revision.decode(json.dumps(json.loads(GOLDEN) | {"facets": facets}).encode(), "x")
