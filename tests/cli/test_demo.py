"""The demo runs the main job with real commands, and fails when a step does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pcpfs.cli.main import main
from pcpfs.cli.tour import StepFailed, Tour
from tests.cli.running import Terminal


def test_the_demo_tells_the_whole_story(terminal: Terminal, tmp_path: Path) -> None:
    outcome = terminal.run("demo")
    assert outcome.code == 0, outcome
    for part in (
        "$ pcpfs add",
        "$ pcpfs search",
        "$ pcpfs symbol",
        "--cites fr_",
        "+        return next(turn for turn in self.extremes(after, hours=30)",
        "$ pcpfs sync",
        "suspect: cites Almanac.next_high_water",
        "--as-of ",
        "$ git log",
    ):
        assert part in outcome.text
    assert list(terminal.folder.iterdir()) == []


def test_the_demo_leaves_a_store_of_the_user_alone(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.run("init", "mine")
    monkeypatch.setenv("PCPFS_STORE", str(terminal.folder / "mine"))
    assert terminal.run("demo").code == 0
    assert terminal.run("scope", "list", "--json").json == {"scopes": []}


def test_the_demo_as_json_records_each_step(terminal: Terminal) -> None:
    steps = terminal.run("demo", "--json").json["steps"]
    assert steps[0]["command"] == "pcpfs init"
    assert all(step["output"] for step in steps)


@pytest.mark.parametrize("broken", ["init", "write", "sync", "stale"])
def test_the_demo_fails_where_a_step_fails(tmp_path: Path, broken: str) -> None:
    def run(words: Sequence[str]) -> int:
        return 3 if broken in words else main(words)

    with pytest.raises(StepFailed):
        Tour(tmp_path, run, quiet=True).tell()


def test_the_demo_fails_where_an_edit_is_not_noticed(tmp_path: Path) -> None:
    def run(words: Sequence[str]) -> int:
        return 0 if "sync" in words else main(words)

    with pytest.raises(StepFailed, match="suspect"):
        Tour(tmp_path, run, quiet=True).tell()
