"""`python -m benchmarks.ledger_speed`: a ledger of many entries is filled, reopened and asked."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.timing import median_seconds, run
from pcpfs.ledger import ContextEntry, StoreLedger
from pcpfs.model.instants import Instant
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from pcpfs.store.store import Store

ME = Principal("user:bench")
BUDGET = 2000


def entries(count: int) -> Iterator[ContextEntry]:
    """Texts of 25 words from a vocabulary in which few words are common, most are rare; the same in
    every run."""
    state = 1
    for number in range(count):
        words = []
        for _ in range(25):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            words.append(word(int(20_000 ** ((state >> 33) / 2**31)) - 1))
        moment = Instant(1_900_000_000_000_000 + number * 1_000_000)
        yield ContextEntry("tool:bench", " ".join(words), moment, goal_id=f"goal {number % 10}")


def word(rank: int) -> str:
    """A word of letters for a number."""
    text, rank = "", rank + 700
    while rank:
        rank, digit = divmod(rank, 26)
        text += chr(97 + digit)
    return text


def question(*ranks: int) -> str:
    return " ".join(map(word, ranks))


def opened(path: Path) -> StoreLedger:
    return StoreLedger(Session(Store.open(path), ME), "bench")


def cpu() -> float:
    """Seconds of processor time that this process and its children have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def used(action: Callable[[], object]) -> str:
    """What an action takes, by the clock and of the processor: on a busy machine the latter says
    more."""
    start, before = time.perf_counter(), cpu()
    action()
    wall, busy = time.perf_counter() - start, cpu() - before
    return f"{1000 * wall:.0f} ms, {1000 * busy:.0f} ms of the processor"


def typical(action: Callable[[], object], times: int = 7) -> str:
    """The median of the clock, and the mean of the processor."""
    before = cpu()
    wall = median_seconds(action, times)
    return f"{1000 * wall:.0f} ms, {1000 * (cpu() - before) / times:.0f} ms of the processor"


def fill(ledger: StoreLedger, count: int, batch: int, tell: Callable[[str], None]) -> None:
    """Take all in; tell of each stretch what a thousand cost there."""
    waiting, done = entries(count), 0
    stretches = [n for n in (1_000, 5_000, 10_000, 20_000, 50_000, 100_000) if n < count] + [count]
    for stretch in stretches:
        start, before, from_ = time.perf_counter(), cpu(), done
        while done < stretch and (part := list(islice(waiting, min(batch, stretch - done)))):
            ledger.ingest_all(part)
            done += len(part)
        thousands = max(1, done - from_) / 1000
        wall, busy = time.perf_counter() - start, cpu() - before
        tell(
            f"entries {from_:,} to {done:,} in batches of {batch}: {1000 * thousands / wall:,.0f} "
            f"a second, {busy / thousands:.2f} s of the processor for 1,000"
        )


def measure(path: Path, count: int, batch: int, tell: Callable[[str], None]) -> None:
    Store.init(path, owner=ME).close()
    ledger = opened(path)
    ledger.ingest_all(list(entries(1)))
    command = [sys.executable, "-m", "pcpfs", "thread", "project", "bench", question(3000, 9000)]

    def in_a_new_process() -> None:
        run([*command, "--budget", str(BUDGET)], path)

    in_a_new_process()
    tell(f"pcpfs thread project, of one entry: {typical(in_a_new_process)}")
    fill(ledger, count, batch, tell)
    again = opened(path)

    def project(text: str) -> Callable[[], object]:
        return lambda: asyncio.run(again.project(text, BUDGET))

    first = question(3000, 9000)
    tell(f"project for the first time ever: {used(project(first))}")
    tell(f"pcpfs thread project, of all: {typical(in_a_new_process)}")
    again = opened(path)
    tell(f"project, first in a process: {used(project(first))}")
    for label, text in (
        ("two rare words", first),
        ("three common words", question(0, 1, 2)),
        ("six words", question(0, 1, 2, 9, 300, 3000)),
        ("nothing of it there", "zzzzzz"),
    ):
        tell(f"project, {label}: {typical(project(text))}")
    brief = lambda: asyncio.run(again.project_for_subagent("goal 3", BUDGET, query=first))  # noqa: E731
    tell(f"brief, first: {used(brief)}, then {typical(brief)}")
    more = next(entries(1))
    tell(f"one more entry: {used(lambda: asyncio.run(again.ingest(more)))}")
    tell(f"project after it: {used(project(first))}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger_speed", description=__doc__)
    parser.add_argument("-n", "--entries", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=1000)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder, "store"), given.entries, given.batch, print)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
