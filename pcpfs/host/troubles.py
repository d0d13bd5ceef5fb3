"""What goes wrong with a provider: a name for each kind, so that it can be reported and counted.

Whatever a provider does ends as a `ProviderTrouble` in its own errand, and costs nobody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_MOST_CHARACTERS = 500


class Kind(StrEnum):
    """The values are stable: scripts read them."""

    BUDGET_LIAR = "budget_liar"
    FLOODER = "flooder"
    LIAR = "liar"
    HUNG = "hung"
    CRASHED = "crashed"
    GARBLED = "garbled"
    FOREIGN_VERSION = "foreign_version"
    CONTRADICTORY = "contradictory"
    CONSENT_MISSING = "consent_missing"
    CHANGED = "changed"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    NO_SHARE = "no_share"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Report:
    """What one provider did. `rule` is the protocol's own id of the rule that it broke."""

    provider: str
    kind: Kind
    message: str
    rule: str | None = None
    scopes: tuple[str, ...] | None = None

    def __str__(self) -> str:
        rule = f" ({self.rule})" if self.rule else ""
        return f"{self.provider}: {self.kind}{rule}: {self.message}"


class ProviderTrouble(Exception):
    """A provider cannot be used for this question."""

    def __init__(
        self, kind: Kind, message: str, rule: str | None = None, scopes: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = one_line(message)
        self.rule = rule
        self.scopes = scopes

    def report(self, provider: str) -> Report:
        return Report(provider, self.kind, self.message, self.rule, self.scopes or None)


def one_line(text: str) -> str:
    """What others wrote, on one line that cannot drive a terminal, and not too much of it."""
    shown = text[: 4 * _MOST_CHARACTERS]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else " " for c in shown)
    return " ".join(shown.split())[:_MOST_CHARACTERS]
