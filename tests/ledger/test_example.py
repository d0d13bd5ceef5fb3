"""The worked example of docs/ledger.md runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


def test_the_agent_loop_ingests_briefs_restarts_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    exec(compile(block("python"), "docs/ledger.md", "exec"), names)
    names["main"](tmp_path / "store")  # type: ignore[operator]
    out = capsys.readouterr().out
    assert "4 entries are committed" in out
    lines = out.splitlines()
    assert "Read the year from the file name. (2 entries read)" in lines[1]
    assert "of 40 tokens, v2_bm25" in out
    assert "cause: 3 entries: 1 failure, 1 success" in out
    log = subprocess.run(
        ["git", "log", "--format=%s"], cwd=tmp_path / "store", capture_output=True, check=True
    )
    assert log.stdout.decode().splitlines()[:2] == [
        "event: one in thread:fix-17",
        "event: 3 in thread:fix-17",
    ]


def test_the_commands_run_line_by_line(tmp_path: Path) -> None:
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    command = bin_ / "pcpfs"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pcpfs "$@"\n')
    command.chmod(0o755)
    (tmp_path / "work").mkdir()
    done = subprocess.run(
        ["sh", "-euc", block("sh")],
        cwd=tmp_path / "work",
        env={
            "PATH": f"{bin_}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Read the year from the file name." in done.stdout
    assert "cause: 2 entries: 1 failure, 1 success" in done.stdout
