"""The worked example of docs/ledger.md runs as it stands."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.project.newcomer import CHECKOUT, Newcomer, blocks
from tests.project.test_guides import followed

TEXT = (CHECKOUT / "docs/ledger.md").read_text(encoding="utf-8")


def test_the_agent_loop_ingests_briefs_restarts_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names: dict[str, object] = {}
    (program,) = blocks(TEXT, "python")
    exec(compile(program, "docs/ledger.md", "exec"), names)
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
    empty = tmp_path / "work"
    empty.mkdir()
    newcomer = replace(Newcomer.arrives(tmp_path), project=empty)
    (printed,), _ = followed(CHECKOUT / "docs/ledger.md", newcomer)
    assert "Read the year from the file name." in printed
    assert "cause: 2 entries: 1 failure, 1 success" in printed
