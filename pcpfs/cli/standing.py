"""The five questions about a page that are apart (PCP-S6), as options."""

from __future__ import annotations

EPISTEMIC = {
    "authority": "On whose word, such as owner or vendor.",
    "integrity": "Whether it is as it was, such as verified.",
    "epistemic_status": "How sure it is, such as observed or guessed.",
    "sensitivity": "Who should see it, such as internal.",
    "instruction_policy": "Whether it may instruct, such as never.",
}
