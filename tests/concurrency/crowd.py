"""Many processes at work on one store. Each says what became of what it did, one JSON value a line.

They are forked by one process that has everything imported; the last one to end ends it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pcpfs.errors import Conflict, NotFound
from pcpfs.model.ids import Digest
from pcpfs.sources.service import Sources
from pcpfs.sources.watch import Watch, WatchLine
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.store.workplace import ANNA, SCOPE, draft

CHECKOUT = Path(__file__).parents[2]
PATIENT = 300.0
"""Seconds a writer waits here: nobody gives up on a slow machine."""


def tell(event: str, **about: object) -> None:
    """In one write, so that lines of several processes never mix."""
    os.write(1, json.dumps({"event": event, **about}).encode() + b"\n")


def writer(store: str, name: int, count: int, shared: list[str], seed: float) -> None:
    """Writes pages, and revises shared ones on what it has read."""
    chance = random.Random(seed)
    with Store.open(Path(store), wait=PATIENT) as opened:
        session = Session(opened, ANNA)
        for number in range(count):
            if chance.random() < 0.3:
                write(session, f"{name}-{number}")
            else:
                revise(session, chance.choice(shared), f"{name}-{number}", chance)
        session.close()


def write(session: Session, what: str) -> None:
    """A page of one's own, and one that several may want to be the first to write."""
    text = f"page {what}\n".encode()
    own = session.write(SCOPE, draft(text), path="crowded/page.md")
    tell("kept", page=own.page_id, revision=own.revision_id, digest=Digest.of(text))
    key = f"key {len(what)}"
    keyed = session.write(SCOPE, draft("the same for all\n"), key=key)
    tell("keyed", key=key, revision=keyed.revision_id, created=keyed.created)


def revise(session: Session, page: str, what: str, chance: random.Random) -> None:
    """Revise what was read a moment ago, saying in the text what that was."""
    manifest, payload = session.read(page)
    assert manifest.payload is not None
    if Digest.of(payload) != manifest.payload.ref:
        tell("torn", page=page, revision=manifest.revision_id)
    time.sleep(chance.uniform(0, 0.02))
    expected = manifest.revision_id
    text = f"{what} after {expected}\n".encode()
    try:
        written = session.revise(page, draft(text), expect=[expected])
    except Conflict as conflict:
        told = conflict.fields.get("heads")
        tell("refused", page=page, expected=expected, heads=told)
    else:
        told = {"page": page, "revision": written.revision_id, "digest": Digest.of(text)}
        tell("kept", parent=expected, **told)


def reader(store: str, pages: list[str], seconds: float) -> None:
    """Reads and searches; what it gets must fit together."""
    end = time.monotonic() + seconds
    with Store.open(Path(store)) as opened:
        session = Session(opened, ANNA)
        while time.monotonic() < end:
            for page in pages:
                manifest, payload = session.read(page)
                if manifest.payload is None or Digest.of(payload) != manifest.payload.ref:
                    tell("torn", page=page)
            hits = session.search("page after", limit=40).results
            for hit in hits:
                words = session.payload(hit.revision_id).decode()
                if "page" not in words and "after" not in words:
                    tell("torn", page=hit.page_id)
            tell("read", hits=len(hits))
        session.close()


def opener(store: str) -> None:
    with Store.open(Path(store), wait=PATIENT) as opened:
        tell(
            "opened",
            clone=opened.local.clone,
            catalog=opened.catalog.meta("catalog_id"),
            pages=len(opened.catalog.pages()),
        )


def flusher(store: str, seconds: float) -> None:
    end = time.monotonic() + seconds
    with Store.open(Path(store)) as opened:
        session = Session(opened, ANNA)
        while time.monotonic() < end:
            session.flush_indexes()
            time.sleep(0.01)
        session.close()


def reindexer(store: str, count: int) -> None:
    with Store.open(Path(store), wait=PATIENT) as opened:
        for _ in range(count):
            tell("reindexed", pages=opened.reindex())
            time.sleep(0.2)


def watcher(store: str, folder: str) -> None:
    """Watches until the saver is done and everything it saved is in the store."""
    stop = threading.Event()

    def said(line: WatchLine) -> None:
        tell("watched", what=line.event, path=line.path, message=line.message)

    def wait_for_the_end() -> None:
        try:
            with Store.open(Path(store), wait=PATIENT) as opened:
                while not (saved_mark(folder).exists() and is_kept(opened, Path(folder))):
                    time.sleep(0.2)
        except Exception:
            tell("watched", what="error", path=None, message=traceback.format_exc())
        finally:
            watch.stop()

    with Store.open(Path(store), wait=PATIENT) as opened, Sources(opened, ANNA) as sources:
        watch = Watch(sources, said, stop)
        threading.Thread(target=wait_for_the_end, daemon=True).start()
        threading.Timer(PATIENT, watch.stop).start()
        watch.run([])


def is_kept(store: Store, folder: Path) -> bool:
    session = Session(store, ANNA)
    try:
        return all(session.payload(file.name) == file.read_bytes() for file in folder.iterdir())
    except NotFound:
        return False


def saved_mark(folder: str) -> Path:
    return Path(f"{folder}.saved")


def saver(folder: str, seconds: float) -> None:
    """Somebody who edits sources all the time."""
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        (Path(folder) / f"m{number % 3}.py").write_text(f"def f{number}():\n    return {number}\n")
        time.sleep(0.05)
    saved_mark(folder).touch()


def committer(store: str, seconds: float) -> None:
    """A person who adds and commits everything that is there, again and again."""
    end = time.monotonic() + seconds
    person = ("-c", "user.name=me", "-c", "user.email=me@x", "-c", "gc.auto=0")
    while time.monotonic() < end:
        (Path(store) / "mine.txt").write_text(f"{time.monotonic()}\n")
        for words in (("add", "-A"), ("commit", "-q", "-a", "-m", "mine")):
            done = subprocess.run(
                ["git", *person, *words], cwd=store, capture_output=True, check=False
            )
            tell("committed" if done.returncode == 0 else "hindered", what=words[0])
        time.sleep(0.02)


_ROLES = (writer, reader, opener, flusher, reindexer, watcher, saver, committer)
ROLES: dict[str, Callable[..., None]] = {role.__name__: role for role in _ROLES}


def main() -> None:
    workers = [forked(role, about) for role, about in json.loads(sys.stdin.read())]
    for worker in workers:
        os.waitpid(worker, 0)


def forked(role: str, about: dict[str, Any]) -> int:
    worker = os.fork()
    if worker:
        return worker
    with contextlib.suppress(BaseException):
        try:
            ROLES[role](**about)
        except BaseException as error:
            trace = traceback.format_exc()
            tell("error", role=role, what=repr(error), trace=trace[-2000:])
    os._exit(0)


@dataclass(frozen=True)
class Told:
    """What a crowd said."""

    lines: list[dict[str, Any]]

    def of(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == event]


def crowd(*roles: tuple[str, dict[str, Any]]) -> Told:
    """Let them all work at once until the last one is done."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.concurrency.crowd import main; main()"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECKOUT), *sys.path])},
        input=json.dumps(roles).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    return Told([json.loads(line) for line in done.stdout.splitlines()])
