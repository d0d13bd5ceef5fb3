"""What the commands of the host share: the providers, and what they get from this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from pcpfs.cli.call import Call
from pcpfs.cli.command import principal
from pcpfs.cli.serving import DEFAULT_PRINCIPAL
from pcpfs.errors import NotFound, UsageError

if TYPE_CHECKING:
    from pcpfs.host.consent import Consents
    from pcpfs.host.declarations import Declaration
    from pcpfs.host.evidence import TrustedRoots
    from pcpfs.host.host import Host
    from pcpfs.host.transport import Surroundings
    from pcpfs.store.store import Store

F = TypeVar("F", bound=Callable[..., object])


def provider_options(function: F) -> F:
    """`--provider` and `--credential`."""
    for option in (
        click.option(
            "--credential", "credentials", multiple=True, metavar="NAME=VARIABLE",
            help="The environment variable that holds the bearer token of a provider behind a URL.",
        ),
        click.option(
            "--provider", "providers", multiple=True, metavar="NAME=COMMAND",
            help="Another provider: a command, or a URL (https://…; http:// on this machine).",
        ),
    ):  # fmt: skip
        function = option(function)
    return function


@dataclass(frozen=True, slots=True)
class Given:
    """The providers that were named on the command line."""

    providers: tuple[str, ...]
    credentials: tuple[str, ...]
    only: tuple[str, ...] = ()


def known_providers(call: Call, given: Given) -> tuple[Declaration, ...]:
    """The store's own, those of `pcpfs.toml`, and those that were typed, which replace others of
    their name; with `only`, those."""
    from pcpfs.host.declarations import OWN, configured, typed  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.own import own_store  # noqa: PLC0415

    found: dict[str, Declaration] = {}
    store = store_if_any(call)
    if store is not None:
        acting = call.settings.principal or principal(DEFAULT_PRINCIPAL)
        own = own_store(store.path, acting, call.settings.wait)
        found = {each.name: each for each in (*configured(store.config.providers), own)}
    variables = _by_name(given.credentials)
    added = [typed(text, variables) for text in given.providers]
    names = [each.name for each in added]
    if len(set(names)) < len(names):
        raise UsageError("two providers given with --provider have the same name")
    if OWN in names:
        raise UsageError(f"{OWN!r} is the store itself; give the provider another name")
    found |= {each.name: each for each in added}
    unknown = [name for name in given.only if name not in found]
    if unknown:
        raise NotFound(f"there is no provider {unknown[0]!r}; known: {', '.join(sorted(found))}")
    return tuple(found[name] for name in sorted(found) if not given.only or name in given.only)


def _by_name(texts: Sequence[str]) -> Mapping[str, str]:
    parts = [text.partition("=") for text in texts]
    if not all(name and variable for name, _, variable in parts):
        raise UsageError("a credential is given as NAME=VARIABLE, the name of a variable")
    return {name: variable for name, _, variable in parts}


def store_if_any(call: Call) -> Store | None:
    """The store; None where none was named and there is none."""
    try:
        return call.store
    except NotFound:
        if call.settings.named_store is not None:
            raise
        return None


def surroundings(timeout: float | None = None) -> Surroundings:
    """PATH and HOME for programs (CGP hosts give no more), and tokens from our own variables."""
    from pcpfs.host.channels import Limits  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.transport import Surroundings  # noqa: PLC0415

    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    limits = Limits() if timeout is None else Limits.within(timeout)
    home = environment.get("HOME")
    return Surroundings(environment, home, os.environ.get, limits=limits)


def host(call: Call, given: Given, trusted: Sequence[str], timeout: float | None) -> Host:
    """The host of this call, with the consents of this machine."""
    from pcpfs.clock import SystemClock  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.consent import ConsentGate  # noqa: PLC0415
    from pcpfs.host.host import Host  # noqa: PLC0415

    store = store_if_any(call)
    now = (SystemClock() if store is None else store.clock).now()
    declarations = known_providers(call, given)
    gate = ConsentGate(_consents(store), now)
    return Host(declarations, gate, surroundings(timeout), _roots(store, trusted))


def _consents(store: Store | None) -> Consents:
    from pcpfs.host.consent import Consents  # noqa: PLC0415 (help needs no host)
    from pcpfs.host.receipts import Receipts  # noqa: PLC0415

    return Consents({}) if store is None else Receipts(store).in_force()


def _roots(store: Store | None, trusted: Sequence[str]) -> TrustedRoots:
    """The store, the sources that lie on this machine, and what was named."""
    from pcpfs.host.evidence import TrustedRoots  # noqa: PLC0415 (help needs no host)
    from pcpfs.sources.roots import Roots  # noqa: PLC0415

    known = () if store is None else (store.path, *(root.path for root in Roots(store).all()))
    return TrustedRoots((*known, *(Path(each).absolute() for each in trusted)))
