"""The protocol's own data: what the host sends keeps the schema, what it hears is understood."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pcpfs.host.channels import Limits
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from tests.cgp import reference
from tests.host.acting import ACK, Actor, ask, frame, included, inside, program


def listener(heard: Path, *, correlation: bool) -> str:
    """A program that writes down what it is told, and answers with nothing."""
    ack = json.loads(write_envelope(ACK))
    ack["capabilities"]["correlation"] = correlation
    answer = {"type": "frames", "result": {"frames": [], "truncated": False}}
    if correlation:
        answer["id"] = "1"
    return (
        "import json, sys\n"
        f"heard = open({str(heard)!r}, 'w')\n"
        f"answers = {{'handshake': {ack!r}, 'query': {answer!r}}}\n"
        "for line in sys.stdin:\n"
        "    heard.write(line); heard.flush()\n"
        "    reply = answers.get(json.loads(line)['type'])\n"
        "    print(json.dumps(reply), flush=True) if reply else sys.exit()\n"
    )


@reference.needs_data
@pytest.mark.parametrize("correlation", [True, False])
def test_what_the_host_sends_keeps_the_schema(tmp_path: Path, correlation: bool) -> None:
    from jsonschema import Draft202012Validator  # noqa: PLC0415 (needed with the data only)

    source = listener(tmp_path / "heard", correlation=correlation)
    full = {"query_text": "words", "kinds": ("doc",), "anchors": ("a.py",)}
    for asked in ({}, full | {"as_of": "2030-01-01T00:00:00Z"}):
        assert ask(program("listener", source), limits=Limits(exit=2), **asked).reports == ()
        lines = (tmp_path / "heard").read_text().splitlines()
        assert [json.loads(line)["type"] for line in lines] == ["handshake", "query", "shutdown"]
        assert ("id" in json.loads(lines[1])) == correlation
        for line in lines:
            Draft202012Validator(reference.schema()).validate(json.loads(line))


@reference.needs_data
def test_the_reference_answers_are_judged_frame_by_frame() -> None:
    """Their digests are made up, so that most of them cannot be believed; all are accounted for."""
    envelopes = [read_envelope(json.dumps(each)) for each in reference.messages()]
    envelopes += [read_envelope(line) for line in reference.vectors()]
    answers = [each for each in envelopes if isinstance(each, cgp.Frames)]
    assert answers
    for answer in answers:
        odd = Actor(answer.result.frames).called("reference")
        told = ask(odd, inside("honest", frame("mine")))
        assert len(told.audit) == len(answer.result.frames) + 1
        assert "mine" in included(told)
        assert told.usage.adds_up()
