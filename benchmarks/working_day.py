"""`python -m benchmarks.working_day`: what a day of saves under `watch` leaves on the disk.

One file of about 50 KB with 250 functions is saved again and again, as editors do; each save
changes one function, and every fifth one puts in lines. The size is told as `du` has it, at once
and after the thinning of a later day, and so is what `status --size` says of it.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.command import Command
from benchmarks.rows import Row, table
from benchmarks.run import CACHE
from benchmarks.scale import ME
from benchmarks.timing import run
from benchmarks.watching import save, watching
from pcpfs.model.instants import Instant
from pcpfs.sources.thinning import thinning
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.maintain import maintain

FUNCTIONS = 250
DAYS = 10
_DAY = 86_400_000_000
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Options:
    saves: int
    pause: float
    work: Path


def options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.working_day", description=__doc__)
    parser.add_argument("--saves", type=int, default=500)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two saves")
    parser.add_argument("--work", type=Path, default=CACHE / "day", help="must not exist")
    given = parser.parse_args(arguments)
    return Options(given.saves, given.pause, given.work.resolve())


class Module:
    """A module of a package that somebody works on."""

    def __init__(self) -> None:
        self._bodies = [_function(number, 0) for number in range(FUNCTIONS)]
        self._chance = random.Random(7)

    @property
    def text(self) -> str:
        return '"""Tides."""\n\n' + "\n\n".join(self._bodies)

    def edit(self, save: int) -> None:
        at = self._chance.randrange(FUNCTIONS)
        self._bodies[at] = _function(at, save, lines=save % 5 == 0)


def _function(number: int, save: int, *, lines: bool = False) -> str:
    more = f"    height += {save}\n    depth -= {save}\n" if lines else ""
    return (
        f"def tide_{number}(height: int, depth: int = {number}) -> int:\n"
        f'    """Say how high the tide {number} stands at this place of the coast, in feet."""\n'
        f"    edition = {save}\n{more}    return height * depth + {number} - edition\n"
    )


@dataclass(frozen=True, slots=True)
class Later:
    """The clock of a later day."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1000 + DAYS * _DAY)


def used(folder: Path) -> int:
    """Bytes of the disk under a folder, as `du` has them."""
    return int(run(("du", "-s", "--block-size=1", str(folder)), folder.parent).output.split()[0])


def told(command: Command) -> dict[str, Any]:
    """What `status --size` says."""
    size: dict[str, Any] = command.answer("--as", str(ME), "status", "--size")["size"]
    return size


def rows(label: str, command: Command) -> Iterator[Row]:
    """The size of a store, and of what it consists."""
    size, there = told(command), used(command.store)
    yield Row(f"{label}: du", there / 2**20, "MiB")
    yield Row(f"{label}: status --size", size["disk"] / 2**20, "MiB")
    for part in size["parts"]:
        if part["disk"] >= 2**16:
            yield Row(f"{label}: {part['kind']}", part["disk"] / 2**20, "MiB", part["files"])


def timed(steps: Iterator[object]) -> Iterator[float]:
    """How long each step takes."""
    start = time.perf_counter()
    for _ in steps:
        yield time.perf_counter() - start
        start = time.perf_counter()


def measured(wanted: Options) -> Iterator[Row]:
    folder, module = wanted.work / "app", Module()
    folder.mkdir(parents=True)
    file = folder / "tides.py"
    save(file, module.text)
    Store.init(wanted.work / "store", owner=ME).close()
    command = Command(wanted.work / "store")
    command.run("--as", str(ME), "add", str(folder), "--scope", "project:day")
    yield Row("the file", len(module.text) / 1024, "KiB")
    yield from rows("added", command)
    waits = []
    with watching(command) as watch:
        time.sleep(2)
        for number in range(1, wanted.saves + 1):
            module.edit(number)
            start = time.perf_counter()
            save(file, module.text)
            waits.append(watch.wait_for([file.name], _PATIENCE) - start)
            time.sleep(wanted.pause)
        yield Row("a save until it is told", median(waits), "s", len(waits))
        yield Row("the longest", max(waits), "s", len(waits))
        yield Row("watch, cpu a save", watch.processor() / len(waits), "s", len(waits))
        yield from rows("at once", command)
        time.sleep(5)
    with closing(Store.open(command.store, clock=Later())) as store:
        steps = list(timed(thinning(store, ME, pages=8, revisions=100, files=25)))
        yield Row("the longest step of thinning", max(steps), "s", len(steps))
        maintain(store)
    yield from rows("thinned", command)


def main(arguments: Sequence[str]) -> None:
    wanted = options(arguments)
    print(table(list(measured(wanted))))
    print(run(("git", "count-objects", "-v"), wanted.work / "store").output)
    print(run(("du", "-h", "-d", "3", "."), wanted.work / "store").output)


if __name__ == "__main__":
    import sys

    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main(sys.argv[1:])
