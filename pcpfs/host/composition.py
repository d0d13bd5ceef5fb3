"""Composition: frames chosen within the budget, set out as text that a model can be given.

*Canonical*: chosen and set out in the order of identities; the same frames are the same bytes,
whatever order they came in, and no score or declared cost touches them. *Value-aware*: chosen best
first, and set out with the best at both ends and the weakest in the middle, where models look the
least.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pcpfs.host.audit import Excluded, Offered, Reason
from pcpfs.host.fences import PREAMBLE, block, whole
from pcpfs.host.identities import Order
from pcpfs.host.troubles import one_line
from pcpfs.model.cgp import Identity, Provenance, token_cost

LONGEST_LABEL = 200
"""A label stands in the prompt and costs nothing."""


class Form(StrEnum):
    CANONICAL = "canonical"
    VALUE_AWARE = "value-aware"


@dataclass(frozen=True, slots=True)
class Budget:
    max_tokens: int
    max_frames: int


@dataclass(frozen=True, slots=True)
class Citation:
    """What a label in the prompt stands for."""

    label: str
    identity: Identity
    title: str
    provenance: tuple[Provenance, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """The prompt, its frames in the order in which they stand there, and what did not fit."""

    prompt: str
    frames: tuple[Offered, ...]
    citations: tuple[Citation, ...]
    excluded: tuple[Excluded, ...]

    @property
    def rendered_tokens(self) -> int:
        """What the whole text costs, with its fences."""
        return token_cost(self.prompt)


def compose(frames: Iterable[Offered], budget: Budget, form: Form) -> Composition:
    """Set out as many frames as the budget holds, by what their content really costs."""
    by_identity = sorted(frames, key=_order)
    ranked = by_identity if form is Form.CANONICAL else sorted(by_identity, key=_worth)
    chosen, excluded = _chosen(ranked, budget)
    labels = _labels(sorted(chosen, key=_order))
    laid = chosen if form is Form.CANONICAL else best_at_both_ends(chosen)
    blocks = [block(o.identity, o.frame, labels[o.order]) for o in laid]
    citations = tuple(
        Citation(labels[o.order], o.identity, one_line(o.frame.title), o.frame.provenance)
        for o in laid
    )
    prompt = "".join([PREAMBLE, *blocks]) if blocks else ""
    return Composition(prompt, tuple(laid), citations, tuple(excluded))


def best_at_both_ends(ranked: Sequence[Offered]) -> list[Offered]:
    """The first at the beginning, the second at the end, and so on inwards."""
    return [*ranked[::2], *reversed(ranked[1::2])]


def _order(each: Offered) -> Order:
    return each.order


def _worth(each: Offered) -> float:
    return -each.frame.score


def _chosen(ranked: Iterable[Offered], budget: Budget) -> tuple[list[Offered], list[Excluded]]:
    """Those that fit, in the order given; a smaller one after one that does not fit may."""
    chosen: list[Offered] = []
    excluded: list[Excluded] = []
    left = budget.max_tokens
    for each in ranked:
        if each.cost > left:
            why = f"it costs {each.cost} tokens, and {left} are left"
        elif len(chosen) == budget.max_frames:
            why = f"{budget.max_frames} frames are chosen already"
        else:
            chosen.append(each)
            left -= each.cost
            continue
        excluded.append(
            Excluded(each.identity, Reason.OVER_BUDGET, why, cost=each.cost, remaining=left)
        )
    return chosen, excluded


def _labels(frames: Sequence[Offered]) -> Mapping[Order, str]:
    """A label of its own for each frame, given in canonical order: equal ones are counted."""
    labels: dict[Order, str] = {}
    taken: set[str] = set()
    for each in frames:
        wanted = label = one_line(whole(each.frame.citation_label or ""))[:LONGEST_LABEL].rstrip()
        number = 1
        while label in taken:
            number += 1
            label = f"{wanted} ({number})"
        taken.add(label)
        labels[each.order] = label
    return labels
