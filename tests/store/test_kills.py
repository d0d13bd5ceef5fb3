"""A process that is killed at any moment loses nothing that it had acknowledged."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from pcpfs.store.upkeeping.fsck import fsck
from tests.store.workplace import Workplace

SCRIPT = """
import sys
from pathlib import Path
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, draft
session = Session(Store.open(Path(sys.argv[1])), ANNA)
print("ready", flush=True)
for number in range(1000):
    written = session.write("project:a", draft(f"{sys.argv[2]} {number}\\n"), path="notes/x.md")
    print(written.page_id, written.revision_id, flush=True)
    revised = session.revise(
        written.page_id, draft(f"{number} again\\n"), expect=[written.revision_id]
    )
    print(revised.page_id, revised.revision_id, flush=True)
"""


def acknowledged(path: Path, name: str, seconds: float) -> list[tuple[str, str]]:
    """Let a process write and kill it; what it said was written."""
    checkout = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(checkout), *sys.path])},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    said = process.stdout.read().rpartition("\n")[0]
    process.wait()
    return [(page, revision) for page, revision in map(str.split, said.splitlines())]


def test_what_was_acknowledged_is_there_after_any_kill(place: Workplace) -> None:
    place.close()
    chance = random.Random()
    told = [
        pair
        for number in range(5)
        for pair in acknowledged(place.path, str(number), chance.uniform(0.0, 0.3))
    ]
    again = place.reopened()
    for page, revision in told:
        assert again.session.resolve(revision).page == page
        assert again.session.payload(revision)
    assert fsck(again.store).problems == ()
    assert again.git("status", "--porcelain") == ""
    pages = again.store.catalog.pages()
    assert len(again.tree()) == len(pages)
    again.close()
