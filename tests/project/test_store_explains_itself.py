"""What a store says of itself, followed to the letter: by a shell, then with the command."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.project.newcomer import Newcomer, blocks
from tests.project.ready import ready

PAGES = {
    "Notes": "High water is searched over one day, whatever the moon.",
    "Draft": "First the almanac, then the gauges; nothing else this year.",
    "Old": "The harbour master has a book.",
    "Others": "Written by somebody who is not done.",
}
TREE = Path("scopes/project/demo/tree")


@pytest.fixture
def agent(tmp_path: Path) -> Newcomer:
    """In a store with four pages; `pcpfs` is at hand only inside `ready`."""
    newcomer = Newcomer.arrives(tmp_path)
    with ready(tmp_path / "bin" / "pcpfs"):
        newcomer.types("pcpfs init ../store")
        agent = replace(newcomer, project=tmp_path / "my projects" / "store")
        for title, text in PAGES.items():
            agent.types(f"echo '{text}' | pcpfs write --scope project:demo --title {title} -")
    agent.environment["PATH"] = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    return agent


def followed(agent: Newcomer, name: str) -> list[str]:
    return blocks((agent.project / name).read_text(encoding="utf-8"), "sh")


def test_an_agent_with_a_shell_alone_reads_and_writes(agent: Newcomer, tmp_path: Path) -> None:
    read, write, commit, _ = followed(agent, "AGENTS.md")
    assert agent.run("sh", "-c", "command -v pcpfs").returncode != 0
    told = agent.types(read)
    assert f"{TREE}/draft.md" in told
    assert f"{TREE}/notes.md:1:{PAGES['Notes']}" in told
    assert f"+{PAGES['Notes']}" in told
    (agent.project / TREE / "others.md").write_text("half a sen", encoding="utf-8")
    agent.types(write + commit)
    assert agent.types("git status --short") == f" M {TREE}/others.md\n", "it was not the agent's"
    with ready(tmp_path / "bin" / "pcpfs"):
        took = agent.types("pcpfs sync; pcpfs fsck; pcpfs conflicts; pcpfs tree")
        notes = agent.types("pcpfs log notes.md; pcpfs log plan.md; cat scopes/*/*/tree/notes.md")
    for line in (
        f"revised {TREE}/notes.md",
        f"created {TREE}/datum.md",
        f"renamed {TREE}/plan.md (was {TREE}/draft.md)",
        f"tombstoned {TREE}/old.md",
        "all well",
        "no conflicts",
    ):
        assert line in took
    assert notes.count("edit") == 1, "the commit is one revision of one page"
    assert "searched over 25 hours, whatever" in notes


def test_an_agent_with_the_command_goes_on(agent: Newcomer, tmp_path: Path) -> None:
    with ready(tmp_path / "bin" / "pcpfs"):
        told = agent.types(followed(agent, "AGENTS.md")[-1])
        assert "Notes (project:demo)" in told
        assert f"wrote {TREE}/springs.md" in told
        assert "model:local" in agent.types("pcpfs log notes.md")
    assert (agent.project / TREE / "notes.md").read_text() == (
        "High water is searched over 25 hours.\n"
    )


def test_a_person_finds_a_word_and_checks_the_bytes(agent: Newcomer) -> None:
    (script,) = followed(agent, "README.md")
    assert PAGES["Notes"] in agent.types(script)
    assert "altered" not in agent.types(script)
    payload = next((agent.project / "scopes").rglob("payloads/*/*/*"))
    revision = next((agent.project / "scopes").rglob("rev_*.json"))
    for file in (payload, revision):
        file.chmod(0o644)
        file.write_bytes(file.read_bytes() + b" ")
        assert f"altered: {file.relative_to(agent.project)}" in agent.types(script)
