"""Real kills: a process dies in the middle of anything, two hundred times, in one store."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pcpfs.model.ids import Digest
from pcpfs.model.names import Namespace
from pcpfs.sources.roots import Wanted
from pcpfs.sources.service import Sources
from pcpfs.store.store import Store
from tests.crash.scenes import ailments
from tests.crash.stage import ROOT, SCOPE
from tests.store.workplace import ANNA, Workplace

CHECKOUT = Path(__file__).parents[2]
KILLS = int(os.environ.get("PCPFS_KILLS", "210"))
CHECKED_EVERY = 35
LONGEST = 0.2
FIRST = ("write", "revise", "add", "sync", "reindex", "flush", "maintain")


@dataclass
class Stage:
    """The process that kills, and what it told."""

    process: subprocess.Popen[str]
    acknowledged: dict[str, str] = field(default_factory=dict)
    hit: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)

    def kill(self, after: str, seconds: float, **work: object) -> None:
        """Let a worker begin, and kill it so long after its start, or after it has opened."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"after": after, "seconds": seconds, "work": work}) + "\n"
        )
        self.process.stdin.flush()
        doing = "start"
        for line in self.process.stdout:
            event, what = json.loads(line)
            if event == "begins":
                doing = what
            elif event == "done" and what is not None:
                self.acknowledged[what[0]] = what[1]
            elif event == "error":
                self.errors.append(f"{doing}: {what}")
            elif event == "killed":
                self.hit[doing] += 1
                return
            doing = "between" if event == "done" else doing


@pytest.fixture
def stage() -> Iterator[Stage]:
    process = subprocess.Popen(
        [sys.executable, "-c", "from tests.crash.stage import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    yield Stage(process)
    assert process.stdin is not None
    process.stdin.close()
    process.wait()


def test_whatever_is_killed_what_was_acknowledged_is_there_and_the_store_is_sound(
    stage: Stage, folder: Path
) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    store, sources = folder / "store", folder / "sources"
    Store.init(store, owner=ANNA).close()
    (sources / ROOT).mkdir(parents=True)
    (sources / ROOT / "m0.py").write_text("def g(): ...\n")
    with Store.open(store) as opened, Sources(opened, ANNA) as held:
        held.add(Wanted(sources / ROOT, Namespace(SCOPE)))
    for number in range(1, KILLS + 1):
        stage.kill(
            "open" if number % 4 else "start",
            chance.uniform(0, LONGEST),
            store=str(store),
            sources=str(sources),
            first=FIRST[number % len(FIRST)],
            seed=chance.random(),
        )
        if number % CHECKED_EVERY == 0 or number == KILLS:
            assert stage.errors == [], f"seed {seed}"
            assert trouble(store, stage.acknowledged) == [], f"seed {seed}, kill {number}"
    print(dict(stage.hit), len(stage.acknowledged), "acknowledged")
    assert set(FIRST) - {"flush"} <= set(stage.hit), f"seed {seed}"


def trouble(store: Path, acknowledged: dict[str, str]) -> list[str]:
    place = Workplace.at(store)
    try:
        wrong = [
            f"{revision} is lost"
            for revision, digest in acknowledged.items()
            if Digest.of(place.session.payload(revision)) != digest
        ]
        return wrong + ailments(place, lags=True)
    finally:
        place.close()
