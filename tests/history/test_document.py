"""The commands in docs/history.md work as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs/history.md"


def test_the_lines_of_the_document_run_one_by_one(tmp_path: Path) -> None:
    (script,) = re.findall(r"```sh\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    commands = tmp_path / "bin"
    commands.mkdir()
    packages = os.pathsep.join(filter(None, sys.path))
    for name, arguments in (("pcpfs", "-m pcpfs"), ("python3", "")):
        command = commands / name
        text = f"PYTHONPATH='{packages}' exec '{sys.executable}' {arguments} \"$@\""
        command.write_text(f"#!/bin/sh\n{text}\n")
        command.chmod(0o755)
    who = ("NAME", "Ada"), ("EMAIL", "ada@example.org")
    environment = {
        "PATH": f"{commands}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        **{f"GIT_{role}_{what}": to for role in ("AUTHOR", "COMMITTER") for what, to in who},
    }
    done = subprocess.run(
        ["sh", "-c", "set -eu\n" + script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "history of main: 2 commits, 2 observations" in done.stdout
    assert "+    return hour % 12" in done.stdout
    assert "def height(hour):\n    return hour\n" in done.stdout
    assert "1 commit retracted" in done.stdout
    last = done.stdout.rpartition("height (tides/tables.py)")[2].partition("\n")[2]
    assert re.findall(r"^  (\w+)", last, re.MULTILINE) == ["moved", "changed", "opened"]
    assert "Ada <ada@example.org>" in last
