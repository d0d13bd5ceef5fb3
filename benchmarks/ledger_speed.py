"""`python -m benchmarks.ledger_speed`: a ledger of many entries is filled, reopened and asked."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.timing import median_seconds, seconds_of
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


def measure(path: Path, count: int, batch: int, tell: Callable[[str], None]) -> None:
    Store.init(path, owner=ME).close()
    ledger, waiting = opened(path), entries(count)
    start = time.perf_counter()
    while part := list(islice(waiting, batch)):
        ledger.ingest_all(part)
    taken = time.perf_counter() - start
    tell(f"{count:,} entries in batches of {batch}: {taken:.1f} s, {count / taken:,.0f} a second")
    again = opened(path)

    def project(text: str) -> Callable[[], object]:
        return lambda: asyncio.run(again.project(text, BUDGET))

    first = question(3000, 9000)
    tell(f"opened anew, first projection: {seconds_of(project(first)):.2f} s")
    for label, text in (
        ("two rare words", first),
        ("three common words", question(0, 1, 2)),
        ("six words", question(0, 1, 2, 9, 300, 3000)),
        ("nothing of it there", "zzzzzz"),
    ):
        tell(f"project, {label}: {1000 * median_seconds(project(text), 7):.0f} ms")
    brief = lambda: asyncio.run(again.project_for_subagent("goal 3", BUDGET, query=first))  # noqa: E731
    tell(f"brief, first: {seconds_of(brief):.2f} s, then {1000 * median_seconds(brief, 7):.0f} ms")
    more = next(entries(1))
    tell(f"one more entry: {1000 * seconds_of(lambda: asyncio.run(again.ingest(more))):.0f} ms")
    tell(f"project after it: {1000 * seconds_of(project(first)):.0f} ms")


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
