"""The commands in docs/history.md work as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.project.newcomer import CHECKOUT, Newcomer
from tests.project.test_guides import followed


def test_the_lines_of_the_document_run_one_by_one(tmp_path: Path) -> None:
    newcomer = Newcomer.arrives(tmp_path)
    for role in ("AUTHOR", "COMMITTER"):
        newcomer.environment[f"GIT_{role}_NAME"] = "Ada"
        newcomer.environment[f"GIT_{role}_EMAIL"] = "ada@example.org"
    (printed, beside), _ = followed(CHECKOUT / "docs/history.md", newcomer)
    assert "history of main: 2 commits, 2 observations" in printed
    assert "+    return hour % 12" in printed
    assert "def height(hour):\n    return hour\n" in printed
    assert "1 commit retracted" in printed
    last = printed.rpartition("height (tides/tables.py)")[2].partition("\n")[2]
    assert re.findall(r"^  (\w+)", last, re.MULTILINE) == ["moved", "changed", "opened"]
    assert "Ada <ada@example.org>" in last
    _, life, of_branch = beside.split("height (tides/tables.py)")
    of_branch, _, difference = of_branch.partition("height: ")
    lives = [re.findall(r"^  (\w+)  ", part, re.MULTILINE) for part in (life, of_branch)]
    assert lives == [["changed", "moved", "changed", "opened"], ["changed"]]
    assert "tide.py:1, on feature/depth" in of_branch
    assert "+    return depth() + hour % 12" in difference
