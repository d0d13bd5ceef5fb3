"""Accounts of one question: what was used of the budget, and what became of each frame."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pcpfs.host.audit import Answer, Excluded, Offered, Reason
from pcpfs.host.composition import Budget, Composition
from pcpfs.host.evidence import Standing
from pcpfs.host.identities import order_of
from pcpfs.model.cgp import Identity

INCLUDED, EXCLUDED = "included", "excluded"


@dataclass(frozen=True, slots=True)
class AuditRow:
    """What became of one frame that was offered. `verifiable` tells of an included one whether
    its source was looked at; `reason` why another one was left out."""

    identity: Identity
    outcome: str
    verifiable: bool | None = None
    standing: Standing | None = None
    reason: Reason | None = None
    message: str | None = None
    duplicate_of: Identity | None = None
    cost: int | None = None
    remaining: int | None = None


def audit(included: Iterable[Offered], excluded: Iterable[Excluded]) -> tuple[AuditRow, ...]:
    """A row for every frame that was offered, in canonical order."""
    rows = [
        AuditRow(
            o.identity, INCLUDED, o.standing is not Standing.UNVERIFIED, o.standing, cost=o.cost
        )
        for o in included
    ]
    rows += [
        AuditRow(
            e.identity,
            EXCLUDED,
            reason=e.reason,
            message=e.message,
            duplicate_of=e.duplicate_of,
            cost=e.cost,
            remaining=e.remaining,
        )
        for e in excluded
    ]
    return tuple(sorted(rows, key=lambda row: (order_of(row.identity), row.outcome)))


@dataclass(frozen=True, slots=True)
class UsageItem:
    identity: Identity
    cost: int


@dataclass(frozen=True, slots=True)
class ProviderUsage:
    """The share of one provider, and what its frames in the prompt cost."""

    provider: str
    share: int
    consumed: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What the served frames cost, by frame and by provider (UR1). `rendered_tokens` is the whole
    prompt with its fences, which is no part of the budget."""

    max_tokens: int
    budget_consumed: int
    remaining: int
    rendered_tokens: int
    items: tuple[UsageItem, ...]
    providers: tuple[ProviderUsage, ...]

    def adds_up(self) -> bool:
        """Whether the sums are those of the items, and within the budget."""
        return (
            self.budget_consumed == sum(item.cost for item in self.items)
            and self.budget_consumed == sum(each.consumed for each in self.providers)
            and self.remaining == self.max_tokens - self.budget_consumed >= 0
            and sum(each.share for each in self.providers) <= self.max_tokens
        )


def usage(answers: Sequence[Answer], composition: Composition, budget: Budget) -> Usage:
    """The bill."""
    frames = sorted(composition.frames, key=lambda each: each.order)
    spent: dict[str, int] = {answer.provider: 0 for answer in answers}
    for each in frames:
        spent[each.identity.provider_id] += each.cost
    total = sum(each.cost for each in frames)
    return Usage(
        budget.max_tokens,
        total,
        budget.max_tokens - total,
        composition.rendered_tokens,
        tuple(UsageItem(each.identity, each.cost) for each in frames),
        tuple(ProviderUsage(a.provider, a.share, spent[a.provider]) for a in answers),
    )


@dataclass(frozen=True, slots=True)
class Attribution:
    """How far a frame came (A1 to A3): past audit and duplicates, into the prompt, into the reply.
    Each presupposes the one before."""

    identity: Identity
    selected: bool
    rendered: bool
    cited: bool = False


def attributions(rows: Iterable[AuditRow]) -> tuple[Attribution, ...]:
    """What is known before there is a reply."""
    return tuple(
        Attribution(
            row.identity,
            row.outcome == INCLUDED or row.reason is Reason.OVER_BUDGET,
            row.outcome == INCLUDED,
        )
        for row in rows
    )


def cited_in(
    reply: str, labels: Mapping[str, Identity], known: Iterable[Attribution]
) -> tuple[Attribution, ...]:
    """The same with the frames marked whose label stands in a model's reply. Only what was
    rendered can be cited."""
    cited = {labels[label] for label in _found(reply, labels)}
    return tuple(replace(each, cited=each.rendered and each.identity in cited) for each in known)


def _found(reply: str, labels: Mapping[str, Identity]) -> set[str]:
    """Labels as whole words; of two at one place the longer."""
    if not labels:
        return set()
    longest_first = sorted(labels, key=lambda label: (-len(label), label))
    pattern = "|".join(map(re.escape, longest_first))
    return set(re.findall(rf"(?<!\w)(?:{pattern})(?!\w)", reply))
