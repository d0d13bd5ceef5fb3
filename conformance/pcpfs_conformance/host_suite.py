"""The conformance suite for hosts: any command that speaks the contract of `host_bench`.

inspect(["my-host", "--contract"], {"PATH": …, "HOME": …})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pcpfs.model.inspection import CheckResult, Inspection, Outcome
from pcpfs_conformance import host_checks as checks
from pcpfs_conformance.host_bench import PROBE, Bench, Runner
from pcpfs_conformance.host_checks import Check
from pcpfs_conformance.host_peer import runner
from pcpfs_conformance.verdicts import judge

CHECKS: Mapping[str, Check] = {
    check.__name__.replace("_", "-"): check
    for check in (
        checks.host_answer,
        checks.host_version_reject,
        checks.host_budget_drop,
        checks.host_frame_limit,
        checks.host_consent_gate,
        checks.host_scope_receipt,
        checks.host_provenance_bytes,
        checks.host_content_quoting,
        checks.host_composition_audit,
        checks.host_crash_isolation,
        checks.budget_bound,
        checks.total_partition,
        checks.quarantine,
        checks.determinism,
    )
}

HOST_ANSWER = "host-answer"


def inspect(
    command: Sequence[str],
    environment: Mapping[str, str],
    query: str | None = None,
    tell: Callable[[CheckResult], None] | None = None,
) -> Inspection:
    """Run all checks on a command (`ports.Inspector`)."""
    return inspect_runner(runner(tuple(command), environment), query, tell)


def inspect_runner(
    run: Runner, query: str | None = None, tell: Callable[[CheckResult], None] | None = None
) -> Inspection:
    """Run all checks on anything that answers a question of the contract."""
    bench = Bench(run, query or PROBE)
    results: list[CheckResult] = []
    for name, check in CHECKS.items():
        result = judge(name, check, bench)
        if name == HOST_ANSWER:
            bench = replace(bench, has_answered=result.outcome is Outcome.PASS)
        results.append(result)
        if tell is not None:
            tell(result)
    return Inspection(tuple(results))
