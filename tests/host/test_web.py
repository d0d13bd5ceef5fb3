"""HTTP: TLS, one address, deadlines, and a credential that nobody sees (C4, C7, C8)."""

from __future__ import annotations

import json
import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pcpfs.host.channels import Limits
from pcpfs.host.declarations import Address, Declaration, Origin
from pcpfs.host.host import Host, HostAnswer
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.host.web import Network, WebChannel
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import read_envelope, write_envelope
from tests.host.acting import ACK, AROUND, Actor, Open, ack, frame, included, inside, reports

TOKEN = "a-token-that-nobody-sees"
Reply = Callable[[bytes, bytes], bytes]


def envelopes(actor: Actor) -> Reply:
    """An HTTP answer with what the actor says."""

    def reply(head: bytes, body: bytes) -> bytes:
        said = actor.answer(read_envelope(body))
        assert said is not None
        return response(200, write_envelope(said))

    return reply


def response(status: int, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status} So", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


@contextmanager
def serving(reply: Reply, tls: ssl.SSLContext | None = None) -> Iterator[tuple[int, list[bytes]]]:
    """A server on this machine; its port, and the heads of the requests that it got."""
    heads: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, args=(server, reply, heads, tls), daemon=True)
        thread.start()
        yield server.getsockname()[1], heads
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5)


def serve(
    server: socket.socket, reply: Reply, heads: list[bytes], tls: ssl.SSLContext | None
) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        try:
            connection = tls.wrap_socket(connection, server_side=True) if tls else connection
            with connection, connection.makefile("rb") as lines:
                head = b"".join(iter(lines.readline, b"\r\n"))
                heads.append(head)
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                connection.sendall(reply(head, lines.read(length)))
        except (OSError, IndexError):
            connection.close()


def ask_at(
    url: str, *others: Declaration, network: Network | None = None, **how: object
) -> HostAnswer:
    """One question to a URL."""
    address = Address(url, "DOCS_TOKEN" if how.get("token") else None)
    declared = Declaration("web", address, Origin.TYPED)
    around = replace(
        AROUND,
        credential={"DOCS_TOKEN": how.get("token")}.get,  # type: ignore[arg-type]
        network=network or Network(),
        limits=how.get("limits", Limits()),  # type: ignore[arg-type]
    )
    query = cgp.ContextQuery(goal="why", max_frames=32, max_tokens=8192)
    return Host([declared, *others], Open(), around).ask(query)


def test_one_envelope_is_posted_and_one_comes_back() -> None:
    actor = Actor([frame("theirs")])
    with serving(envelopes(actor)) as (port, heads):
        answer = ask_at(f"http://127.0.0.1:{port}/cgp?x=1", token=TOKEN)
    assert (included(answer), reports(answer)) == (["theirs"], {})
    assert [each.type for each in actor.heard] == ["handshake", "query"]
    assert heads[0].startswith(b"POST /cgp?x=1 HTTP/1.1\r\n")
    assert f"Authorization: Bearer {TOKEN}".encode() in heads[0]


def test_a_redirect_is_not_followed() -> None:
    """C3: the consent is for one address."""
    actor = Actor([frame("theirs")])
    with (
        serving(envelopes(actor)) as (other, heads),
        serving(lambda h, b: response(307, b"", f"Location: http://127.0.0.1:{other}/")) as (at, _),
    ):
        answer = ask_at(f"http://localhost:{at}/", token=TOKEN)
    assert reports(answer) == {"web": ("refused", "C3")}
    assert heads == []


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (response(500, b"<html>"), "refused"),
        (response(200, b"<html>"), "garbled"),
        (response(200, b""), "garbled"),
        (response(200, b"[]"), "garbled"),
        (b"nonsense\r\n\r\n", "garbled"),
        (b"", "garbled"),
        (b"HTTP/1.1 200 So\r\nContent-Length: 99\r\n\r\n{", "garbled"),
        (b"HTTP/1.1 200 So\r\n" + b"X: y\r\n" * 999 + b"\r\n", "garbled"),
        (response(200, b" " * 99_000_000), "flooder"),
        (
            response(503, b'{"type":"error","code":"unavailable","message":"later"}'),
            "refused",
        ),
    ],
    ids=range(10),
)
def test_any_answer_gets_a_report(reply: bytes, kind: str) -> None:
    with serving(lambda h, b: reply) as (port, _):
        answer = ask_at(f"http://127.0.0.1:{port}/", inside("honest", frame("mine")))
    assert {name: told[0] for name, told in reports(answer).items()} == {"web": kind}
    assert included(answer) == ["mine"]


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 So\r\nX: ", b"HTTP/1.1 200 So\r\n\r\n"])
def test_a_server_that_drips_hangs_nobody_by_itself(head: bytes) -> None:
    """A consent is asked for with nobody beside it who would give the server up."""

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with closing(connection), suppress(OSError):
            connection.sendall(head)
            for _ in range(200):
                connection.sendall(b"H")
                time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=drip, args=(server,), daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        channel = WebChannel(Address(url), None, Network())
        with pytest.raises(ProviderTrouble) as given_up:
            channel.ask(cgp.Handshake(protocol_version=cgp.VERSION), 0.3, 9999)
    assert given_up.value.kind is Kind.HUNG


def test_a_server_that_drips_is_given_up_in_time() -> None:
    limits = Limits(handshake=0.3, query=0.3, exit=0.1)

    def drip(connection: socket.socket) -> None:
        for _ in range(600):
            connection.sendall(b"H")
            time.sleep(0.05)

    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            connection, _ = server.accept()
            with closing(connection):
                try:
                    drip(connection)
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        began = time.monotonic()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        answer = ask_at(url, inside("honest", frame("mine")), limits=limits)
        assert time.monotonic() - began < 15
    assert reports(answer) == {"web": ("hung", None)}
    assert included(answer) == ["mine"]


def test_nobody_there_is_unreachable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert reports(ask_at(f"http://127.0.0.1:{port}/")) == {"web": ("unreachable", None)}


def test_localhost_that_leads_elsewhere_hears_nothing() -> None:
    """C4: the name says this machine, the connection does not."""

    class Elsewhere(socket.socket):
        def getpeername(self) -> tuple[str, int]:
            return ("192.0.2.7", 80)

    actor = Actor([frame("theirs")])
    with serving(envelopes(actor)) as (port, heads):

        def dial(host: str, at: int, seconds: float) -> socket.socket:
            connection = Elsewhere()
            connection.connect(("127.0.0.1", at))
            return connection

        answer = ask_at(f"http://localhost:{port}/", network=Network(dial))
    assert reports(answer) == {"web": ("changed", "C4")}
    assert heads == []


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "ü", ""])
def test_a_token_that_no_header_carries_is_refused_unseen(token: str) -> None:
    """C8: the standard library would quote it in its error."""
    answer = ask_at("http://127.0.0.1:9/", token=token or "\0")
    (report,) = answer.reports
    assert str(report.kind) == "unreachable"
    assert not token or token not in str(answer)


def test_the_credential_is_nowhere_to_be_seen(caplog: pytest.LogCaptureFixture) -> None:
    """C8: not even when the server sends it back in an error."""
    caplog.set_level(logging.DEBUG)
    message = json.dumps({"type": "error", "message": f"bad token {TOKEN}"}).encode()
    seen = ""
    for reply in (response(401, message), response(401, b"x"), b"HTTP/1.1 " + TOKEN.encode()):
        with serving(lambda h, b, reply=reply: reply) as (port, _):  # type: ignore[misc]
            answer = ask_at(f"http://127.0.0.1:{port}/", token=TOKEN)
        seen += f"{answer} {answer!r} {[str(each) for each in answer.reports]}"
    assert "bad token [withheld: credential]" in seen
    assert TOKEN not in seen + caplog.text


@pytest.mark.parametrize("escaped", [False, True])
@pytest.mark.parametrize(
    ("greeting", "members"),
    [
        (ACK, {"title": "", "id": f"id {TOKEN}"}),
        (ACK, {"valid_from": TOKEN}),
        (ACK, {"title": TOKEN, "citation_label": TOKEN}),
        (ACK, {"provenance": (cgp.Provenance(type="episode", uri=TOKEN),)}),
        (ack(TOKEN, egress=True, name=TOKEN), {}),
        (ack(version=TOKEN), {}),
        (replace(ACK, protocol_version=TOKEN), {}),
    ],
    ids=range(7),
)
def test_a_credential_that_comes_back_anywhere_is_withheld(
    greeting: cgp.HandshakeAck, members: dict[str, Any], escaped: bool
) -> None:
    """C8: reports quote what a provider says, and prompts go elsewhere."""
    answering = envelopes(Actor([frame("theirs", **members)], greeting))

    def reply(head: bytes, body: bytes) -> bytes:
        said = answering(head, body).partition(b"\r\n\r\n")[2]
        code = TOKEN.replace("-", "\\u002d") if escaped else TOKEN
        return response(200, said.replace(TOKEN.encode(), code.encode()))

    with serving(reply) as (port, _):
        answer = ask_at(f"http://127.0.0.1:{port}/", token=TOKEN)
    seen = f"{answer} {[str(each) for each in answer.reports]}"
    assert (TOKEN in seen, "[withheld: credential]" in seen) == (False, True)


def test_content_with_the_credential_is_left_out() -> None:
    """D2: what is withheld of it no longer has its digest."""
    with serving(envelopes(Actor([frame("leak", TOKEN), frame("fine")]))) as (port, _):
        answer = ask_at(f"http://127.0.0.1:{port}/", token=TOKEN)
    assert (included(answer), reports(answer)) == (["fine"], {"web": ("liar", "D2")})


def test_no_part_of_a_credential_is_in_the_report_of_a_garbled_answer() -> None:
    """C8: what is quoted of it may be cut off in the middle."""
    token = "secret" * 20
    body = json.dumps({"type": "handshake_ack", "provider": f"Bearer {token}"}).encode()
    with serving(lambda h, b: response(200, body)) as (port, _):
        answer = ask_at(f"http://127.0.0.1:{port}/", token=token)
    assert reports(answer)["web"][0] == "garbled"
    assert "secret" not in str(answer.reports)


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for docs.example with its key, which nobody trusts yet."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("there is no openssl here to make a certificate")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    done = subprocess.run(
        [
            *(tool, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
            *("-nodes", "-days", "2", "-subj", "/CN=docs.example"),
            *("-addext", "subjectAltName=DNS:docs.example", "-keyout", str(file), "-out", "-"),
        ],
        check=True,
        capture_output=True,
    )
    file.write_bytes(file.read_bytes() + done.stdout)
    return file


def tls_answer(certificate: Path, host: str, trust: bool) -> tuple[HostAnswer, list[bytes]]:
    """What comes of asking a TLS server under a name, with its certificate trusted or not."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate)
    actor = Actor([frame("theirs")])
    with serving(envelopes(actor), server) as (port, heads):

        def dial(name: str, at: int, seconds: float) -> socket.socket:
            return socket.create_connection(("127.0.0.1", port), seconds)

        def client() -> ssl.SSLContext:
            return ssl.create_default_context(cafile=str(certificate) if trust else None)

        answer = ask_at(f"https://{host}/cgp", token=TOKEN, network=Network(dial, client))
    return answer, heads


@pytest.mark.parametrize(
    ("host", "trust", "is_asked"),
    [
        ("docs.example", True, True),
        ("docs.example", False, False),
        ("other.example", True, False),
    ],
)
def test_another_machine_is_asked_only_under_its_certificate(
    certificate: Path, host: str, trust: bool, is_asked: bool
) -> None:
    """C7: neither a question nor the token goes to whom the certificate does not name."""
    answer, heads = tls_answer(certificate, host, trust)
    assert (included(answer) == ["theirs"]) == is_asked == bool(heads)
    assert is_asked or reports(answer) == {"web": ("unreachable", "C7")}


def test_the_port_is_part_of_the_host_header() -> None:
    with serving(envelopes(Actor(greeting=ACK))) as (port, heads):
        ask_at(f"http://127.0.0.1:{port}/")
    assert f"\r\nHost: 127.0.0.1:{port}\r\n".encode() in heads[0]
