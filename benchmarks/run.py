"""`python -m benchmarks.run`: every measurement on this machine, in one run, as one table."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import floor, hosting, library, main_job, peers, questions, serving, watching
from benchmarks.command import Command
from benchmarks.corpus import Corpus, check, corpus, fetch, unpack
from benchmarks.rows import Row, document, table
from benchmarks.timing import run

CACHE = Path(__file__).parent / ".cache"
WORK = Path(tempfile.gettempdir()) / "pcpfs-benchmarks"
PARTS = ("floor", "peers", "main", "library", "watch", "questions", "serve", "host")


@dataclass(frozen=True, slots=True)
class Options:
    times: int
    work: Path
    sdist: Path | None
    parts: tuple[str, ...]
    json: Path | None


def options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument("-n", "--times", type=int, default=5, help="runs a median is taken of")
    parser.add_argument("--work", type=Path, default=WORK, help="scratch; is emptied")
    parser.add_argument("--sdist", type=Path, help="the Django archive, if it is here already")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts to run")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    given = parser.parse_args(arguments)
    return Options(given.times, given.work.resolve(), given.sdist, tuple(given.only), given.json)


def steps(wanted: Options, tree: Corpus) -> dict[str, Callable[[], list[Row]]]:
    """What each part does; the later ones use what the earlier ones left in the work folder."""
    command = Command(wanted.work / "store")
    return {
        "floor": lambda: floor.measure(tree, wanted.times),
        "peers": lambda: peers.measure(tree, wanted.times),
        "main": lambda: main_job.measure(command, tree, wanted.times),
        "library": lambda: library.measure(command.store, wanted.times),
        "questions": lambda: questions.measure(command, tree),
        "serve": lambda: serving.measure(command, tree, wanted.times),
        "host": lambda: hosting.measure(wanted.times),
        "watch": lambda: watching.measure(command, tree, wanted.times),
    }


def machine() -> dict[str, str]:
    return {
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "git": run(("git", "--version"), Path()).output.split()[2],
    }


def main(arguments: Sequence[str]) -> None:
    wanted = options(arguments)
    archive = wanted.sdist or fetch(CACHE)
    check(archive)
    if "main" in wanted.parts:
        shutil.rmtree(wanted.work / "store", ignore_errors=True)
    tree = corpus(unpack(archive, wanted.work / "tree"))
    rows: list[Row] = []
    for name, measure in steps(wanted, tree).items():
        if name in wanted.parts:
            print(f"measuring: {name}", file=sys.stderr, flush=True)
            rows += measure()
    facts = machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items()), table(rows), sep="\n\n")
    if wanted.json:
        wanted.json.write_text(json.dumps(document(rows, facts), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
