"""Consent: what may leave this machine, to whom, and who said so (C1 to C6).

A receipt names one scope of one provider. A grant holds for exactly the command or address, name
and version that it was given for; a revocation is a receipt as well. What holds is a fold over all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pcpfs.errors import NotPermitted, Unavailable
from pcpfs.host.declarations import Address, Declaration, Origin
from pcpfs.host.troubles import Kind, ProviderTrouble, one_line
from pcpfs.model import cgp
from pcpfs.model.cgp_rules import LOCAL_SCOPE
from pcpfs.model.ids import Digest
from pcpfs.model.instants import Instant
from pcpfs.model.pages import ActorType, Principal

RUN = "run"
"""The scope of starting or contacting what `pcpfs.toml` declares."""
EGRESS = "egress"
"""The scope of a provider that takes data off this machine and does not say where to."""

MOST_SCOPES = 32
_LONGEST_NAME = 120

GRANT, REVOKE = "grant", "revoke"


@dataclass(frozen=True, slots=True)
class Receipt:
    """One grant or revocation. `sentence` says what leaves; `pin` is the digest of the command or
    address; `grantor` is `human` or `policy`, and `granted_by` who that was."""

    action: str
    provider: str
    scope: str
    sentence: str
    name: str
    version: str
    pin: Digest
    grantor: str
    granted_by: Principal
    granted_at: Instant
    expires_at: Instant | None = None

    @property
    def key(self) -> tuple[str, str]:
        """What it is about: the newest receipt of a provider and scope counts."""
        return self.provider, self.scope

    def has_expired(self, now: Instant) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Consents:
    """The grants that nobody revoked, by provider and scope."""

    granted: Mapping[tuple[str, str], Receipt]

    @classmethod
    def of(cls, receipts: Iterable[Receipt]) -> Consents:
        """What the receipts, in the order in which they were written, leave in force."""
        granted: dict[tuple[str, str], Receipt] = {}
        for receipt in receipts:
            granted.pop(receipt.key, None)
            if receipt.action == GRANT:
                granted[receipt.key] = receipt
        return cls(granted)

    def held(self, declaration: Declaration, scope: str, now: Instant) -> Receipt | None:
        """The grant of a scope for exactly this command or address, if it holds now."""
        receipt = self.granted.get((declaration.name, scope))
        if receipt is None or receipt.pin != declaration.pin or receipt.has_expired(now):
            return None
        return receipt


def scopes_of(declaration: Declaration, flow: cgp.DataFlow) -> tuple[str, ...]:
    """The scopes that each need a receipt before anything is asked (C1, C4, C6)."""
    outside = tuple(dict.fromkeys(s for s in flow.egress_scopes if s != LOCAL_SCOPE))
    if flow.egress or declaration.is_remote:
        outside = outside or (EGRESS,)
    return ((RUN,) if declaration.origin is Origin.CONFIG else ()) + outside


def sentence(declaration: Declaration, info: cgp.ProviderInfo, scope: str) -> str:
    """What a person agrees to, in words."""
    who = f"{declaration.name} ({one_line(f'{info.name} {info.version}')[:_LONGEST_NAME]})"
    if scope == RUN:
        verb = "contact" if declaration.is_remote else "run"
        return f"This machine may {verb} {shown_launch(declaration)} as {who}."
    where = shown_launch(declaration) if declaration.is_remote else "a program on this machine"
    to = "somewhere that it does not name" if scope == EGRESS else one_line(scope)
    return (
        f"The goal, words, anchors and instants of questions go to {who}, {where}, and leave this "
        f"machine to: {to}."
    )


def shown_launch(declaration: Declaration) -> str:
    """A command or address, and the name of the variable whose token goes along."""
    launch = declaration.launch
    variable = launch.credential_env if isinstance(launch, Address) else None
    return launch.shown + (f" (with the token in ${variable})" if variable else "")


class ConsentGate:
    """The gate of the transport: asks the consents that are in force."""

    def __init__(self, consents: Consents, now: Instant) -> None:
        self._consents = consents
        self._now = now

    def before_contact(self, declaration: Declaration) -> None:
        """What a file declares is not even started, and nothing remote is contacted."""
        if declaration.origin is Origin.CONFIG:
            if self._consents.held(declaration, RUN, self._now) is None:
                why = self._why(declaration, RUN, "nobody has agreed to that on this machine")
                raise _missing(declaration, (RUN,), why)
        elif declaration.is_remote and not self._has_any(declaration):
            message = "it is on another machine, and nobody has agreed to that"
            raise _missing(declaration, (EGRESS,), message, "C4")

    def before_payload(self, declaration: Declaration, ack: cgp.HandshakeAck) -> None:
        """Every scope has a receipt of its own, for the very provider that answered (C2, C6)."""
        missing = []
        for scope in scopes_of(declaration, ack.provider.data_flow):
            receipt = self._consents.held(declaration, scope, self._now)
            if receipt is None:
                missing.append(scope)
            elif (receipt.name, receipt.version) != (ack.provider.name, ack.provider.version):
                raise _changed(receipt, ack.provider)
        if missing:
            nobody = f"nobody has agreed that questions go to: {', '.join(missing)}"
            why = self._why(declaration, missing[0], nobody)
            raise _missing(declaration, tuple(missing), why, "C6")

    def _why(self, declaration: Declaration, scope: str, nobody: str) -> str:
        """Why a scope is not agreed to, where somebody once did agree to it."""
        receipt = self._consents.granted.get((declaration.name, scope))
        if receipt is None:
            return nobody
        if receipt.pin != declaration.pin:
            return f"the consent to {scope} is for another command or address"
        return f"the consent to {scope} ended at {receipt.expires_at}"

    def _has_any(self, declaration: Declaration) -> bool:
        return any(
            self._consents.held(declaration, scope, self._now) is not None
            for provider, scope in self._consents.granted
            if provider == declaration.name
        )


class OpenGate:
    """For the handshake of a grant: contact is what the person just asked for, a payload is not."""

    def before_contact(self, declaration: Declaration) -> None:
        """The person named this provider."""

    def before_payload(self, declaration: Declaration, ack: cgp.HandshakeAck) -> None:
        raise _missing(declaration, scopes_of(declaration, ack.provider.data_flow), "not yet", "C3")


def grants(
    declaration: Declaration,
    info: cgp.ProviderInfo,
    scopes: Sequence[str],
    *,
    by: Principal,
    now: Instant,
    until: Instant | None,
) -> tuple[Receipt, ...]:
    """A receipt for each scope, by the person or the rule of the house that says so.
    NotPermitted for anybody else: no model agrees to what leaves the machine."""
    grantor = grantor_of(by)
    if len(scopes) > MOST_SCOPES:
        message = f"{declaration.name} names {len(scopes)} scopes; nobody can agree to so many"
        raise Unavailable(message)
    return tuple(
        Receipt(
            GRANT,
            declaration.name,
            scope,
            sentence(declaration, info, scope),
            info.name,
            info.version,
            declaration.pin,
            grantor,
            by,
            now,
            until,
        )
        for scope in scopes
    )


def revocations(held: Iterable[Receipt], by: Principal, now: Instant) -> tuple[Receipt, ...]:
    """The receipts that take these grants back."""
    grantor = grantor_of(by)
    return tuple(
        replace(
            receipt,
            action=REVOKE,
            sentence=f"No longer: {receipt.sentence}",
            grantor=grantor,
            granted_by=by,
            granted_at=now,
            expires_at=None,
        )
        for receipt in held
    )


def require_allowed(principal: Principal) -> None:
    """NotPermitted for whoever cannot agree to anything."""
    grantor_of(principal)


def grantor_of(principal: Principal) -> str:
    """`human` for a person, `policy` for a rule that one made."""
    kinds = {ActorType.USER: "human", ActorType.SYSTEM: "policy"}
    found = kinds.get(principal.actor_type)
    if found is None:
        raise NotPermitted(f"{principal} cannot agree to what leaves this machine; a person must")
    return found


def _missing(
    declaration: Declaration, scopes: tuple[str, ...], why: str, rule: str = "C3"
) -> ProviderTrouble:
    advice = f"{why}; see and agree with: pcpfs host consent grant {declaration.name}"
    return ProviderTrouble(Kind.CONSENT_MISSING, advice, rule, scopes)


def _changed(receipt: Receipt, info: cgp.ProviderInfo) -> ProviderTrouble:
    message = (
        f"the consent is for {receipt.name} {receipt.version}, and this is {info.name} "
        f"{info.version}; look again: pcpfs host consent grant {receipt.provider}"
    )
    return ProviderTrouble(Kind.CHANGED, message, "C2", (receipt.scope,))
