"""What an inspection of a provider, a host or a store found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check; `evidence` is one line. A check that saw nothing to judge is skipped."""

    id: str
    outcome: Outcome
    evidence: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """All checks, in the order of the suite."""

    checks: tuple[CheckResult, ...]

    @property
    def ok(self) -> bool:
        return all(check.outcome is not Outcome.FAIL for check in self.checks)
