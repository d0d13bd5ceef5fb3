"""Files of a source tree that hold a secret are withheld: never stored, never served, and named."""

from __future__ import annotations

from pcpfs.sources.scanned import Content, Outcome, Reason, Skipped
from pcpfs.store.scopes.secrets import AllowList, source_findings


def without_secrets(outcome: Outcome, allowed: AllowList) -> Outcome:
    """What reading a file came to; a file with a secret that nobody accepted is skipped, and the
    reason says what stands where."""
    if not isinstance(outcome, Content):
        return outcome
    return withheld_for(outcome.candidate.path, outcome.data, allowed) or outcome


def withheld_for(path: str, raw: bytes, allowed: AllowList) -> Skipped | None:
    """Why these bytes are withheld; None if they hold no secret that nobody accepted."""
    found = source_findings(raw, allowed)
    if not found:
        return None
    first = f"{found[0].kind}, line {found[0].line}"
    detail = f"{first}, and {len(found) - 1} more" if len(found) > 1 else first
    return Skipped(path, Reason.WITHHELD, detail)
