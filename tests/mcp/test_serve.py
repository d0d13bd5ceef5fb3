"""`pcpfs mcp` as a process, started as clients do."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.store.workplace import Workplace

PROGRAM = ("-c", "from pcpfs.cli.main import run; run()")
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}


def served(store: Path, tmp_path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *PROGRAM, "-C", str(store), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )


def greeted(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(HELLO).encode() + b"\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "pcpfs"


def test_a_client_works_while_a_person_revises(place: Workplace, tmp_path: Path) -> None:
    written = place.write("one\n")
    place.close()
    command = ["-C", str(place.path)]
    parameters = StdioServerParameters(
        command=sys.executable, args=[*PROGRAM, *command, "mcp"], env=environment(tmp_path)
    )

    async def work() -> None:
        async with Client(parameters) as client:
            page, revision = written.page_id, written.revision_id
            read = await client.call_tool("read", {"id": page})
            assert "\none\n" in read.content[0].text  # type: ignore[union-attr]
            subprocess.run(
                [sys.executable, *PROGRAM, *command, "revise", page, "--expect", revision, "-"],
                input=b"two\n",
                env=environment(tmp_path),
                check=True,
                capture_output=True,
            )
            given = {"id": page, "expected_revision_id": revision, "text": "mine\n"}
            late = await client.call_tool("revise", given)
            assert late.is_error
            assert "\n+two\n" in late.content[0].text  # type: ignore[union-attr]

    asyncio.run(work())


@pytest.mark.parametrize("number", [signal.SIGINT, None])
def test_a_signal_or_the_end_of_the_input_ends_it(
    place: Workplace, tmp_path: Path, number: signal.Signals | None
) -> None:
    place.close()
    with served(place.path, tmp_path) as process:
        greeted(process)
        if number is None:
            process.communicate(timeout=30)
        else:
            process.send_signal(number)
        assert process.wait(30) == 0


def test_a_client_that_vanishes_leaves_what_it_began(place: Workplace, tmp_path: Path) -> None:
    """It asks for a write and is gone before the answer."""
    place.write("x\n")
    place.close()
    call = {
        "name": "write",
        "arguments": {"scope": "project:a", "text": "last words\n", "title": "Last"},
    }
    lines = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with served(place.path, tmp_path) as process:
        greeted(process)
        assert process.stdin
        assert process.stdout
        process.stdout.close()
        process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in lines[1:]))
        process.stdin.flush()
        again = place.reopened()
        for _ in range(100):
            if again.session.search("last words").results:
                break
            process.poll()
        process.stdin.close()
        assert process.wait(30) == 0
    assert again.session.search("last words").results
    again.close()


def test_without_the_extra_it_says_which_one(place: Workplace, tmp_path: Path) -> None:
    place.close()
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp" / "__init__.py").write_text("raise ModuleNotFoundError(name='mcp')")
    done = subprocess.run(
        [sys.executable, *PROGRAM, "-C", str(place.path), "mcp"],
        env=environment(tmp_path) | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"pip install 'pcpfs[mcp]'" in done.stderr
