"""Two writers of one thread are killed in the middle of it, and what they were told holds."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

from pcpfs.ledger import StoreLedger
from pcpfs.store.upkeeping.fsck import fsck
from tests.ledger.threads import QUESTIONS, in_full
from tests.store.workplace import Workplace

CHECKOUT = Path(__file__).parents[2]
BATCH = 25
WRITER = """
import asyncio, sys
from pathlib import Path
from pcpfs.ledger import ContextEntry, StoreLedger
from pcpfs.model.pages import Principal
from pcpfs.store.session import Session
from pcpfs.store.store import Store

path, name, batch = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
ledger = StoreLedger(Session(Store.open(path), Principal("user:anna")), "t")
done = 0
while True:
    numbers = range(done, done + batch)
    ledger.ingest_all(
        [ContextEntry(name, f"{name} {n}", "2026-01-01T00:00:00Z", goal_id="g1") for n in numbers]
    )
    done += batch
    print(done, flush=True)
    asyncio.run(ledger.project("the", 9))
"""


def writer(path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(BATCH)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_killed_writers_lose_nothing_that_was_acknowledged(place: Workplace) -> None:
    acknowledged: dict[str, int] = {}
    for batches in (2, 5):
        names = (f"a{batches}", f"b{batches}")
        writers = {name: writer(place.path, name) for name in names}
        for name, process in writers.items():
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(batches)]
            os.kill(process.pid, signal.SIGKILL)
            told += process.stdout.readlines()
            process.wait()
            process.stdout.close()
            acknowledged[name] = max(int(line) for line in told if line.strip())
    again = place.reopened()
    ledger = StoreLedger(again.session, "t")
    count = asyncio.run(ledger.persist("t"))
    contents = [shown.content for shown in ledger.log(limit=100_000).entries]
    assert len(contents) == count
    for name, least in acknowledged.items():
        own = [text for text in contents if text.startswith(f"{name} ")]
        assert own == [f"{name} {n}" for n in range(len(own))]
        assert len(own) >= least > 0
        assert len(own) % BATCH == 0, "a batch is all there or not at all"
    full = in_full(again)
    for text, budget in QUESTIONS:
        expected = full.project(full.everything, text, budget, version=None, counter=None)
        assert asyncio.run(ledger.project(text, budget)) == expected
    assert fsck(again.store).problems == ()
    again.close()
