"""What matters in a source tree: files and definitions, ranked by what else refers to them.

A walker goes from file to file along the names that they mention, and now and then starts anew
(PageRank). Where it often is matters, and a definition gets the share of the visits that came for
its name. Pure, and the same numbers for the same input, whatever the process.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import NamedTuple

MEMBER = "."
"""What stands before the name of a member in `Place.mentions`."""

_ROUNDS = 12
_FOLLOWED = 0.4
"""How likely the walker follows a name; with more, it ends in the small tools that all rely on."""
_FOLLOWED_FROM_FOCUS = 0.6
_BACKWARDS = 0.3
"""From a focus, how many of its steps go to who mentions a file."""
_AWAY_FROM_FOCUS = 0.05
_LESS = 0.05
"""Tests, vendored and generated code: how often the walker starts there, against the rest."""
_BEGUN = 0.5
_MOST_DEFINERS = 12
"""A name that more files define says nothing of which of them is meant."""
_SHORTEST = 3

_COMPOUND = re.compile("[^_]_[^_]|[a-z][A-Z]|^[A-Z]")
_WORD, _MEMBER_WORD, _PRIVATE = 0.2, 0.05, 0.2
"""A name that is one small word (`items`, `format`) is mostly something else of that name."""
_SAME, _NEAR, _ELSEWHERE = 1.0, 0.5, 0.05
"""Whether the mentioning file names the module, only the folder around it, or neither."""
_PACKAGE_STEMS = ("__init__", "index", "mod", "lib")


class Definition(NamedTuple):
    """A definition in the file of that number; `is_member`: it is inside another one."""

    place: int
    name: str
    is_member: bool


@dataclass(frozen=True)
class Place:
    """A file of code; names mean something in files of one `language` only. `is_less`: it ranks
    after the rest, as tests and generated code do."""

    path: str
    language: str
    is_less: bool
    mentions: Mapping[str, int]

    @cached_property
    def names(self) -> frozenset[str]:
        """All names that it mentions, as members or not."""
        return frozenset(name[1:] if name[0] == MEMBER else name for name in self.mentions)

    @cached_property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @cached_property
    def module(self) -> tuple[str, str]:
        """How others name it when they import it, and the folder around that."""
        above, folder, last = ["", "", *self.path.split("/")][-3:]
        stem = last.partition(".")[0]
        return (folder, above) if stem in _PACKAGE_STEMS else (stem, folder)


@dataclass(frozen=True, slots=True)
class Focus:
    """What one is interested in: weights of files, and of definitions, by their numbers."""

    places: Mapping[int, float] = field(default_factory=dict)
    definitions: Mapping[int, float] = field(default_factory=dict)


class Importance(NamedTuple):
    """Parallel to the places and definitions given. The ranks of all places add up to 1."""

    places: list[float]
    definitions: list[float]


class _Edge(NamedTuple):
    """A name by which one file refers to another; the shares of its edges add up to 1."""

    to: int
    name: str
    share: float


def importance(
    places: Sequence[Place], definitions: Sequence[Definition], focus: Focus | None = None
) -> Importance:
    """Rank files and what they define; with a focus by what it refers to, and who refers to it."""
    edges, totals = _edges(places, definitions)
    starts = _shares(
        [
            (_LESS if place.is_less else 1.0) * (1 + sqrt(total))
            for place, total in zip(places, totals, strict=True)
        ]
    )
    steps = [_steps(out) for out in edges]
    if focus is not None and focus.places:
        wanted = _shares([focus.places.get(number, 0.0) for number in range(len(places))])
        starts = [
            _AWAY_FROM_FOCUS * usual + (1 - _AWAY_FROM_FOCUS) * special
            for usual, special in zip(starts, wanted, strict=True)
        ]
        ranks = _walk(starts, _both_ways(steps), _FOLLOWED_FROM_FOCUS)
        return Importance(ranks, _of_definitions(ranks, edges, definitions))
    ranks = _walk(starts, steps, _FOLLOWED)
    return Importance(_sought(ranks, steps, starts), _of_definitions(ranks, edges, definitions))


class _Definers(NamedTuple):
    """The files that may be meant by a name, how much one mention of it says about each, and all
    that define it: those mean themselves."""

    name: str
    places: list[int]
    weight: float
    all: set[int]


def _edges(
    places: Sequence[Place], definitions: Sequence[Definition]
) -> tuple[list[list[_Edge]], list[float]]:
    """For each file the names by which it refers to others, and what these weigh together."""
    definers = _definers(places, definitions)
    edges, totals = [], []
    for number, place in enumerate(places):
        found = list(_mentioned(number, place, places, definers))
        total = sum(weight for _, _, weight in found)
        totals.append(total)
        edges.append([_Edge(to, name, weight / total) for to, name, weight in found])
    return edges, totals


def _definers(places: Sequence[Place], definitions: Sequence[Definition]) -> dict[str, _Definers]:
    """By mention: a bare name means something at the top of a file; a member may also be that, of
    a module."""
    top: dict[str, set[int]] = defaultdict(set)
    all_: dict[str, set[int]] = defaultdict(set)
    for place, name, is_member in definitions:
        if len(name) >= _SHORTEST:
            all_[name].add(place)
            if not is_member:
                top[name].add(place)
    found = {}
    for mark, defining, word in (("", top, _WORD), (MEMBER, all_, _MEMBER_WORD)):
        for name, numbers in defining.items():
            meant = sorted(n for n in numbers if not places[n].is_less) or sorted(numbers)
            if len(meant) <= _MOST_DEFINERS:
                weight = _says(name, word) / len(meant)
                found[mark + name] = _Definers(name, meant, weight, all_[name])
    return found


def _says(name: str, word: float) -> float:
    weight = 1.0 if _COMPOUND.search(name) else word
    return weight * _PRIVATE if name[0] == "_" else weight


def _mentioned(
    number: int, here: Place, places: Sequence[Place], definers: Mapping[str, _Definers]
) -> Iterator[tuple[int, str, float]]:
    near: dict[int, float] = {}
    for mention, count in here.mentions.items():
        found = definers.get(mention)
        if found is None or number in found.all:
            continue
        weight = found.weight * sqrt(count)
        for other in found.places:
            nearness = near.get(other)
            if nearness is None:
                nearness = near[other] = _nearness(here, places[other])
            if nearness:
                yield other, found.name, weight * nearness


def _nearness(here: Place, other: Place) -> float:
    """How likely a name means what another file defines; 0 between languages, and hardly ever
    something of the tests, outside of them."""
    if here.language != other.language:
        return 0.0
    module, folder = other.module
    usual = _LESS if other.is_less and not here.is_less else 1.0
    if module in here.names or other.folder == here.folder:
        return usual * _SAME
    return usual * (_NEAR if folder in here.names else _ELSEWHERE)


_Steps = list[tuple[int, float]]
"""Where a walker may go from one file, and how likely; the shares add up to 1."""


def _steps(edges: Sequence[_Edge]) -> _Steps:
    shares: dict[int, float] = defaultdict(float)
    for to, _, share in edges:
        shares[to] += share
    return list(shares.items())


def _both_ways(steps: Sequence[_Steps]) -> list[_Steps]:
    back: list[_Steps] = [[] for _ in steps]
    for number, going in enumerate(steps):
        for other, share in going:
            back[other].append((number, share))
    return [
        [(other, (1 - _BACKWARDS) * share) for other, share in going]
        + [
            (other, _BACKWARDS * share)
            for (other, _), share in zip(came, _shares([s for _, s in came]), strict=True)
        ]
        for going, came in zip(steps, back, strict=True)
    ]


def _shares(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total else weights


def _walk(starts: list[float], steps: Sequence[_Steps], followed: float) -> list[float]:
    ranks = starts
    for _ in range(_ROUNDS):
        arrived = [followed * share for share in _arrivals(ranks, steps)]
        anew = 1 - sum(arrived)
        ranks = [here + anew * start for here, start in zip(arrived, starts, strict=True)]
    return ranks


def _sought(
    ranks: Sequence[float], steps: Sequence[_Steps], starts: Sequence[float]
) -> list[float]:
    """The shares of the visits that somebody's names led to. Where a walk only began counts half:
    a large file that uses much of the rest matters too, but not more than what it uses."""
    arrived = _shares(_arrivals(ranks, steps))
    if not any(arrived):
        return list(starts)
    return [
        (1 - _BEGUN) * here + _BEGUN * start for here, start in zip(arrived, starts, strict=True)
    ]


def _arrivals(ranks: Sequence[float], steps: Sequence[_Steps]) -> list[float]:
    arrived = [0.0] * len(ranks)
    for rank, going in zip(ranks, steps, strict=True):
        for other, share in going:
            arrived[other] += rank * share
    return arrived


def _of_definitions(
    ranks: Sequence[float], edges: Sequence[Sequence[_Edge]], definitions: Sequence[Definition]
) -> list[float]:
    """The visits that came for each name, shared by what has that name in one file."""
    visits: dict[tuple[int, str], float] = defaultdict(float)
    for rank, out in zip(ranks, edges, strict=True):
        for to, name, share in out:
            visits[to, name] += rank * share
    alike = Counter((place, name) for place, name, _ in definitions)
    return [visits.get((place, name), 0.0) / alike[place, name] for place, name, _ in definitions]
