"""The conformance suite for providers: any command, a fresh process for every check.

inspect(["pcpfs", "-C", "notes", "serve"], {"PATH": …, "HOME": …}, query="retry policy")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pcpfs.model.inspection import CheckResult, Inspection, Outcome
from pcpfs_conformance import provider_checks as talking
from pcpfs_conformance import provider_frame_checks as framing
from pcpfs_conformance.provider_bench import Bench
from pcpfs_conformance.provider_checks import Check
from pcpfs_conformance.provider_peer import Limits
from pcpfs_conformance.verdicts import judge

CHECKS: Mapping[str, Check] = {
    check.__name__.replace("_", "-"): check
    for check in (
        talking.handshake,
        talking.consent_scope,
        talking.query_answer,
        framing.frame_validity,
        framing.verify_honesty,
        framing.budget_honesty,
        framing.as_of_temporal,
        framing.kinds_filter,
        framing.anchor_relevance,
        framing.provenance_fixture_consistency,
        talking.shutdown_clean,
        talking.malformed_input_tolerance,
        talking.embedding_fingerprint,
        talking.correlation,
        # What the protocol's own suite does not look at:
        framing.content_digest,
        framing.representation_members,
        framing.resolve_offered,
        framing.as_of_two_sided,
        framing.unique_ids,
        framing.frame_limit,
        talking.wire_hygiene,
    )
}

HANDSHAKE, QUERY_ANSWER = "handshake", "query-answer"


def inspect(
    command: Sequence[str],
    environment: Mapping[str, str],
    query: str | None = None,
    tell: Callable[[CheckResult], None] | None = None,
    *,
    limits: Limits | None = None,
) -> Inspection:
    """Run all checks (`ports.Inspector`). A provider that does not even shake hands, or answers no
    plain query, is not waited for again."""
    bench = Bench(tuple(command), environment, query, limits or Limits())
    results: list[CheckResult] = []
    failed: set[str] = set()
    for name, check in CHECKS.items():
        if HANDSHAKE in failed:
            result = CheckResult(name, Outcome.SKIP, f"there is no handshake; see {HANDSHAKE}")
        else:
            result = judge(name, check, replace(bench, has_answered=QUERY_ANSWER not in failed))
        results.append(result)
        failed |= {name} if result.outcome is Outcome.FAIL else set()
        if tell is not None:
            tell(result)
    return Inspection(tuple(results))
