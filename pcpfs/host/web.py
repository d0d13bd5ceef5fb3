"""A provider behind a URL: one envelope as the body of a POST, one as the body of the response.

The standard library does: one request a connection, no redirect is followed and no proxy asked (a
consent names one address), and every part of an answer has a deadline and a limit.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from pcpfs.host.channels import late, reply_of, too_long
from pcpfs.host.declarations import Address
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import write_envelope

if TYPE_CHECKING:
    from typing_extensions import Buffer

_PART = 1 << 16
_PORTS = {"http": 80, "https": 443}
_TOKEN = re.compile(r"[\x21-\x7e]+")

T = TypeVar("T")
Dial = Callable[[str, int, float], socket.socket]


@dataclass(frozen=True, slots=True)
class Credential:
    """A bearer token. It has no text: neither logs nor errors nor a debugger show it (C8)."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        if _TOKEN.fullmatch(self.token) is None:
            message = "the credential has characters that a header cannot carry"
            raise ProviderTrouble(Kind.UNREACHABLE, message)

    def hidden_in(self, value: T) -> T:
        """What came over the wire, as bytes or read, without the token in any text of it."""
        found: Any = value
        if isinstance(found, str):
            return cast(T, found.replace(self.token, "[withheld: credential]"))
        if isinstance(found, bytes):
            return cast(T, found.replace(self.token.encode(), b"[withheld: credential]"))
        if isinstance(found, tuple):
            return cast(T, tuple(map(self.hidden_in, found)))
        if is_dataclass(found) and not isinstance(found, type):
            members = {
                each.name: self.hidden_in(getattr(found, each.name)) for each in fields(found)
            }
            return cast(T, replace(found, **members))
        return value


def dial(host: str, port: int, seconds: float) -> socket.socket:
    """A connection to wherever the name leads."""
    return socket.create_connection((host, port), timeout=seconds)


@dataclass(frozen=True, slots=True)
class Network:
    """How to reach other machines: the seam at which tests put theirs."""

    dial: Dial = dial
    tls: Callable[[], ssl.SSLContext] = ssl.create_default_context


class WebChannel:
    """One address; a connection for each envelope."""

    def __init__(self, address: Address, credential: Credential | None, network: Network) -> None:
        self._address = address
        self._credential = credential
        self._network = network
        self._socket: socket.socket | None = None
        self._is_abandoned = False

    def ask(self, envelope: cgp.Envelope, seconds: float, most_bytes: int) -> cgp.Envelope:
        deadline = time.monotonic() + seconds
        try:
            status, body = self._post(write_envelope(envelope), deadline, most_bytes)
        except TimeoutError as error:
            raise late(seconds) from error
        except ssl.SSLError as error:
            reason = f"C7: no trusted connection: {getattr(error, 'verify_message', error.reason)}"
            raise ProviderTrouble(Kind.UNREACHABLE, reason, "C7") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._trouble(error) from error
        finally:
            self.end(0)
        try:
            return self._hidden(self._reply(status, self._hidden(body)))
        except ProviderTrouble as trouble:
            # Without its cause, which may quote what the server sent back (C8).
            told = self._hidden(trouble.message)
            raise ProviderTrouble(trouble.kind, told, trouble.rule, trouble.scopes) from None

    def end(self, seconds: float) -> None:
        """A server is not shut down by those who ask it."""
        if self._socket is not None:
            self._socket.close()

    def abandon(self) -> None:
        self._is_abandoned = True
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _post(self, body: bytes, deadline: float, most: int) -> tuple[int, bytes]:
        parts = urlsplit(self._address.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
        connection.sock = self._socket = self._connected(deadline)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, body, self._headers(parts.netloc))
        response = http.client.HTTPResponse(_punctual(self._socket, deadline), method="POST")
        response.begin()
        content: list[bytes] = []
        length = 0
        while length <= most:
            part = response.read1(_PART)
            if not part:
                return response.status, b"".join(content)
            content.append(part)
            length += len(part)
        raise too_long(length)

    def _connected(self, deadline: float) -> socket.socket:
        parts = urlsplit(self._address.url)
        host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
        plain = self._network.dial(host, port, _left(deadline))
        plain.settimeout(_left(deadline))
        if not self._address.is_remote:
            _require_loopback(plain)
        if self._is_abandoned:
            plain.close()
            raise TimeoutError
        if parts.scheme == "http":
            return plain
        return self._network.tls().wrap_socket(plain, server_hostname=host)

    def _headers(self, netloc: str) -> dict[str, str]:
        headers = {
            "Host": netloc,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Connection": "close",
        }
        if self._credential is not None:
            headers["Authorization"] = f"Bearer {self._credential.token}"
        return headers

    def _reply(self, status: int, body: bytes) -> cgp.Envelope:
        if 300 <= status < 400:
            message = f"it answers {status}, and a consent is for one address only"
            raise ProviderTrouble(Kind.REFUSED, message, "C3")
        reply = reply_of(body)
        if isinstance(reply, cgp.Error):
            return reply
        if status != 200:
            raise ProviderTrouble(Kind.REFUSED, f"it answers {status}")
        if reply is None:
            raise ProviderTrouble(Kind.GARBLED, "its answer is no envelope")
        return reply

    def _trouble(self, error: OSError | http.client.HTTPException) -> ProviderTrouble:
        reason = error.strerror if isinstance(error, OSError) else None
        told = self._hidden(reason or f"{type(error).__name__}")
        if isinstance(error, http.client.HTTPException):
            return ProviderTrouble(Kind.GARBLED, f"it does not speak HTTP: {told}")
        return ProviderTrouble(Kind.UNREACHABLE, f"{self._address.shown}: {told}")

    def _hidden(self, value: T) -> T:
        return value if self._credential is None else self._credential.hidden_in(value)


class _Punctual(io.RawIOBase):
    """What comes over a connection until the deadline; TimeoutError after it, however little came
    how often."""

    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        self._connection.settimeout(_left(self._deadline))
        return self._connection.recv_into(buffer)

    def makefile(self, mode: str) -> io.BufferedReader:
        """What the standard library asks of a socket."""
        assert mode == "rb", "an answer is read"
        return io.BufferedReader(self)


def _punctual(connection: socket.socket, deadline: float) -> socket.socket:
    return cast(socket.socket, _Punctual(connection, deadline))


def _left(deadline: float) -> float:
    """Seconds that are left; TimeoutError if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _require_loopback(connection: socket.socket) -> None:
    """`localhost` may lead anywhere; what left us under that name would leave the machine (C4)."""
    peer = connection.getpeername()
    if isinstance(peer, tuple) and not ipaddress.ip_address(peer[0].split("%")[0]).is_loopback:
        connection.close()
        raise ProviderTrouble(Kind.CHANGED, "C4: the address is not on this machine", "C4")
