"""`python -m benchmarks.accuracy [--only python go …]`: agreement with universal-ctags.

Prints raw and adjusted precision and recall for each kind, why anything was left out, and the
disagreements by kind, so that a person can judge who is right.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from platformdirs import user_cache_path

from benchmarks.accuracy.comparing import Comparison, Figures, adjusted, compare, rows
from benchmarks.accuracy.packages import Absent, sources
from benchmarks.accuracy.peer import HOW_TO_GET, of_ctags, of_ours
from benchmarks.accuracy.verifying import VARIANTS, faults
from benchmarks.accuracy.yardstick import Definition, Yardstick, load
from benchmarks.peers import is_universal_ctags


def main(arguments: Sequence[str]) -> None:
    yardsticks = load()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=yardsticks, default=list(yardsticks))
    parser.add_argument("--list", type=int, default=5, help="disagreements shown a kind; -1: all")
    parser.add_argument("--cache", type=Path, default=user_cache_path("pcpfs-benchmarks"))
    parser.add_argument("--verify", action="store_true", help="check every range instead")
    given = parser.parse_args(arguments)
    if given.verify:
        raise SystemExit(verify([yardsticks[name] for name in given.only], given.cache))
    if not is_universal_ctags():
        raise SystemExit(HOW_TO_GET)
    summary = []
    for name in given.only:
        try:
            summary.append(measured(yardsticks[name], given.cache, given.list))
        except Absent as reason:
            summary.append(f"{name:12} absent: {reason}")
    print("\n".join(("", "summary", *summary)))


def verify(yardsticks: Sequence[Yardstick], cache: Path) -> int:
    """Print what `faults` finds in each package; 1 if anything."""
    found = 0
    for yardstick in yardsticks:
        files = sources(yardstick, cache)
        wrong = list(faults(files))
        found += len(wrong)
        print(
            f"{yardstick.name:12} {len(files)} files, {len(VARIANTS)} variants: {len(wrong)} faults"
        )
        print("".join(f"  {fault}\n" for fault in wrong), end="", flush=True)
    return int(found > 0)


def measured(yardstick: Yardstick, cache: Path, shown: int) -> str:
    """Print the report of one language; its line of the summary."""
    files = sources(yardstick, cache)
    root = cache / yardstick.name / "tree"
    raw = compare(yardstick, of_ctags(yardstick, files, root), of_ours(yardstick, files))
    fair, taken = adjusted(yardstick, raw)
    print(f"\n{yardstick.name}: {yardstick.package}, {len(files)} files")
    print(f"  {'kind':38} {'agreed':>7} {'missing':>7} {'extra':>7}  precision recall  (adjusted)")
    for ours, theirs in rows(yardstick):
        print(_line(" ".join(ours) or f"({', '.join(theirs)})", raw, fair, ours, theirs))
    print(_figures("all", raw.total, fair.total))
    for rule, count in taken.items():
        print(f"  left out: {count} of {rule.side}: {rule.because}")
    for told, found in (("only ctags has", fair.missing), ("only we have", fair.extra)):
        for line in _listed(told, found, shown):
            print(line)
    sys.stdout.flush()
    return _summary(yardstick, raw.total, fair.total)


def _line(
    name: str, raw: Comparison, fair: Comparison, ours: Sequence[str], theirs: Sequence[str]
) -> str:
    return _figures(name, raw.figures(ours, theirs), fair.figures(ours, theirs))


def _figures(name: str, raw: Figures, fair: Figures) -> str:
    counts = f"{raw.agreed:7} {raw.missing:7} {raw.extra:7}"
    return (
        f"  {name[:38]:38} {counts}   {raw.precision:.4f} {raw.recall:.4f}"
        f"  ({fair.missing} {fair.extra}: {fair.precision:.4f} {fair.recall:.4f})"
    )


def _listed(told: str, found: Sequence[Definition], shown: int) -> Iterator[str]:
    by_kind: dict[str, list[Definition]] = defaultdict(list)
    for definition in found:
        by_kind[definition.kind].append(definition)
    for kind, definitions in sorted(by_kind.items()):
        yield f"  {told}, {kind}: {len(definitions)}"
        for d in definitions[: shown if shown >= 0 else None]:
            text = " ".join(d.text.split("\n")[0].split())[:90]
            yield f"    {d.path}:{d.lines[0]} {d.name} | {text}"


def _summary(yardstick: Yardstick, raw: Figures, fair: Figures) -> str:
    aim = yardstick.aim
    reached = "" if aim is None else "yes" if min(fair.precision, fair.recall) >= aim else "NO"
    return (
        f"{yardstick.name:12} raw precision {raw.precision:.4f} recall {raw.recall:.4f}"
        f"   adjusted {fair.precision:.4f} {fair.recall:.4f}"
        + (f"   aim {aim}: {reached}" if reached else "")
    )


if __name__ == "__main__":
    main(sys.argv[1:])
