"""`python -m benchmarks.scale`: what one operation costs in a store and in one ten times as large,
side by side.

The stores are filled through ordinary transactions, a few thousand pages each, so they hold the
same files and rows as if the pages had been written one by one. They are kept and used again.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from benchmarks.rows import Aim, Row, document, table
from benchmarks.run import CACHE, machine
from benchmarks.timing import run
from pcpfs.model.changes import Named, RevisionWritten
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace, TreePath
from pcpfs.model.pages import Facets, Payload, Principal, ProvenanceEvent, Revision
from pcpfs.model.requests import Draft
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction

ME = Principal("user:bench")
SCOPES = 8
PART = 5_000
SHELF = 500
"""Pages in one folder of `tree/`: FACTS says what a folder of 100,000 costs git."""

AIM = 1.5


@dataclass(frozen=True, slots=True)
class Options:
    sizes: tuple[int, ...]
    times: int
    work: Path
    json: Path | None


def options(arguments: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000], metavar="PAGES")
    parser.add_argument("-n", "--times", type=int, default=15, help="runs a median is taken of")
    parser.add_argument("--work", type=Path, default=CACHE / "scale", help="stores; kept, reused")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    given = parser.parse_args(arguments)
    return Options(tuple(sorted(given.sizes)), given.times, given.work.resolve(), given.json)


def word(number: int) -> str:
    """A made-up word of letters only: digits would be parts of their own."""
    letters = "bdfgklmnprstvz"
    text = "q"
    while number:
        number, rest = divmod(number, len(letters))
        text += letters[rest] + "aeiou"[rest % 5]
    return text


def rare(number: int) -> str:
    """Twenty of the first 10,000 pages share it, and no later one."""
    return "xy" + word(number % 500)


def text(chance: random.Random, number: int) -> bytes:
    """A note of some 120 words, the common ones in most pages."""
    words = " ".join(word(int(chance.expovariate(0.002))) for _ in range(120))
    own = rare(number) if number < 10_000 else "yx" + word(number)
    return f"# Note {word(number)}\n\n{own} {words}\n".encode()


def scope(number: int) -> Namespace:
    return Namespace(f"project:bench-{number % SCOPES}")


def put(store: Store, transaction: Transaction, number: int, payload: bytes) -> None:
    """One authored page, as `Session.write` makes it."""
    namespace, page = scope(number), PageId.authored(store.entropy.time_ordered())
    transaction.ensure_scope(namespace, str(namespace))
    revision = transaction.revision(
        Revision(
            page=page,
            namespace=namespace,
            payload=Payload("text/markdown", transaction.payload(namespace, payload), len(payload)),
            facets=Facets(),
            created_at=transaction.at,
            created_by=ME,
            provenance=(ProvenanceEvent("write", ME, transaction.at),),
            salt=store.entropy.random(16).hex(),
        )
    )
    path = TreePath(f"{number // SCOPES // SHELF:03}/note-{number}.md")
    transaction.change(namespace, page, RevisionWritten(revision), Named(path))


def fill(path: Path, size: int) -> None:
    """A store of so many pages, with its text indexes."""
    if (path / "pcpfs.toml").exists():
        return
    chance, numbers = random.Random(size), iter(range(size))
    with Store.init(path, owner=ME) as store:
        while part := list(islice(numbers, PART)):
            with store.writing("write", ME) as transaction:
                for number in part:
                    put(store, transaction, number, text(chance, number))
                transaction.commit(f"write: {len(part)} pages", [("Pcpfs-Operation", "write")])
            print(f"{path.name}: {part[-1] + 1} of {size} pages", file=sys.stderr, flush=True)
        session = Session(store, ME)
        session.flush_indexes()
        session.close()


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do in a store; `aim` is the factor by which it may grow with the store."""

    name: str
    action: Callable[[], object]
    aim: float | None = AIM
    times: int | None = None
    note: str = ""


class Subject:
    """One store, held open as a server or watcher holds it."""

    def __init__(self, path: Path, size: int) -> None:
        self.path = path
        self.size = size
        self.store = Store.open(path)
        self.session = Session(self.store, ME)
        self._chance = random.Random(size)
        self._known = [
            row[0] for row in self.store.catalog.query("SELECT page_id FROM page LIMIT 10000")
        ]
        self._fresh = count(10**9 + self.store.catalog.generation)

    def tasks(self) -> tuple[Task, ...]:
        """In this order; the same names for every store."""
        return (
            Task("first search", self.search, None, 1, "opens the indexes"),
            Task("open", lambda: Store.open(self.path).close()),
            Task("read a page", self.read),
            Task("search, rare word", self.search),
            Task("search, rare and common word", lambda: self.search(word(3)), None),
            Task("search, common word", lambda: self.session.search(word(3)), None),
            Task("write with commit, index at once", self.write, None),
            Task("(from here on the index may lag)", self.store.commit_late, None, 1),
            Task("write with commit, index lags", self.write),
            Task("search after these writes", self.search),
            Task("the index catches up", self.store.settle_index, None, 1, "once for all of these"),
            Task("first git status", self.status, None, 1),
            Task("git status", self.status, None, 3, "clean"),
            Task("write after git status", self.write, None, 3),
        )

    def read(self) -> None:
        assert self.session.payload(self._chance.choice(self._known))

    def search(self, *also: str) -> None:
        words = [rare(self._chance.randrange(500)), *also]
        assert self.session.search(" ".join(words)).results

    def write(self) -> None:
        number = next(self._fresh)
        draft = Draft(text(self._chance, number), "text/markdown")
        self.session.write(scope(number), draft, path=f"new/{number}.md")

    def status(self) -> None:
        said = run(("git", "status", "--porcelain"), self.path).output
        assert not said, said[:1000]

    def close(self) -> None:
        self.session.close()
        self.store.close()


@dataclass(frozen=True, slots=True)
class Cost:
    """What an action took: time on the clock, and of processors (ours and our children's), which
    other programs disturb less."""

    seconds: float
    processor: float

    @classmethod
    def of(cls, action: Callable[[], object]) -> Cost:
        before, start = processor_seconds(), time.perf_counter()
        action()
        return cls(time.perf_counter() - start, processor_seconds() - before)


def processor_seconds() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def measured(subjects: Sequence[Subject], times: int) -> Iterator[Row]:
    """Each task in all stores by turns, so that what else this machine does meets all alike."""
    smallest = f"{subjects[0].size:,}"
    for together in zip(*(subject.tasks() for subject in subjects), strict=True):
        costs: list[list[Cost]] = [[] for _ in subjects]
        runs = together[0].times or times
        for _ in range(runs):
            for task, found in zip(together, costs, strict=True):
                found.append(Cost.of(task.action))
        for subject, task, found in zip(subjects, together, costs, strict=True):
            is_base = subject is subjects[0]
            for kind in ("seconds", "processor"):
                what = task.name if kind == "seconds" else f"{task.name}, cpu"
                base = f"{what}, {smallest}"
                aim = Aim(0, base, task.aim) if task.aim and not is_base else None
                value = statistics.median(getattr(cost, kind) for cost in found)
                name = f"{what}, {subject.size:,}"
                print(f"{name}: {value * 1000:.1f} ms", file=sys.stderr, flush=True)
                yield Row(name, value, "s", runs, aim, "" if is_base else base, task.note)


def rows(wanted: Options) -> list[Row]:
    """All stores side by side."""
    paths = {size: wanted.work / f"pages-{size}" for size in wanted.sizes}
    for size, path in paths.items():
        fill(path, size)
    subjects = [Subject(path, size) for size, path in paths.items()]
    try:
        return list(measured(subjects, wanted.times))
    finally:
        for subject in subjects:
            subject.close()


def main(arguments: Sequence[str]) -> None:
    wanted = options(arguments)
    wanted.work.mkdir(parents=True, exist_ok=True)
    found, facts = rows(wanted), machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items()), table(found), sep="\n\n")
    if wanted.json:
        wanted.json.write_text(json.dumps(document(found, facts), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
