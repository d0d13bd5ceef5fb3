"""Places where no store can be: one clear line each, and nothing left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.running import Terminal
from tests.privileges import bound_by_permissions

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux")


def refused(terminal: Terminal, place: str, *said: str) -> None:
    before = sorted(os.listdir(terminal.folder))
    outcome = terminal.run("init", place)
    assert outcome.code not in (0, 70), outcome.message
    assert outcome.message.count("\n") == 1
    for words in said:
        assert words in outcome.message
    assert sorted(os.listdir(terminal.folder)) == before


@LINUX
@pytest.mark.parametrize("place", ["/proc/x", "/proc/x/y/z"])
def test_init_where_the_system_makes_no_folders(terminal: Terminal, place: str) -> None:
    refused(terminal, place, place, "no folder can be made there", "choose another place")


def test_init_where_something_is_in_the_way(terminal: Terminal) -> None:
    (terminal.folder / "file").write_bytes(b"mine")
    (terminal.folder / "dangling").symlink_to("nowhere")
    (terminal.folder / "loop").symlink_to("loop")
    refused(terminal, "file", "choose another one")
    refused(terminal, "file/x", "a file is where a folder should be")
    refused(terminal, "dangling", "a broken link is in the way")
    refused(terminal, "dangling/x", "a broken link is in the way")
    refused(terminal, "loop/x", "leads back to itself")
    assert (terminal.folder / "file").read_bytes() == b"mine"


def test_init_under_a_name_that_no_system_takes(terminal: Terminal) -> None:
    refused(terminal, "n" * 300, "File name too long")
    refused(terminal, "n/" * 3000, "File name too long")


def test_init_deeper_than_the_database_can_open(terminal: Terminal) -> None:
    outcome = terminal.run("init", "n/" * 600)
    assert outcome.code not in (0, 70)
    assert "too long a path" in outcome.message


def test_init_where_one_may_not_look(terminal: Terminal) -> None:
    closed = terminal.folder / "closed"
    closed.mkdir(mode=0o000)
    with bound_by_permissions():
        refused(terminal, "closed", "check the permissions")
        refused(terminal, "closed/x", "check the permissions")


def test_commands_in_a_folder_that_is_gone(terminal: Terminal, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    for words in (["init"], ["init", "x"], ["status"], ["add", "x", "--scope", "project:a"]):
        outcome = terminal.run(*words)
        assert (outcome.code, outcome.message.count("\n")) == (3, 1), outcome.message
        assert "has been removed" in outcome.message
