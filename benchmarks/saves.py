"""`python -m benchmarks.saves`: what a write costs after thousands of watched saves.

Each save changes one function of one file, is looked at as `watch` looks at it, and committed. Now
and then there is an idle moment, in which `watch` does its upkeep. Between the saves some writes
are timed, in the process that watches and as a command of its own, by turns with the same in a
store that saw none of the saves: so what else this machine does meets both alike.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.command import Command
from benchmarks.rows import Aim, Row, table
from benchmarks.run import CACHE, machine
from benchmarks.scale import ME, Cost
from benchmarks.timing import run
from pcpfs.model.names import Namespace
from pcpfs.model.requests import Draft
from pcpfs.sources.roots import Root, Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.upkeep import Upkeep

SCOPE = Namespace("project:saves")
FILES = 200
IDLE_EVERY = 25
AIM = 1.2


@dataclass(frozen=True, slots=True)
class Options:
    saves: int
    stops: int
    times: int
    work: Path


def options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.saves", description=__doc__)
    parser.add_argument("--saves", type=int, default=10_000)
    parser.add_argument("--stops", type=int, default=5, help="how often writes are timed")
    parser.add_argument("-n", "--times", type=int, default=15, help="runs a median is taken of")
    parser.add_argument("--work", type=Path, default=CACHE / "saves", help="must not exist")
    given = parser.parse_args(arguments)
    return Options(given.saves, given.stops, given.times, given.work.resolve())


def source(number: int, version: int) -> str:
    """A module of twenty functions; one of them says which version it is."""
    bodies = (
        f"def f{number}_{at}(x):\n    return x + {version if at == version % 20 else 0}\n\n\n"
        for at in range(20)
    )
    return "".join(bodies)


class Subject:
    """A store with one root, watched in this process."""

    def __init__(self, work: Path) -> None:
        self.folder = work / "app"
        self.folder.mkdir(parents=True)
        for number in range(FILES):
            (self.folder / f"m{number}.py").write_text(source(number, 0))
        Store.init(work / "store", owner=ME).close()
        self.command = Command(work / "store")
        self.note = work / "note.md"
        self.note.write_text("# A note\n\nWritten between saves.\n")
        self.store = Store.open(work / "store")
        self.session = Session(self.store, ME)
        self.sources = Sources(self.store, ME)
        self.sources.add(Wanted(self.folder, SCOPE))
        self.root: Root = self.sources.roots.named(["app"])[0]
        self.store.commit_late()
        self.upkeep = Upkeep(self.store)
        self.saves = self.writes = 0

    def save(self) -> None:
        self.saves += 1
        name = f"m{self.saves % FILES}.py"
        (self.folder / name).write_text(source(self.saves % FILES, self.saves))
        done, _ = self.sources.look(self.root, [name])
        assert done.applied.changes, "a save was not seen"
        if self.saves % IDLE_EVERY == 0:
            self.upkeep.turn()

    def write(self) -> None:
        self.writes += 1
        text = f"# Note {self.writes}\n\nWritten between saves.\n".encode()
        self.session.write(SCOPE, Draft(text, "text/markdown"), path=f"n/{self.writes}.md")

    def write_alone(self) -> None:
        self.command.run("--as", str(ME), "write", "--scope", str(SCOPE), str(self.note))

    def close(self) -> None:
        self.upkeep.end()
        self.sources.close()
        self.session.close()
        self.store.close()


def measured(new: Subject, old: Subject, wanted: Options) -> Iterator[Row]:
    """The same costs in both stores, by turns, at every stop."""
    for stop in range(wanted.stops + 1):
        while old.saves < wanted.saves * stop // wanted.stops:
            old.save()
        for task in ("write", "write_alone"):
            costs: dict[Subject, list[Cost]] = {new: [], old: []}
            for _ in range(wanted.times):
                for subject, found in costs.items():
                    found.append(Cost.of(getattr(subject, task)))
            for kind, what in (("seconds", task), ("processor", f"{task}, cpu")):
                base = f"{what}, no saves, stop {stop}"
                for subject, found in costs.items():
                    value = median(getattr(cost, kind) for cost in found)
                    name = f"{what}, after {old.saves:,} saves" if subject is old else base
                    print(f"{name}: {value * 1000:.1f} ms", file=sys.stderr, flush=True)
                    aim = Aim(0, base, AIM) if subject is old and task == "write" else None
                    ratio_to = base if subject is old else ""
                    yield Row(name, value, "s", wanted.times, aim, ratio_to)


def main(arguments: Sequence[str]) -> None:
    wanted = options(arguments)
    new, old = Subject(wanted.work / "new"), Subject(wanted.work / "old")
    try:
        found = list(measured(new, old, wanted))
    finally:
        old.close()
        new.close()
    size = run(("git", "count-objects", "-v"), wanted.work / "old" / "store").output
    facts = ", ".join(f"{key} {value}" for key, value in machine().items())
    print(facts, table(found), size, sep="\n\n")


if __name__ == "__main__":
    main(sys.argv[1:])
