"""The tab key, in a real bash."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import pytest

from pcpfs.cli.completing import completed
from pcpfs.cli.main import group
from tests.cli.running import COMMAND, Terminal

TRY = """\
eval "$(pcpfs completion bash)"
while IFS= read -r COMP_LINE; do
    COMP_POINT=${#COMP_LINE}
    spaced=${COMP_LINE//:/ : }
    read -ra COMP_WORDS <<< "$spaced"
    case $COMP_LINE in *' ') COMP_WORDS+=('') ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _pcpfs_completion pcpfs
    printf '%s|' "${COMPREPLY[@]}"
    echo
done
"""

ASKED = {
    "pcpfs sea": "search|",
    "pcpfs scope ": "grant|list|retain|revoke|set|show|",
    "pcpfs search --scope no": "notes:high-water|",
    "pcpfs search --scope notes:hi": "high-water|",
    "pcpfs show ti": r"tide\ tables.md|",
    "pcpfs sync b": "book|",
    "pcpfs show book/tide.": "book/tide.py|",
    "pcpfs cat /scopes/notes/h": r"/scopes/notes/high-water/tide\ tables.md|",
    "pcpfs add src/t": "src/tide.py|",
    "pcpfs symbol Tide.r": "Tide.rise|",
    "pcpfs log --symbol ri": "rise|",
    "pcpfs --as model:": "local|",
    "pcpfs show nothing": "|",
}


@pytest.fixture
def filled(terminal: Terminal) -> Terminal:
    terminal.run("init", "store")
    terminal.write("src/tide.py", "class Tide:\n    def rise(self): pass\n")
    write = ("write", "--scope", "notes:high-water", "--path", "tide tables.md", "-")
    assert terminal.run("-C", "store", *write, stdin=b"x\n").code == 0
    add = ("add", "src", "--scope", "notes:high-water", "--root", "book")
    assert terminal.run("-C", "store", *add).code == 0
    return terminal


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_completes_commands_names_and_files(
    filled: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PCPFS_STORE", "store")
    command = filled.write("bin/pcpfs", f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:{os.environ['PATH']}")
    done = subprocess.run(
        ["bash", "--norc", "-c", TRY],
        input="".join(f"{line}\n" for line in ASKED),
        capture_output=True,
        text=True,
        cwd=filled.folder,
        check=True,
    )
    assert done.stderr == ""
    assert dict(zip(ASKED, done.stdout.splitlines(), strict=True)) == ASKED


def test_a_store_that_is_damaged_or_not_there_offers_nothing(
    filled: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_WORDS", "pcpfs show ti")
    monkeypatch.setenv("PCPFS_STORE", "store")
    assert completed("bash_complete", group()) == "plain,tide tables.md"
    (filled.folder / "store/.pcpfs/catalog.sqlite").write_bytes(b"no catalog")
    assert completed("bash_complete", group()) == ""
    monkeypatch.setenv("PCPFS_STORE", "no/where")
    assert completed("bash_complete", group()) == ""
    assert completed("odd_instruction", group()) == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_asks_us(terminal: Terminal, shell: str) -> None:
    script = terminal.run("completion", shell).text
    assert f"_PCPFS_COMPLETE={shell}_complete" in script
    parser = shutil.which(shell)
    if parser:
        checked = subprocess.run([parser, "-n"], input=script.encode(), check=False)
        assert checked.returncode == 0


def test_what_a_shell_asks_is_answered_by_the_command(filled: Terminal) -> None:
    asked = {"_PCPFS_COMPLETE": "zsh_complete", "COMP_WORDS": "pcpfs sync ", "COMP_CWORD": "2"}
    answer = filled.process(**asked, PCPFS_STORE="store")
    assert (answer.code, answer.err) == (0, b"")
    assert "book" in answer.text
