"""Two lists of definitions held against each other, kind by kind; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.accuracy.yardstick import Definition, LeftOut, Yardstick


@dataclass(frozen=True, slots=True)
class Figures:
    """How many definitions agree, which only ctags has, and which only we have."""

    agreed: int
    missing: int
    extra: int

    @property
    def precision(self) -> float:
        return self.agreed / (self.agreed + self.extra) if self.agreed + self.extra else 1.0

    @property
    def recall(self) -> float:
        return self.agreed / (self.agreed + self.missing) if self.agreed + self.missing else 1.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Pairs that agree, and what one side alone has (`missing`: only ctags; `extra`: only ours)."""

    agreed: tuple[tuple[Definition, Definition], ...]
    missing: tuple[Definition, ...]
    extra: tuple[Definition, ...]

    def figures(self, kinds: Sequence[str], theirs: Sequence[str]) -> Figures:
        """Of one row: ours of these kinds, those of ctags that mean the same."""
        return Figures(
            sum(pair[0].kind in theirs for pair in self.agreed),
            sum(tag.kind in theirs for tag in self.missing),
            sum(symbol.kind in kinds for symbol in self.extra),
        )

    @property
    def total(self) -> Figures:
        return Figures(len(self.agreed), len(self.missing), len(self.extra))


def compare(
    yardstick: Yardstick, tags: Sequence[Definition], symbols: Sequence[Definition]
) -> Comparison:
    """Pair each tag with the innermost of our symbols of its name, and of a kind that means the
    same, on whose lines it is. A symbol is paired once with each kind of ctags (which tells
    `typedef struct a {…} a` twice); a tag told twice counts once."""
    by_name: dict[tuple[str, str], list[tuple[int, Definition]]] = defaultdict(list)
    for number, symbol in enumerate(symbols):
        by_name[symbol.path, _spelled(symbol.name)].append((number, symbol))
    agreed, missing, paired = [], [], set()
    for tag in dict.fromkeys(tags):
        fitting = [
            (symbol.lines[0], -symbol.lines[1], number)
            for number, symbol in by_name[tag.path, _spelled(tag.name)]
            if _fits(yardstick, tag, symbol) and (number, tag.kind) not in paired
        ]
        if fitting:
            number = max(fitting)[-1]
            paired.add((number, tag.kind))
            agreed.append((tag, symbols[number]))
        else:
            missing.append(tag)
    known = {number for number, _ in paired}
    extra = [symbol for number, symbol in enumerate(symbols) if number not in known]
    return Comparison(tuple(agreed), tuple(missing), tuple(extra))


def adjusted(yardstick: Yardstick, raw: Comparison) -> tuple[Comparison, dict[LeftOut, int]]:
    """The comparison without what is left out for a reason, and how many each reason took.
    What both sides agree on is never left out."""
    taken = dict.fromkeys(yardstick.left_out, 0)
    told = {(d.path, d.kind, d.name) for pair in raw.agreed for d in pair}
    tags, symbols = ([pair[side] for pair in raw.agreed] for side in (0, 1))
    theirs = [rule for rule in yardstick.left_out if rule.side == "ctags"]
    ours = [rule for rule in yardstick.left_out if rule.side == "ours"]
    missing = tuple(_kept(raw.missing, tags, theirs, told, taken))
    extra = tuple(_kept(raw.extra, symbols, ours, told, taken))
    return Comparison(raw.agreed, missing, extra), taken


def rows(yardstick: Yardstick) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Our kinds and those of ctags that mean the same, grouped so that each kind is in one row."""
    groups: list[tuple[set[str], set[str]]] = []
    for theirs, ours in yardstick.kinds.items():
        touched = [group for group in groups if group[0] & set(ours)]
        merged = (
            set(ours).union(*(g[0] for g in touched)),
            {theirs}.union(*(g[1] for g in touched)),
        )
        groups = [group for group in groups if group not in touched] + [merged]
    return [(tuple(sorted(ours)), tuple(sorted(theirs))) for ours, theirs in groups]


def _spelled(name: str) -> str:
    """`operator ()` is `operator()`; any run of white space is as good as another."""
    return "".join(name.split()) if name.startswith("operator") else " ".join(name.split())


def _fits(yardstick: Yardstick, tag: Definition, symbol: Definition) -> bool:
    first, last = symbol.lines
    return symbol.kind in yardstick.kinds.get(tag.kind, ()) and first <= tag.lines[0] <= last


def _kept(
    found: Sequence[Definition],
    agreed: Sequence[Definition],
    rules: Sequence[LeftOut],
    told: Container[tuple[str, str, str]],
    taken: dict[LeftOut, int],
) -> Iterator[Definition]:
    lost = {rule: _firsts(rule, [*found, *agreed]) for rule in rules if rule.after}
    for d in found:
        is_told = (d.path, d.kind, d.name) in told
        holding = (r for r in rules if r.holds(d) and (r not in lost or _is_after(d, lost[r])))
        rule = next((r for r in holding if is_told or not r.is_repeated), None)
        if rule is None:
            yield d
        else:
            taken[rule] += 1


def _firsts(rule: LeftOut, definitions: Sequence[Definition]) -> dict[tuple[str, str], int]:
    """In which line of each scope of each file one side loses its way."""
    firsts: dict[tuple[str, str], int] = {}
    for d in definitions:
        if re.search(rule.after, d.text.split("\n")[0]):
            where = (d.path, d.scope)
            firsts[where] = min(d.lines[0], firsts.get(where, d.lines[0]))
    return firsts


def _is_after(d: Definition, firsts: Mapping[tuple[str, str], int]) -> bool:
    first = firsts.get((d.path, d.scope))
    return first is not None and d.lines[0] >= first
