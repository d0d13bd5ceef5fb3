"""What matters in a source tree: files and definitions, ranked by what else refers to them.

A walker goes from file to file along the names that they mention, and now and then starts anew
(PageRank). Where it often is matters, and a definition gets the share of the visits that came for
its name. Pure, and the same numbers for the same input, whatever the process.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
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

    places: Sequence[float]
    definitions: Sequence[float]


class References(NamedTuple):
    """Which file refers to which, by what names: all that ranks depend on but for a focus, in
    arrays that can be kept.

    `starts` says how likely a walk begins at each file. The references of file `n` are those from
    `first[n]` up to `first[n + 1]`: each leads to a definer, and `shares` says how likely the walk
    follows it; those of one file add up to 1. A definer is a name in a file, `holders` says which,
    and `defined` says for each definition which definer it belongs to.
    """

    starts: array[float]
    first: array[int]
    definers: array[int]
    shares: array[float]
    holders: array[int]
    defined: array[int]


def references(places: Sequence[Place], definitions: Sequence[Definition]) -> References:
    """What refers to what, by the names that files mention."""
    numbers: dict[tuple[int, str], int] = {}
    defined = [numbers.setdefault((d.place, d.name), len(numbers)) for d in definitions]
    meant = _meant(places, definitions)
    first, definers, shares, starts = [0], array("i"), array("d"), []
    for number, place in enumerate(places):
        found = list(_mentioned(number, place, places, meant))
        total = sum(weight for _, _, weight in found)
        definers.extend(numbers[to, name] for to, name, _ in found)
        shares.extend(weight / total for _, _, weight in found)
        first.append(len(definers))
        starts.append((_LESS if place.is_less else 1.0) * (1 + sqrt(total)))
    holders = [place for place, _ in numbers]
    return References(
        array("d", _shares(starts)),
        array("i", first),
        definers,
        shares,
        array("i", holders),
        array("i", defined),
    )


def importance(found: References, focus: Focus | None = None) -> Importance:
    """Rank files and what they define; with a focus by what it refers to, and who refers to it."""
    starts: Sequence[float] = found.starts
    steps = _steps(found)
    if focus is not None and focus.places:
        wanted = _shares([focus.places.get(number, 0.0) for number in range(len(starts))])
        starts = [
            _AWAY_FROM_FOCUS * usual + (1 - _AWAY_FROM_FOCUS) * special
            for usual, special in zip(starts, wanted, strict=True)
        ]
        ranks = _walk(starts, _both_ways(steps), _FOLLOWED_FROM_FOCUS)
        return Importance(ranks, _of_definitions(ranks, found))
    ranks = _walk(starts, steps, _FOLLOWED)
    return Importance(_sought(ranks, steps, starts), _of_definitions(ranks, found))


class _Meant(NamedTuple):
    """The files that may be meant by a name, how much one mention of it says about each, and all
    that define it: those mean themselves."""

    name: str
    places: list[int]
    weight: float
    all: set[int]


def _meant(places: Sequence[Place], definitions: Sequence[Definition]) -> dict[str, _Meant]:
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
                found[mark + name] = _Meant(name, meant, weight, all_[name])
    return found


def _says(name: str, word: float) -> float:
    weight = 1.0 if _COMPOUND.search(name) else word
    return weight * _PRIVATE if name[0] == "_" else weight


def _mentioned(
    number: int, here: Place, places: Sequence[Place], meant: Mapping[str, _Meant]
) -> Iterator[tuple[int, str, float]]:
    near: dict[int, float] = {}
    for mention, count in here.mentions.items():
        found = meant.get(mention)
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


def _steps(found: References) -> list[_Steps]:
    steps = []
    for start, end in pairwise(found.first):
        shares: dict[int, float] = defaultdict(float)
        for place in range(start, end):
            shares[found.holders[found.definers[place]]] += found.shares[place]
        steps.append(list(shares.items()))
    return steps


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


def _shares(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total for weight in weights] if total else list(weights)


def _walk(starts: Sequence[float], steps: Sequence[_Steps], followed: float) -> Sequence[float]:
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


def _of_definitions(ranks: Sequence[float], found: References) -> list[float]:
    """The visits that came for each name, shared by what has that name in one file."""
    visits = [0.0] * len(found.holders)
    for rank, (start, end) in zip(ranks, pairwise(found.first), strict=True):
        for place in range(start, end):
            visits[found.definers[place]] += rank * found.shares[place]
    alike = Counter(found.defined)
    return [visits[definer] / alike[definer] for definer in found.defined]
