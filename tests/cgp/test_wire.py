"""Envelopes as lines: liberal in, strict out; every reference message survives the way."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pcpfs.errors import BadMessage
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from tests.cgp import reference

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "id", "query", "goal", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def without_absent(value: object) -> object:
    """JSON in which `null` and empty arrays that may be absent are absent."""
    if isinstance(value, list):
        return [without_absent(item) for item in value]
    if isinstance(value, dict):
        members = {name: without_absent(item) for name, item in value.items()}
        return {name: item for name, item in members.items() if item not in (None, [])}
    return value


@reference.needs_data
def test_every_reference_vector_is_written_back_byte_for_byte() -> None:
    for line in reference.vectors():
        assert write_envelope(read_envelope(line)) == line


@reference.needs_data
def test_every_reference_message_is_read_and_written_back() -> None:
    lines = [*reference.session(), *(json.dumps(m).encode() for m in reference.messages())]
    for line in lines:
        written = json.loads(write_envelope(read_envelope(line)))
        wanted = without_absent(json.loads(line))
        if written["type"] == "handshake_ack":
            wanted["capabilities"] = {  # type: ignore[index]
                "correlation": False,
                "graph": False,
                "verify": False,
                "resolve": False,
            } | wanted["capabilities"]  # type: ignore[index]
        assert without_absent(written) == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (b'{"type":"shutdown","why":"U1: unknown members are ignored"}', cgp.Shutdown()),
        (b'\xef\xbb\xbf {"type":"shutdown"}\r\n', cgp.Shutdown()),
        (
            b'{"type":"query","id":null,"query":{"goal":"g","max_frames":8.0,"max_tokens":1,'
            b'"kinds":null,"as_of":null}}',
            cgp.Query(query=cgp.ContextQuery(goal="g", max_frames=8, max_tokens=1)),
        ),
        (
            b'{"type":"verify","request":{"frames":[]}}',
            cgp.Verify(request=cgp.IdentityList(frames=())),
        ),
    ],
)
def test_what_is_unusual_is_understood(line: bytes, wanted: cgp.Envelope) -> None:
    assert read_envelope(line) == wanted


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[]",
        b"5",
        b'"query"',
        b"{}",
        b'{"type":7}',
        b'{"type":"nonsense"}',
        b'{"type":"query"}',
        b'{"type":"query","query":[]}',
        b'{"type":"query","query":{"max_frames":1,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":["g"],"max_frames":1,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":-1,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":true,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":1.5,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":4294967296,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":1e999,"max_tokens":1}}',
        b'{"type":"query","query":{"goal":"g","max_frames":1,"max_tokens":NaN}}',
        b'{"type":"query","query":{"goal":"g","max_frames":1,"max_tokens":1,"kinds":"doc"}}',
        b'{"type":"query","id":5,"query":{"goal":"g","max_frames":1,"max_tokens":1}}',
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"type":"query","query":{"max_frames":' + b"9" * 5000 + b"}}",
    ],
)
def test_what_cannot_be_understood_is_a_bad_request(line: bytes) -> None:
    with pytest.raises(BadMessage) as caught:
        read_envelope(line)
    assert caught.value.code == "bad_request"


def test_a_bad_request_keeps_its_id_for_the_reply() -> None:
    with pytest.raises(BadMessage) as caught:
        read_envelope(b'{"type":"query","id":"q7","query":{}}')
    assert caught.value.fields["id"] == "q7"


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_any_json_is_an_envelope_or_a_bad_request(value: object) -> None:
    try:
        envelope = read_envelope(json.dumps(value))
    except BadMessage:
        return
    assert read_envelope(write_envelope(envelope)) == envelope


@given(st.binary(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_an_envelope_or_a_bad_request(line: bytes) -> None:
    with suppress(BadMessage):
        read_envelope(line)


def test_what_is_written_is_one_line_without_null() -> None:
    query = cgp.ContextQuery(goal="a\nb\u2028 \u00e9", max_frames=1, max_tokens=2)
    line = write_envelope(cgp.Query(query=query))
    assert line.count(b"\n") == 1
    assert b"null" not in line
    assert read_envelope(line) == cgp.Query(query=query)


def test_an_id_that_is_no_unicode_is_echoed() -> None:
    envelope = read_envelope(b'{"type":"error","id":"\\ud800","message":"m"}')
    assert b'"id":"\\ud800"' in write_envelope(envelope)
