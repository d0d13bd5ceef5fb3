"""A process that lets others work on a store, and kills them.

It has everything imported and forks a worker for each order, so that a kill costs little more than
what is killed. Reads orders and writes what happened, one JSON value a line.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from pcpfs.store.upkeeping.maintain import maintain
from tests.store.workplace import ANNA, draft

SCOPE = "project:kills"
ROOT = "app"


class Worker:
    """Does one thing after another and says what was acknowledged."""

    def __init__(self, store: Store, sources: Path, chance: random.Random) -> None:
        self.store = store
        self.session = Session(store, ANNA)
        self.sources = sources
        self.chance = chance

    def write(self) -> object:
        text = f"# {self.chance.random()}\n"
        written = self.session.write(SCOPE, draft(text), path=f"x{self.chance.randrange(9)}.md")
        return [written.revision_id, Digest.of(text.encode())]

    def revise(self) -> object:
        rows = self.store.catalog.pages("NOT is_source")
        page = self.chance.choice(rows).page_id if rows else str(self.write_first())
        heads = self.session.manifest(page).heads
        text = f"again {self.chance.random()}\n"
        written = self.session.revise(page, draft(text), expect=heads)
        return [written.revision_id, Digest.of(text.encode())]

    def write_first(self) -> str:
        return self.session.write(SCOPE, draft("first\n")).page_id

    def add(self) -> object:
        """Another folder each time: a root of its own."""
        folder = self.sources / f"{self.chance.randrange(1 << 40):x}"
        folder.mkdir()
        for number in range(5):
            (folder / f"m{number}.py").write_text(f"def f{number}(): return {number}\n")
        with Sources(self.store, ANNA, batch_files=2) as sources:
            sources.add(Wanted(folder, Namespace(SCOPE)))
        return None

    def sync(self) -> object:
        """Change, add and remove some files of the first root."""
        folder = self.sources / ROOT
        changed = folder / f"m{self.chance.randrange(6)}.py"
        changed.write_text(f"def g(): return {self.chance.random()}\n")
        gone = folder / f"m{self.chance.randrange(6)}.py"
        if gone != changed:
            gone.unlink(missing_ok=True)
        with Sources(self.store, ANNA) as sources:
            sources.sync([ROOT])
        (root,) = (root for root in self.store.catalog.roots() if root.name == ROOT)
        condition = "path = ? AND root_id = ? AND is_open"
        (row,) = self.store.catalog.pages(condition, (changed.name, root.root_id))
        return [row.revision_id, Digest.of(changed.read_bytes())]

    def reindex(self) -> object:
        self.store.reindex()
        return None

    def flush(self) -> object:
        self.session.flush_indexes()
        return None

    def maintain(self) -> object:
        maintain(self.store)
        return None

    def operations(self) -> dict[str, Callable[[], object]]:
        names = ("write", "revise", "add", "sync", "reindex", "flush", "maintain")
        return {name: getattr(self, name) for name in names}

    def work(self, first: str) -> Iterator[tuple[str, object]]:
        """What begins and what is acknowledged, for ever."""
        operations = self.operations()
        name = first
        while True:
            yield "begins", name
            yield "done", operations[name]()
            name = self.chance.choice(list(operations))


def main() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        opened, opening = os.pipe()
        worker = os.fork()
        if worker == 0:
            work(opening, **order["work"])
        os.close(opening)
        if order["after"] == "open":
            os.read(opened, 1)
        os.close(opened)
        time.sleep(order["seconds"])
        os.kill(worker, signal.SIGKILL)
        _, status = os.waitpid(worker, 0)
        say("killed", os.WIFSIGNALED(status))


def work(opening: int, store: str, sources: str, first: str, seed: float) -> None:
    """Runs until it is killed. An error ends it early, and is told."""
    say("begins", "open")
    try:
        chance = random.Random(seed)
        worker = Worker(Store.open(Path(store)), Path(sources), chance)
        if chance.random() < 0.3:
            worker.store.commit_late()
        os.close(opening)
        for event, what in worker.work(first):
            say(event, what)
    except BaseException as error:
        say("error", repr(error))
    os._exit(1)


def say(event: str, what: object) -> None:
    """In one write: a line is whole, or not there."""
    os.write(1, json.dumps([event, what]).encode() + b"\n")
