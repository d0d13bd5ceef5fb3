"""Every command and example of docs/view.md works as it stands."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

from tests.cli.running import Terminal

CHECKOUT = Path(__file__).parents[2]
DOCUMENT = (CHECKOUT / "docs/view.md").read_text(encoding="utf-8")


def blocks(language: str) -> str:
    return "".join(re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL))


def test_what_it_says_to_type_works(terminal: Terminal) -> None:
    shutil.copytree(CHECKOUT / "sample_repo", terminal.folder / "tidebook")
    terminal.run("init", "store")
    terminal.go_to("store")
    assert terminal.run("add", "../tidebook", "--scope", "project:tides").code == 0
    note = b"High water is searched over 25 hours.\n"
    written = terminal.run(
        "write", "--scope", "project:tides", "--title", "High water", "-", stdin=note
    )
    assert written.code == 0
    lines = [shlex.split(line, comments=True) for line in blocks("sh").splitlines()]
    assert len(lines) == 7
    told = {tuple(words): terminal.run(*words[1:]) for words in lines}
    assert [words for words, outcome in told.items() if outcome.code] == []
    printed = "".join(outcome.text for outcome in told.values())
    assert "def height" in printed
    assert "high-water.md" in printed
    assert note.decode() in printed
    assert Path("../tidebook-then/README.md").exists()
    exec(compile(blocks("python"), "docs/view.md", "exec"), {})


def test_it_names_every_branch() -> None:
    from pcpfs.view.view import BRANCHES  # noqa: PLC0415 (only this test needs it)

    for name in (*BRANCHES, "as-of"):
        assert f"| `/{name}/" in DOCUMENT
