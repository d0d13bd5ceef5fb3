"""The rules of PCP checked on any store, with a report by rule id; pytest is not needed to read it.

inspect(lambda: a context manager that gives a new, empty `stores.StoreBackend`)
"""

from __future__ import annotations

import inspect as python
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from pcpfs.errors import PcpfsError
from pcpfs.model.inspection import CheckResult, Inspection, Outcome
from pcpfs_conformance.stores import RULES, StoreBackend, StoreContract
from pcpfs_conformance.verdicts import one_line

Check = Callable[..., None]
Fresh = Callable[[], AbstractContextManager[StoreBackend]]


def checks(contract: StoreContract) -> Mapping[str, Check]:
    """The tests of a contract by the rule that each checks, in the order of RULES."""
    tests = (test for name, test in python.getmembers(contract, python.ismethod) if _is_test(name))
    found: dict[str, Check] = {rule_of(test): test for test in tests}
    return {rule: found[rule] for rule in RULES if rule in found}


def inspect(fresh: Fresh, tell: Callable[[CheckResult], None] | None = None) -> Inspection:
    """Every rule on a store of its own; never raises for what the store does."""
    results = []
    for rule, check in checks(StoreContract()).items():
        with fresh() as backend:
            results.append(judged(rule, check, backend))
        if tell is not None:
            tell(results[-1])
    return Inspection(tuple(results))


def broken_rules(backend: Callable[[], StoreBackend]) -> list[str]:
    """The rules that a store breaks, each checked on a backend of its own."""
    found = ((r, judged(r, check, backend())) for r, check in checks(StoreContract()).items())
    return [rule for rule, result in found if result.outcome is Outcome.FAIL]


def judged(rule: str, check: Check, backend: StoreBackend) -> CheckResult:
    """One check as a verdict; the evidence says in words what was checked."""
    name = getattr(check, "__name__", rule).removeprefix("test_").replace("_", " ")
    try:
        check(backend=backend)
    except (AssertionError, PcpfsError) as trouble:
        return CheckResult(rule, Outcome.FAIL, f"{name}: {one_line(str(trouble)) or 'not so'}")
    except Exception as trouble:  # whatever a store of others does is a verdict
        told = one_line(f"{type(trouble).__name__}: {trouble}")
        return CheckResult(rule, Outcome.FAIL, f"{name}: {told}")
    return CheckResult(rule, Outcome.PASS, name)


def rule_of(test: Any) -> str:
    """The rule that a test checks."""
    return str(test.__func__.rule)


def _is_test(name: str) -> bool:
    return name.startswith("test_")
