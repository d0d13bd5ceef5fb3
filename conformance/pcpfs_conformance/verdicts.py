"""What a check says, as a verdict."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pcpfs.model.inspection import CheckResult, Outcome
from pcpfs_conformance.provider_bench import CheckFailed, CheckSkipped
from pcpfs_conformance.provider_peer import NoReply

B = TypeVar("B")


def judge(name: str, check: Callable[[B], str], bench: B) -> CheckResult:
    """One check as a verdict, whatever the program does that is judged."""
    try:
        return CheckResult(name, Outcome.PASS, one_line(check(bench)))
    except CheckSkipped as reason:
        return CheckResult(name, Outcome.SKIP, one_line(str(reason)))
    except (CheckFailed, NoReply) as trouble:
        return CheckResult(name, Outcome.FAIL, one_line(str(trouble)))


def one_line(text: str) -> str:
    """Evidence that cannot drive a terminal: what others wrote is not trusted."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:500]
