"""The contract of the host suite: one JSON object in, one out, so that any host can be judged.

In: `providers` [{`id`, `command`}], `query` (as on the wire), and what a host may leave aside:
`consents` [{`provider_id`, `scope`}], `roots` [folder], `timeout_seconds`. Out: `admitted` and
`dropped`, identities of frames, the latter with a `reason`; ours says `prompt`, `reports` and
`usage` besides. `docs/host.md` tells more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pcpfs.errors import BadMessage
from pcpfs.host.accounts import INCLUDED, AuditRow
from pcpfs.host.channels import Limits
from pcpfs.host.composition import Form
from pcpfs.host.consent import scopes_of
from pcpfs.host.declarations import Declaration, Origin, Program, checked_name, split_command
from pcpfs.host.evidence import TrustedRoots
from pcpfs.host.host import Host, HostAnswer
from pcpfs.host.transport import Surroundings
from pcpfs.host.troubles import Kind, ProviderTrouble
from pcpfs.model import cgp
from pcpfs.model.cgp_wire import members, number, read, text

_LONGEST_TIMEOUT = 3600


@dataclass(frozen=True, slots=True)
class SpokenConsents:
    """A gate that knows what came with the question, and nothing else."""

    given: frozenset[tuple[str, str]]

    def before_contact(self, declaration: Declaration) -> None:
        """Whoever asks named the command."""

    def before_payload(self, declaration: Declaration, ack: cgp.HandshakeAck) -> None:
        wanted = scopes_of(declaration, ack.provider.data_flow)
        missing = tuple(s for s in wanted if (declaration.name, s) not in self.given)
        if missing:
            message = f"nobody has agreed that questions go to: {', '.join(missing)}"
            raise ProviderTrouble(Kind.CONSENT_MISSING, message, "C6", missing)


def judged(raw: bytes, around: Surroundings) -> dict[str, object]:
    """Ask as the object says; what is to be printed. BadMessage for anything else."""
    try:
        asked = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"the question is no JSON: {error}") from error
    if not isinstance(asked, Mapping):
        raise BadMessage("the question is a JSON object")
    query = read(cgp.ContextQuery, asked.get("query"), "query")
    if "timeout_seconds" in asked:
        seconds = number(asked["timeout_seconds"], "timeout_seconds")
        if not 0 < seconds <= _LONGEST_TIMEOUT:
            raise BadMessage(f"timeout_seconds is more than 0, and {_LONGEST_TIMEOUT} at most")
        around = replace(around, limits=Limits.within(seconds))
    roots = TrustedRoots(tuple(Path(text(r, "roots")) for r in _items(asked, "roots")))
    consents = SpokenConsents(frozenset(map(_consent, _items(asked, "consents"))))
    declarations = [_declaration(each) for each in _items(asked, "providers")]
    return _told(Host(declarations, consents, around, roots).ask(query, Form.CANONICAL))


def _told(answer: HostAnswer) -> dict[str, object]:
    admitted = [row for row in answer.audit if row.outcome == INCLUDED]
    dropped = [row for row in answer.audit if row.outcome != INCLUDED]
    return {
        "admitted": [members(row.identity) for row in admitted],
        "dropped": [_dropped(row) for row in dropped],
        "prompt": answer.prompt,
        "usage": answer.usage,
        "reports": answer.reports,
    }


def _dropped(row: AuditRow) -> dict[str, object]:
    return {**members(row.identity), "reason": f"{row.reason}: {row.message}"}


def _items(asked: Mapping[str, Any], name: str) -> list[Any]:
    value = asked.get(name, [])
    if not isinstance(value, list):
        raise BadMessage(f"{name} is an array")
    return value


def _declaration(value: object) -> Declaration:
    if not isinstance(value, Mapping):
        raise BadMessage("a provider is an object with id and command")
    name = checked_name(text(value.get("id"), "id"))
    return Declaration(name, Program(split_command(name, value.get("command"))), Origin.TYPED)


def _consent(value: object) -> tuple[str, str]:
    if not isinstance(value, Mapping):
        raise BadMessage("a consent is an object with provider_id and scope")
    return text(value.get("provider_id"), "provider_id"), text(value.get("scope"), "scope")
