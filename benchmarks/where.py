"""`python -m benchmarks.where`: where the processor time of a first `add` goes, part by part.

The command runs as a user's would; each of its processes samples itself (`benchmarks.sampler`).
What they do not account for is git's, and what a worker had no time to tell before it was ended.
The parts of a process add up to all that it used: what no rule names, and what took next to
nothing, is `all else`. Everything is processor time, since the clock tells of other work too; the
floor (see `benchmarks.floor`) is measured right before and after.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.command import PCPFS, Command, environment
from benchmarks.corpus import Corpus, check, corpus, fetch, unpack
from benchmarks.floor import definitions, read_and_digest
from benchmarks.run import CACHE
from benchmarks.sampler import FOLDER, Rule
from benchmarks.timing import cost_of, run

ENGINES = ("whoosh", "fts5")
SCOPE = "project:django"
GIT = "git"
ELSE = "all else"
LEAST = 0.03
"""Seconds: parts that took less with every engine have no line of their own."""

RULES: tuple[Rule, ...] = (
    ("importlib._bootstrap", "imports"),
    ("<frozen importlib", "imports"),
    ("pcpfs.model.secrets:", "secrets looked for"),
    ("pcpfs.sources.withholding:", "secrets looked for"),
    ("pcpfs.sources.reading:", "scan, reading, sha256"),
    ("pcpfs.sources.scan", "scan, reading, sha256"),
    ("pcpfs.sources.ignore:", "scan, reading, sha256"),
    ("pcpfs.sources.comparing:", "scan, reading, sha256"),
    ("pcpfs.sources.plan:", "scan, reading, sha256"),
    ("pcpfs.sources.statcache:", "scan, reading, sha256"),
    ("pcpfs_adapters.grammar:Grammar.matches", "query of definitions"),
    ("pcpfs_adapters.grammar:", "parsing (tree-sitter)"),
    ("pcpfs_adapters.source_text:", "text of any encoding"),
    ("pcpfs_adapters.markdown:", "symbols of Markdown"),
    ("pcpfs_adapters.", "symbols from matches"),
    ("multiprocessing.", "sources and answers between processes"),
    ("pcpfs.sources.extraction_", "sources and answers between processes"),
    ("pcpfs.model.frames:Extraction.encode", "frames as bytes"),
    ("pcpfs.model.frames:frame_ids", "frame ids"),
    ("pcpfs.model.frames:_frame_id", "frame ids"),
    ("pcpfs.store.intents:Intent", "intent"),
    ("pcpfs.store.transaction:Transaction._intent", "intent"),
    ("pcpfs.disk:", "files written and synced"),
    ("pcpfs.store.transaction:Transaction._make_durable", "files written and synced"),
    ("pcpfs.store.transaction:_refuse_links", "files written and synced"),
    ("pcpfs.git.", "feeding git"),
    ("pcpfs.store.searches.text_indexes:TextIndexes._analysed", ELSE),
    ("pcpfs.search.", "analysis into terms"),
    ("pcpfs.store.searches.documents:", "texts read for the index"),
    ("pcpfs_index.", "inversion and writing of the index"),
    ("pcpfs.store.searches.index_seal:", "inversion and writing of the index"),
    ("pcpfs.store.catalogs.catalog:", "catalog: rows in and out"),
    ("pcpfs.store.catalogs.databases:", "catalog: rows in and out"),
    ("pcpfs.store.folding.replacing:", "catalog: rows in and out"),
    ("pcpfs.store.catalogs.seen_", "fold and rows for the catalog"),
    ("pcpfs.store.folding.", "fold and rows for the catalog"),
    ("pcpfs.store.transaction:Transaction._catalogue", "fold and rows for the catalog"),
    ("pcpfs.store.transaction:Transaction._page_rows", "fold and rows for the catalog"),
    ("pcpfs.store.trees.", "tree/"),
    ("pcpfs.store.transaction:Transaction.", "revisions and changes as bytes"),
    ("pcpfs.sources.apply:", "revisions and changes as bytes"),
)
PROCESSES = {"extraction_worker": "parsers", "index_process": "index", "": "command"}


class Process(NamedTuple):
    """What one process told: seconds by part and function, and by the clock from start to end."""

    kind: str
    clock: float
    spent: Mapping[str, Mapping[str, float]]


class Measured(NamedTuple):
    """One `add`: by the clock, processor time in all, and what its processes tell of it; and the
    floor, beside it."""

    clock: float
    processor: float
    processes: Sequence[Process]
    floor: float = 0.0

    def parts(self) -> dict[tuple[str, str], float]:
        """Seconds by process and part; what nobody told of is git's."""
        found: dict[tuple[str, str], float] = defaultdict(float)
        for process in self.processes:
            for part, functions in process.spent.items():
                found[process.kind, part] += sum(functions.values())
        found["git", GIT] = self.processor - sum(found.values())
        return found

    def functions(self) -> dict[tuple[str, str], float]:
        found: dict[tuple[str, str], float] = defaultdict(float)
        for process in self.processes:
            for functions in process.spent.values():
                for function, seconds in functions.items():
                    found[process.kind, function] += seconds
        return found


def measure(engine: str, source: Path, work: Path) -> Measured:
    """A first `add` of a tree, in a new store."""
    work.mkdir(parents=True, exist_ok=True)
    command = Command(work / f"store-{engine}")
    shutil.rmtree(command.store, ignore_errors=True)
    run([PCPFS, "init", str(command.store)], work, environment())
    settings = command.store / "pcpfs.toml"
    text = settings.read_text()
    settings.write_text(text.replace('index = "whoosh"', f'index = "{engine}"'))
    if f'index = "{engine}"' not in settings.read_text():
        raise SystemExit(f"{settings} takes no index = {engine!r}")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(
            f"from benchmarks.sampler import begin\nbegin({RULES!r})\n"
        )
        way = os.pathsep.join([folder, str(Path(__file__).parent.parent)])
        samples = Path(folder) / "samples"
        samples.mkdir()
        given = environment() | {FOLDER: str(samples), "PYTHONPATH": way}
        before, start = _children(), time.perf_counter()
        line = command.line("add", str(source), "--scope", SCOPE)
        subprocess.run(line, env=given, cwd=work, check=True, stdout=subprocess.DEVNULL)
        clock, processor = time.perf_counter() - start, _children() - before
        told = [json.loads(file.read_text()) for file in samples.glob("*.json")]
    return Measured(clock, processor, [_process(one) for one in told])


def floor_of(tree: Corpus) -> float:
    """Processor time of the least work."""
    return cost_of(lambda: (read_and_digest(tree.texts), definitions(tree.python))).processor


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _process(told: Mapping[str, object]) -> Process:
    kind = next(kind for text, kind in PROCESSES.items() if text in str(told["line"]))
    return Process(kind, told["clock"], told["spent"])  # type: ignore[arg-type]


def table(measured: Mapping[str, Measured]) -> str:
    """The parts side by side, by process, the largest first."""
    parts = {engine: one.parts() for engine, one in measured.items()}
    keys = {key for found in parts.values() for key in found}
    most = {key: max(found.get(key, 0.0) for found in parts.values()) for key in keys}
    for key in [key for key in keys if most[key] < LEAST and key[1] != ELSE]:
        keys = keys - {key} | {(key[0], ELSE)}
        for found in parts.values():
            found[key[0], ELSE] = found.get((key[0], ELSE), 0.0) + found.pop(key, 0.0)
    by_process: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key in sorted(keys, key=lambda key: -sum(found.get(key, 0) for found in parts.values())):
        by_process[key[0]].append(key)
    lines = [_line("", list(measured))]
    for process, its in by_process.items():
        sums = [sum(found.get(key, 0) for key in its) for found in parts.values()]
        lines += ["", _line(process, [f"{each:.2f} s" for each in sums])]
        for key in its:
            lines.append(
                _line(f"  {key[1]}", [f"{found.get(key, 0):.2f}" for found in parts.values()])
            )
    whole = measured.values()
    lines += ["", _line("processor, all", [f"{one.processor:.2f} s" for one in whole])]
    lines += [_line("floor, beside it", [f"{one.floor:.2f} s" for one in whole])]
    lines += [_line("× floor", [f"{one.processor / one.floor:.1f}" for one in whole])]
    lines += ["", _line("by the clock", [f"{one.clock:.2f} s" for one in whole])]
    for kind in ("command", "index"):
        idle = [f"{_idle(one, kind):.2f} s" for one in whole]
        lines += [_line(f"  of which the {kind} process did not run", idle)]
    return "\n".join(lines)


def _idle(one: Measured, kind: str) -> float:
    """How long a process waited: for others, for the disk, or for a processor."""
    its = [process for process in one.processes if process.kind == kind]
    used = sum(sum(functions.values()) for process in its for functions in process.spent.values())
    return sum(process.clock for process in its) - used


def _line(name: str, cells: Sequence[str]) -> str:
    return f"{name:44}" + "".join(f"{cell:>12}" for cell in cells)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.where", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "pcpfs-where")
    parser.add_argument("--sdist", type=Path, help="the Django archive, if it is here already")
    parser.add_argument("--only", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--functions", type=int, default=0, help="also so many functions")
    given = parser.parse_args(arguments)
    archive = given.sdist or fetch(CACHE)
    check(archive)
    source = unpack(archive, given.work / "tree")
    tree = corpus(source)
    measured: dict[str, Measured] = {}
    for engine in given.only:
        before = floor_of(tree)
        one = measure(engine, source, given.work)
        measured[engine] = one._replace(floor=(before + floor_of(tree)) / 2)
    print(table(measured))
    for engine, one in measured.items():
        found = sorted(one.functions().items(), key=lambda item: -item[1])[: given.functions]
        for (process, function), seconds in found:
            print(f"{engine:8}{process:9}{seconds:6.2f} s  {function}")


if __name__ == "__main__":
    main(sys.argv[1:])
