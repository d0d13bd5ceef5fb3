"""Providers as they are declared: a program, an address, or something in this process.

What a person types with `--provider` is theirs. What stands in `pcpfs.toml` may have come with a
clone, a pull or a copied folder: it is neither started nor contacted before somebody has agreed to
exactly that on this machine (`consent`).
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from pcpfs.errors import UsageError
from pcpfs.host.words import shown_command
from pcpfs.model.cgp import Envelope
from pcpfs.model.codec import canonical
from pcpfs.model.ids import Digest
from pcpfs.model.secrets import withheld

OWN = "pcpfs"
"""The name of the provider that answers from the store itself."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_UNFIT = re.compile(r"[\x00-\x20\x7f-\uffff]")
_LOCAL_NAMES = ("localhost",)

Answering = Callable[[Envelope], Envelope | None]


@dataclass(frozen=True, slots=True)
class Program:
    """A command that speaks on its standard input and output; no shell reads it."""

    words: tuple[str, ...] = field(repr=False)

    is_remote = False

    @property
    def shown(self) -> str:
        """For people, without what looks like a secret (C8)."""
        return shown_command(self.words)

    def members(self) -> Mapping[str, object]:
        return {"command": list(self.words)}


@dataclass(frozen=True, slots=True)
class Address:
    """A URL to which envelopes are posted. `credential_env` names the variable that holds a bearer
    token, which is read when it is needed and shown nowhere."""

    url: str = field(repr=False)
    credential_env: str | None = None

    @property
    def shown(self) -> str:
        """Without the query, which may hold a key (C8)."""
        parts = urlsplit(self.url)
        return withheld(f"{parts.scheme}://{parts.netloc}{parts.path}")

    @property
    def is_remote(self) -> bool:
        """Everything but the loopback interface is another machine (C4)."""
        return not is_loopback(urlsplit(self.url).hostname or "")

    def members(self) -> Mapping[str, object]:
        return {"url": self.url, "credential_env": self.credential_env or ""}


@dataclass(frozen=True, slots=True)
class Inside:
    """Something in this process. `start` is called in the thread that will ask it, and gives a
    function that answers envelopes and one that closes it."""

    start: Callable[[], tuple[Answering, Callable[[], None]]] = field(repr=False)

    is_remote = False
    shown = "in this process"

    def members(self) -> Mapping[str, object]:
        return {"inside": True}


Launch = Program | Address | Inside


class Origin(StrEnum):
    """Who declared a provider."""

    TYPED = "typed"
    CONFIG = "config"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A provider under the name that this host gives it."""

    name: str
    launch: Launch
    origin: Origin

    @property
    def is_remote(self) -> bool:
        return self.launch.is_remote

    @property
    def pin(self) -> Digest:
        """Another command or address is another provider, whatever its name."""
        return Digest.of(canonical(self.launch.members()))


def typed(text: str, credentials: Mapping[str, str] | None = None) -> Declaration:
    """`NAME=COMMAND` or `NAME=URL`; `credentials` names variables, by provider."""
    name, equals, what = text.partition("=")
    if not equals or not what.strip():
        raise UsageError("a provider is given as NAME=COMMAND or NAME=URL", given=name)
    return Declaration(
        checked_name(name), _launch(name, what.strip(), (credentials or {}).get(name)), Origin.TYPED
    )


def configured(table: Mapping[str, object]) -> tuple[Declaration, ...]:
    """The `[providers]` of `pcpfs.toml`, by name.

    A value is a command or URL, a list of words, or a table with `command`, or with `url` and
    perhaps `credential_env`.
    """
    return tuple(
        Declaration(checked_name(name), _configured(name, table[name]), Origin.CONFIG)
        for name in sorted(table)
    )


def checked_name(name: str) -> str:
    """The name, if it can be one."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"{name[:80]!r} is no name for a provider: up to 64 letters, digits, '.', '_', '-'",
            given=name[:80],
        )
    return name


def _configured(name: str, value: object) -> Launch:
    if isinstance(value, str):
        return _launch(name, value.strip(), None)
    if isinstance(value, list):
        return Program(split_command(name, value))
    if isinstance(value, Mapping):
        command, url, variable = (value.get(k) for k in ("command", "url", "credential_env"))
        if isinstance(url, str) and command is None and isinstance(variable, str | None):
            return _address(name, url, variable)
        if command is not None and url is None and variable is None:
            return _configured(name, command)
    raise UsageError(f"provider {name!r}: give a command, or a url, perhaps with credential_env")


def _launch(name: str, what: str, variable: str | None) -> Launch:
    # `https:/…` is a URL with a mistake: as a program it would be printed, password and all.
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://|https?:", what, re.IGNORECASE):
        return _address(name, what, variable)
    return Program(split_command(name, what))


def split_command(name: str, value: object) -> tuple[str, ...]:
    """The words of a command, which is given as one text or as a list of words."""
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise UsageError(f"provider {name!r}: the command cannot be read: {error}") from error
    listed = words if isinstance(words, list) else []
    given = tuple(word for word in listed if isinstance(word, str) and "\0" not in word)
    if not given or len(given) != len(listed) or not given[0]:
        raise UsageError(f"provider {name!r}: a command is a text or a list of words")
    return given


def _address(name: str, url: str, variable: str | None) -> Address:
    """An address that may be used; what is wrong is said without the address, which may hold a
    secret (C8)."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"provider {name!r}: its URL cannot be read") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageError(f"provider {name!r}: a URL begins with https:// or http:// and has a host")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"provider {name!r}: no user or password in a URL; name a variable that holds the token"
        )
    if parts.fragment or _UNFIT.search(url):
        raise UsageError(f"provider {name!r}: its URL has characters that do not belong there")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise UsageError(f"provider {name!r}: C7: another machine is reached by https:// only")
    if variable is not None and _VARIABLE.fullmatch(variable) is None:
        raise UsageError(f"provider {name!r}: credential_env is the name of a variable")
    return Address(url, variable)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its very name; what a name resolves to may change (C4)."""
    if host.lower() in _LOCAL_NAMES:
        return True
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return False
    return found.is_loopback and getattr(found, "ipv4_mapped", None) is None
