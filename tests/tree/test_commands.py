"""`sync` and `watch` on the command line take edits in `tree/`; no other command does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import COMMAND, Terminal

TREE = "store/scopes/project/a/tree/"


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Terminal:
    """A store with the page x.md, and one root."""
    terminal = Terminal(tmp_path / "work", monkeypatch, capfdbinary)
    terminal.write("book/tide.py", "def rise():\n    return 1\n")
    terminal.write("x.md", "one\n")
    terminal.run("init", "store")
    terminal.run("-C", "store", "write", "--scope", "project:a", "--path", "x.md", "x.md")
    terminal.run("-C", "store", "add", "book", "--scope", "project:b")
    return terminal


class TestSync:
    @pytest.mark.parametrize("roots", [(), ("book",)])
    def test_the_answer_says_what_was_taken(self, desk: Terminal, roots: tuple[str, ...]) -> None:
        desk.write(TREE + "x.md", "two\n")
        desk.write(TREE + "con.md", "text\n")
        done = desk.run("-C", "store", "sync", *roots, "--json")
        assert done.code == 0
        tree = done.json["tree"]
        (change,) = tree["revised"]
        assert change["path"] == "scopes/project/a/tree/x.md"
        assert change["revision_id"].startswith("rev_")
        assert [left["path"] for left in tree["left"]] == ["scopes/project/a/tree/con.md"]
        assert done.json["commit"]

    def test_a_person_reads_it_line_by_line(self, desk: Terminal) -> None:
        desk.write(TREE + "x.md", "two\n")
        desk.write(TREE + "y.md", "# New\n")
        text = desk.run("-C", "store", "sync").text
        assert "revised scopes/project/a/tree/x.md" in text
        assert "created scopes/project/a/tree/y.md" in text

    def test_many_removals_need_an_option(self, desk: Terminal) -> None:
        for number in range(12):
            desk.write(TREE + f"{number}.md", f"{number}\n")
        desk.run("-C", "store", "sync")
        for accept, key in (((), "held_back"), (("--accept-removals",), "tombstoned")):
            for number in range(12):
                (desk.folder / TREE / f"{number}.md").unlink()
            done = desk.run("-C", "store", "sync", *accept, "--json")
            assert len(done.json["tree"][key]) == 12

    @pytest.mark.parametrize("command", ["add", "status", "search", "write"])
    def test_no_other_command_takes_edits(self, desk: Terminal, command: str) -> None:
        desk.write(TREE + "x.md", "two\n")
        desk.write("new.md", "new\n")
        arguments = {
            "add": ("book", "--scope", "project:b"),
            "status": (),
            "search": ("one",),
            "write": ("--scope", "project:a", "new.md"),
        }[command]
        assert desk.run("-C", "store", command, *arguments).code == 0
        shown = desk.run("-C", "store", "show", "x.md", "--projection", "payload")
        assert shown.out == b"one\n"
        assert (desk.folder / TREE / "x.md").read_bytes() == b"two\n"


@contextmanager
def watching(desk: Terminal) -> Iterator[subprocess.Popen[bytes]]:
    """A watcher in a process of its own, which has begun."""
    with subprocess.Popen(
        [*COMMAND, "-C", "store", "watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=desk.folder,
        env=os.environ,
    ) as process:
        try:
            assert next_line(process)["event"] == "watching"
            yield process
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
            assert process.stderr is not None
            assert process.stderr.read() == b""
        finally:
            process.kill()


def next_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    assert process.stdout is not None
    return dict(json.loads(process.stdout.readline()))


def test_watch_tells_one_line_a_change(desk: Terminal) -> None:
    with watching(desk) as process:
        saved = desk.write(TREE + ".x.md.swp", "two\n")
        saved.replace(desk.folder / TREE / "x.md")
        line = next_line(process)
        assert (line["event"], line["path"]) == ("revised", "scopes/project/a/tree/x.md")
        desk.write(TREE + "notes/y.md", "new\n")
        line = next_line(process)
        assert (line["event"], line["path"]) == ("created", "scopes/project/a/tree/notes/y.md")
        (desk.folder / TREE / "notes/y.md").rename(desk.folder / TREE / "z.md")
        line = next_line(process)
        assert (line["event"], line["path"]) == ("renamed", "scopes/project/a/tree/z.md")
        (desk.folder / TREE / "z.md").unlink()
        line = next_line(process)
        assert (line["event"], line["path"]) == ("tombstoned", "scopes/project/a/tree/z.md")
        desk.write("store/scopes/thread/t/tree/new.md", "in a new scope\n")
        line = next_line(process)
        assert (line["event"], line["path"]) == ("created", "scopes/thread/t/tree/new.md")


def test_watch_takes_what_was_edited_before_it_began(desk: Terminal) -> None:
    desk.write(TREE + "x.md", "two\n")
    with watching(desk) as process:
        assert next_line(process)["event"] == "revised"


def test_watch_waits_for_a_file_that_was_emptied(desk: Terminal) -> None:
    with watching(desk) as process:
        desk.write(TREE + "x.md", "")
        desk.write(TREE + "z.md", "sentinel\n")
        assert next_line(process)["path"].endswith("z.md")
        desk.write(TREE + "x.md", "filled\n")
        line = next_line(process)
        assert (line["event"], line["path"]) == ("revised", "scopes/project/a/tree/x.md")
    log = desk.run("-C", "store", "log", "x.md", "--json").json
    assert len(log["revisions"]) == 2
