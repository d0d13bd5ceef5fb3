"""The checks of a provider that look at how it talks: versions, consent, errors, endings.

A check is a function of a bench; it returns its evidence, or raises CheckFailed or CheckSkipped.
What a provider does instead of answering (NoReply) fails the check that asked.
"""

from __future__ import annotations

from collections.abc import Callable

from pcpfs.model import cgp
from pcpfs.model.cgp_rules import consent_breaches, dimensions
from pcpfs.model.cgp_wire import write, write_envelope
from pcpfs_conformance.provider_bench import (
    Bench,
    CheckFailed,
    CheckSkipped,
    Talk,
    described,
    greet,
    require_none,
)

Check = Callable[[Bench], str]

FOREIGN_VERSION = "contextgraph/999.0"
_LONGEST_VECTOR = 65_536
NOBODY = "a-provider-of-another-name"

_GARBAGE = (
    b"this is no JSON\n",
    b"{\n",
    b"[]\n",
    b"42\n",
    b'"text"\n',
    b"null\n",
    b"{}\n",
    b'{"type":42}\n',
    b'{"type":"no_such_request"}\n',
    b'{"type":"query"}\n',
    b'{"type":"query","query":[]}\n',
    b'{"type":"query","query":{"goal":7,"max_frames":8,"max_tokens":4096}}\n',
    b'{"type":"query","query":{"goal":"x","max_frames":-1,"max_tokens":"many"}}\n',
    b'{"type":"verify","request":{"frames":[5]}}\n',
    b"\xff\xfe\x00\n",
    b"[" * 20_000 + b"\n",
)


def handshake(bench: Bench) -> str:
    """H1 to H3: one family of versions, a name, and a named error for a foreign version."""
    with bench.peer() as peer:
        ack = greet(peer)
    if not (ack.provider.name.strip() and ack.provider.version.strip()):
        raise CheckFailed("H2: its name or version is empty")
    with bench.peer() as peer:
        peer.send(write_envelope(cgp.Handshake(protocol_version=FOREIGN_VERSION)))
        reply = peer.receive(peer.limits.handshake)
    _require_refusal(reply)
    return f"{ack.provider.name} {ack.provider.version} speaks {ack.protocol_version}"


def _require_refusal(reply: cgp.Envelope) -> None:
    """H3: the error by its name, or an acknowledgement in its own family for the host to judge."""
    if isinstance(reply, cgp.HandshakeAck):
        if cgp.family(reply.protocol_version) != cgp.family(cgp.VERSION):
            raise CheckFailed(f"H3: it speaks {reply.protocol_version!r} as well, it says")
    elif not isinstance(reply, cgp.Error) or reply.code != cgp.Code.INCOMPATIBLE_VERSION:
        raise CheckFailed(f"H3: {FOREIGN_VERSION} was answered by {described(reply)}")


def consent_scope(bench: Bench) -> str:
    """C5: what leaves the machine is declared as egress."""
    with bench.talk() as talk:
        flow = talk.ack.provider.data_flow
    require_none(consent_breaches(flow))
    scopes = ", ".join(flow.egress_scopes) or "no scopes"
    return f"reads {flow.reads}, writes {flow.writes}, egress {flow.egress}, {scopes}"


def query_answer(bench: Bench) -> str:
    """A plain query is answered with frames, in time, by a process that lives on."""
    with bench.talk() as talk:
        count = len(talk.ask(talk.plain).frames)
        talk.ask(talk.plain)
    return f"{count} frames, twice"


def wire_hygiene(bench: Bench) -> str:
    """Nothing but strict envelopes on standard output."""
    with bench.talk() as talk:
        frames = talk.base().frames
        if talk.capabilities.verify:
            talk.verify([cgp.Identity(provider_id=NOBODY, frame_id=f.id) for f in frames])
        talk.peer.send(write_envelope(cgp.Shutdown()))
        talk.peer.ending()
        strays = talk.peer.strays
    if strays:
        more = f" (and {len(strays) - 1} more)" if len(strays) > 1 else ""
        raise CheckFailed(f"{strays[0]}{more}")
    return f"only envelopes, {len(frames)} frames, without null members"


def shutdown_clean(bench: Bench) -> str:
    """R2: `shutdown` ends it with exit code 0, and nothing more is said."""
    with bench.talk() as talk:
        before = len(talk.peer.strays)
        talk.peer.send(write_envelope(cgp.Shutdown()))
        code = talk.peer.ending()
        late = talk.peer.strays[before:]
    if code is None:
        raise CheckFailed(f"R2: it goes on {bench.limits.exit:g} s after shutdown")
    if code != 0:
        raise CheckFailed(f"R2: it ends with exit code {code}")
    if late:
        raise CheckFailed(f"R2: {late[0]}")
    return "exit code 0"


def malformed_input_tolerance(bench: Bench) -> str:
    """R1: a bad line is answered `bad_request`, and the next question as ever."""
    with bench.talk() as talk:
        before = talk.base()
        for line in _GARBAGE:
            reply = talk.tell(line)
            if not isinstance(reply, cgp.Error):
                raise CheckFailed(f"R1: {_short(line)} was answered by {described(reply)}")
            if reply.code != cgp.Code.BAD_REQUEST:
                raise CheckFailed(f"R1: {_short(line)} gave {described(reply)}")
        talk.peer.send(b"\n")
        after = talk.ask(talk.plain)
    if len(after.frames) != len(before.frames):
        raise CheckFailed(f"R1: {len(before.frames)} frames before, {len(after.frames)} after")
    return f"{len(_GARBAGE)} bad lines, and it still answers"


def _short(line: bytes) -> str:
    return repr(line[:40].decode("utf-8", "replace"))


def correlation(bench: Bench) -> str:
    """H4: the id of a request comes back verbatim, also on errors; no id, none back."""
    with bench.talk() as talk:
        if not talk.capabilities.correlation:
            raise CheckSkipped("it does not offer correlation")
        talk.base()
        given = ("req-1", 'ü "2" \\ \u2028')
        for each in given:
            talk.peer.send(write_envelope(cgp.Query(id=each, query=talk.plain)))
        for each in given:
            _require_id(talk.peer.receive(talk.peer.limits.query), each, "a query")
        _require_id(talk.request(cgp.Query(query=talk.plain)), None, "a query without id")
        bad = write({"type": "query", "id": "req-3", "query": {"goal": "x"}}) + b"\n"
        _require_id(talk.tell(bad), "req-3", "a query that is refused")
        _verify_with_id(talk)
    return f"{len(given) + 2} ids echoed"


def _verify_with_id(talk: Talk) -> None:
    if talk.capabilities.verify:
        request = cgp.IdentityList(frames=())
        _require_id(talk.request(cgp.Verify(id="req-4", request=request)), "req-4", "verify")


def _require_id(reply: cgp.Envelope, wanted: str | None, what: str) -> None:
    found = getattr(reply, "id", None)
    if found != wanted:
        raise CheckFailed(f"H4: {what} with id {wanted!r} came back with {found!r}")


def embedding_fingerprint(bench: Bench) -> str:
    """E1: a vector that cannot be of the declared space is refused."""
    with bench.talk() as talk:
        talk.base()
        declared = talk.capabilities.embeddings_fingerprint
        if declared is None:
            reply = talk.request(cgp.Query(query=talk.asked(embedding=(0.5, 0.25, 0.125))))
            if not isinstance(reply, cgp.Frames | cgp.Error):
                raise CheckFailed(f"E1: an embedding was answered by {described(reply)}")
            return "declares none; a vector that came anyway did no harm"
        length = dimensions(declared)
        if length is None:
            raise CheckFailed(f"E1: {declared!r} is no fingerprint")
        if length > _LONGEST_VECTOR:
            raise CheckSkipped(f"{declared}: vectors of more than {_LONGEST_VECTOR:,} numbers")
        talk.ask(talk.asked(embedding=(0.5,) * length))
        foreign = talk.request(cgp.Query(query=talk.asked(embedding=(0.5,) * (length + 1))))
    if not isinstance(foreign, cgp.Error) or foreign.code != cgp.Code.BAD_REQUEST:
        raise CheckFailed(f"E1: a vector of {length + 1} numbers got {described(foreign)}")
    return f"{declared}: a vector of {length + 1} numbers is refused"
