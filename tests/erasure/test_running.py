"""Whoever has a store open lets go of what was erased within a second, asked or not."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pcpfs.provider.lines import lines_of
from pcpfs.store.erasure.erasing import delete
from pcpfs.store.session import Session
from pcpfs.store.store import Store
from tests.erasure.hideouts import TEXT
from tests.store.workplace import ANNA, Workplace

RUN = (sys.executable, "-c", "from pcpfs.cli.main import run; run()")
HANDSHAKE = b'{"type":"handshake","protocol_version":"contextgraph/1.0-draft","role":"host"}\n'
QUERY = (
    b'{"type":"query","id":"q","query":{"goal":"combination heron","max_tokens":500,'
    b'"max_frames":5}}\n'
)
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
    b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
)
SEARCH = (
    b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search",'
    b'"arguments":{"query":"combination heron"}}}\n'
)
SERVERS = {"serve": (HANDSHAKE, QUERY), "mcp": (INITIALIZE, SEARCH)}
LONGEST = 6.0


def open_files(pid: int) -> list[str]:
    """Files below a store that a process has open and that nobody else can see any more."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = os.readlink(link)
        except FileNotFoundError:
            continue
        if ".pcpfs" in target and target.endswith("(deleted)"):
            found.append(target)
    return found


def seconds_until(is_so: Callable[[], bool]) -> float:
    start = time.monotonic()
    while not is_so():
        assert time.monotonic() - start < LONGEST
        time.sleep(0.02)
    return time.monotonic() - start


@pytest.fixture(params=SERVERS)
def serving(
    place: Workplace, request: pytest.FixtureRequest
) -> Iterator[tuple[Workplace, str, subprocess.Popen[bytes], tuple[bytes, bytes]]]:
    page = place.write(TEXT).page_id
    place.write("# Other\nSomething else about boats.\n")
    place.session.flush_indexes()
    process = subprocess.Popen(
        [*RUN, "-C", str(place.path), "--as", str(ANNA), request.param],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    yield place, page, process, SERVERS[request.param]
    process.communicate(timeout=20)


def test_a_server_that_nobody_asks_closes_what_was_replaced(
    serving: tuple[Workplace, str, subprocess.Popen[bytes], tuple[bytes, bytes]],
) -> None:
    place, page, process, (hello, query) = serving
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(hello + query)
    process.stdin.flush()
    process.stdout.readline()
    assert b"4711-blue-heron" in process.stdout.readline()
    delete(place.store, ANNA, page, "not ours")
    took = seconds_until(lambda: open_files(process.pid) == [])
    assert took < 3, took
    process.stdin.write(query)
    process.stdin.flush()
    assert b"4711-blue-heron" not in process.stdout.readline()


def test_a_watcher_closes_what_was_replaced(place: Workplace) -> None:
    page = place.write(TEXT).page_id
    process = subprocess.Popen(
        [*RUN, "-C", str(place.path), "watch"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        catalog = str(place.path / ".pcpfs/catalog.sqlite")
        seconds_until(lambda: catalog in map(_target, Path(f"/proc/{process.pid}/fd").iterdir()))
        time.sleep(0.5)
        delete(place.store, ANNA, page, "not ours")
        took = seconds_until(lambda: open_files(process.pid) == [])
        assert took < 4, took
    finally:
        process.terminate()
        process.communicate(timeout=20)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except FileNotFoundError:
        return ""


def test_another_session_in_this_process_forgets_it_at_its_next_question(place: Workplace) -> None:
    page = place.write(TEXT).page_id
    with Store.open(place.path, clock=place.clock) as other:
        session = Session(other, ANNA)
        assert session.search("combination heron").results
        delete(place.store, ANNA, page, "not ours")
        assert session.search("combination heron").results == ()
        session.close()


def test_lines_come_whole_and_idle_moments_are_told() -> None:
    reading, writing = os.pipe()
    idle = threading.Event()
    with open(reading, "rb", buffering=0) as stream, open(writing, "wb", buffering=0) as out:
        found = lines_of(stream, 20, idle.set)
        out.write(b"one\ntw")
        assert next(found) == b"one\n"

        def later() -> None:
            idle.wait(LONGEST)
            out.write(b"o\n\n" + b"x" * 50 + b"\nlast")
            out.close()

        threading.Thread(target=later).start()
        assert list(found) == [b"two\n", b"x" * 20, b"last"]
    assert idle.is_set()
