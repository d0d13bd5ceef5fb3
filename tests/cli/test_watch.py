"""`watch`: a line a change, and a clean end by either signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cli.running import COMMAND, Terminal

FEW_WATCHES = "echo 2 > /proc/sys/user/max_inotify_watches"
"""In a name space of its own, where the limit is nobody else's."""


@contextmanager
def watching(terminal: Terminal, *through: str) -> Iterator[subprocess.Popen[bytes]]:
    """A watcher on a new store with one root, in a process of its own."""
    terminal.write("book/tide.py", "def rise():\n    return 1\n")
    terminal.write("book/a/b/deep.py", "def deep():\n    return 1\n")
    terminal.run("init", "store")
    terminal.run("-C", "store", "add", "book", "--scope", "a:b")
    with subprocess.Popen(
        [*through, *COMMAND, "-C", "store", "watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=terminal.folder,
        env=os.environ,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    return dict(json.loads(process.stdout.readline()))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_save_is_told_at_once_and_a_signal_ends_it_well(
    terminal: Terminal, number: signal.Signals
) -> None:
    with watching(terminal) as process:
        assert next_line(process)["event"] == "watching"
        saved = terminal.write("saved.py", "def rise():\n    return 2\n")
        saved.replace(terminal.folder / "book" / "tide.py")
        line = next_line(process)
        assert (line["event"], line["path"], line["opened"], line["closed"]) == (
            "changed",
            "tide.py",
            1,
            1,
        )
        found = terminal.process("-C", "store", "symbol", "rise", "--json")
        assert found.code == 0, found
        (hit,) = found.json["results"]
        words = ("-C", "store", "show", hit["frame_id"], "--projection", "payload")
        assert terminal.process(*words).out == b"def rise():\n    return 2"
        process.send_signal(number)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_an_unknown_root_is_not_found(terminal: Terminal) -> None:
    terminal.run("init", "store")
    assert terminal.run("-C", "store", "watch", "nowhere").code == 3


def can_limit_watches() -> bool:
    words = ["unshare", "-Ur", "sh", "-c", FEW_WATCHES]
    try:
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not can_limit_watches(), reason="no user name space can be made here")
def test_too_few_watches_are_said_aloud_and_by_status_while_it_polls(terminal: Terminal) -> None:
    few = ("unshare", "-Ur", "sh", "-c", f'{FEW_WATCHES} && exec "$@"', "sh")
    with watching(terminal, *few) as process:
        assert next_line(process)["event"] == "watching"
        note = next_line(process)
        assert note["event"] == "note"
        assert (
            note["message"] == "only 2 of 3 directories can be watched: looking every 2 s instead"
        )
        (watcher,) = terminal.run("-C", "store", "status", "--json").json["watchers"]
        assert (watcher["polling"], watcher["notes"]) == (True, [note["message"]])
        assert watcher["roots"] == ["book"]
        assert note["message"] in terminal.run("-C", "store", "status").text
        terminal.write("book/a/b/deep.py", "def deep():\n    return 2\n")
        assert next_line(process)["path"] == "a/b/deep.py"
        process.kill()
        process.wait(20)
        assert terminal.run("-C", "store", "status", "--json").json["watchers"] == []
