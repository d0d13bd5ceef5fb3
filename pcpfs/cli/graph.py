"""Lines of descent beside a list: who comes of whom, as `git log --graph` draws it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def drawn(steps: Iterable[tuple[str, Sequence[str]]]) -> Iterator[tuple[str, bool]]:
    """For steps with their parents, children first: what stands left of each line, and whether a
    step stands right of it (in order) or nothing does."""
    lanes: list[str] = []
    for step, parents in steps:
        if step not in lanes:
            lanes.append(step)
        at = lanes.index(step)
        while lanes.count(step) > 1:
            other = len(lanes) - 1 - lanes[::-1].index(step)
            yield _joined(len(lanes), other), False
            del lanes[other]
        yield " ".join("*" if lane == at else "|" for lane in range(len(lanes))), True
        lanes[at : at + 1] = parents
        if len(parents) > 1:
            yield _parted(len(lanes), at, len(parents)), False


def _joined(lanes: int, other: int) -> str:
    """The lane `other` ends in one to its left; those to its right move up."""
    return "| " * (other - 1) + "|/" + " /" * (lanes - other - 1)


def _parted(lanes: int, at: int, parents: int) -> str:
    """One lane becomes several; those to its right move away."""
    return "| " * at + "|\\" + " \\" * (parents - 2 + lanes - at - parents)
