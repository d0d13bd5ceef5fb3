"""`python -m benchmarks.scale`: what one operation costs in a store and in one ten times as large,
side by side.

The stores are filled through ordinary transactions, a few thousand pages each, so they hold the
same files and rows as if the pages had been written one by one. They are kept and used again.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from benchmarks.rows import Aim, Row, document, table
from benchmarks.run import CACHE, machine
from benchmarks.timing import median_seconds, run
from pcpfs.model.changes import Named, RevisionWritten
from pcpfs.model.ids import PageId
from pcpfs.model.names import Namespace, TreePath
from pcpfs.model.pages import Facets, Payload, Principal, ProvenanceEvent, Revision
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.transaction import Transaction
from pcpfs.store.writes import Draft

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
class Measurement:
    """A name that is the same for every store; `aim` is the factor that it may grow by."""

    name: str
    seconds: float
    aim: float | None = AIM
    note: str = ""


def measured(path: Path, times: int) -> Iterator[Measurement]:
    """One store, opened once as a server or watcher holds it."""
    yield Measurement("open", median_seconds(lambda: Store.open(path).close(), times))
    yield from in_session(path, times)
    status = ("git", "status", "--porcelain")
    first = run(status, path)
    clean = "clean" if not first.output else f"{len(first.output.splitlines())} lines"
    yield Measurement("git status", median_seconds(lambda: run(status, path), 3), None, clean)


def in_session(path: Path, times: int) -> Iterator[Measurement]:
    chance = random.Random(times)
    with Store.open(path) as store:
        session = Session(store, ME)
        known = [row[0] for row in store.catalog.query("SELECT page_id FROM page LIMIT 10000")]
        fresh = count(10**9 + store.catalog.generation)

        def read() -> None:
            assert session.payload(chance.choice(known))

        def search(*also: str) -> None:
            words = [rare(chance.randrange(500)), *also]
            assert session.search(" ".join(words)).results

        def write() -> None:
            number = next(fresh)
            draft = Draft(text(chance, number), "text/markdown")
            session.write(scope(number), draft, path=f"new/{number}.md")

        def repeated(action: Callable[[], object]) -> float:
            return median_seconds(action, times)

        yield Measurement("first search", repeated_once(search), None, "loads the indexes")
        yield Measurement("read a page", repeated(read))
        yield Measurement("search, rare word", repeated(search))
        yield Measurement("search, rare and common word", repeated(lambda: search(word(3))))
        answers = "ten times as many hits"
        common = repeated(lambda: session.search(word(3)))
        yield Measurement("search, common word", common, None, answers)
        yield Measurement("write with commit", repeated(write))
        yield Measurement("search after these", repeated(search))
        session.close()


def repeated_once(action: Callable[[], object]) -> float:
    return median_seconds(action, 1)


def rows(wanted: Options) -> Iterator[Row]:
    """The figures of the smallest store, and of the others beside them."""
    smallest = wanted.sizes[0]
    for size in wanted.sizes:
        path = wanted.work / f"pages-{size}"
        fill(path, size)
        for found in measured(path, wanted.times):
            name, base = f"{found.name}, {size:,}", f"{found.name}, {smallest:,}"
            compared = size != smallest
            aim = Aim(0, base, found.aim) if compared and found.aim else None
            yield Row(
                name, found.seconds, "s", wanted.times, aim, base if compared else "", found.note
            )


def main(arguments: Sequence[str]) -> None:
    wanted = options(arguments)
    wanted.work.mkdir(parents=True, exist_ok=True)
    found, facts = list(rows(wanted)), machine()
    print(", ".join(f"{key} {value}" for key, value in facts.items()), table(found), sep="\n\n")
    if wanted.json:
        wanted.json.write_text(json.dumps(document(found, facts), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
