"""`pull`, `push`, `conflicts` and `resolve` on the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.running import Terminal

TEXT = b"# Chart datum\n\nDepths are counted from the lowest tide.\n"


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


@pytest.fixture
def shores(terminal: Terminal, tmp_path: Path) -> Terminal:
    """A terminal beside two clones, `a` and `b`, of one store with one page."""
    assert terminal.run("init", "a").code == 0
    arguments = ("write", "--scope", "project:tides", "--path", "x.md", "-")
    assert terminal.run("-C", "a", *arguments, stdin=TEXT).code == 0
    git("clone", "--quiet", "--bare", "a", "hub.git")
    git("clone", "--quiet", "hub.git", "b")
    git("-C", "a", "remote", "add", "origin", str(terminal.folder / "hub.git"))
    return terminal


def revise(shores: Terminal, clone: str, text: bytes) -> None:
    head = shores.run("-C", clone, "show", "x.md", "--json").json["revision_id"]
    done = shores.run("-C", clone, "revise", "x.md", "--expect", head, "-", stdin=text)
    assert done.code == 0, done


def test_two_clones_disagree_and_one_text_settles_it(shores: Terminal) -> None:
    revise(shores, "a", TEXT + b"Said in a.\n")
    revise(shores, "b", TEXT + b"Said in b.\n")
    assert shores.run("-C", "a", "push", "--json").json["moved"] is True
    behind = shores.run("-C", "b", "push", "--json")
    assert (behind.code, behind.json["error"]["code"]) == (4, "conflict")
    assert "pcpfs pull" in behind.json["error"]["message"]
    pulled = shores.run("-C", "b", "pull", "--json").json
    assert (pulled["outcome"], pulled["remote"], pulled["branch"]) == ("merged", "origin", "main")
    (conflict,) = shores.run("-C", "b", "conflicts", "--json").json["conflicts"]
    assert conflict == pulled["conflicts"][0]
    assert (conflict["kind"], len(conflict["heads"])) == ("heads", 2)
    assert conflict["path"] == "scopes/project/tides/tree/x.md"
    assert shores.run("-C", "b", "conflicts").code == 0
    assert "has the heads" in shores.run("-C", "b", "status").text
    both = TEXT + b"Said in a and b.\n"
    solved = shores.run("-C", "b", "resolve", conflict["page_id"], "-", "--json", stdin=both)
    assert solved.code == 0
    assert shores.run("-C", "b", "conflicts", "--json").json == {"conflicts": []}
    assert shores.run("-C", "b", "push").code == 0
    assert "went on to" in shores.run("-C", "a", "pull").text
    assert (shores.folder / "a/scopes/project/tides/tree/x.md").read_bytes() == both
    assert "nothing new" in shores.run("-C", "a", "pull").text
    assert "already" in shores.run("-C", "a", "push").text


def test_what_cannot_be_pulled_says_why(shores: Terminal) -> None:
    unknown = shores.run("-C", "a", "pull", "upstream", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (3, "not_found")
    nowhere = shores.run("-C", "a", "pull", "./nowhere", "--json")
    assert (nowhere.code, nowhere.json["error"]["code"]) == (7, "unavailable")
    in_no_conflict = shores.run("-C", "a", "resolve", "x.md", "-", stdin=b"other\n")
    assert in_no_conflict.code == 2
    assert len(in_no_conflict.message.splitlines()) == 1


def test_a_pull_says_what_it_erased(shores: Terminal) -> None:
    shores.run("-C", "a", "write", "--scope", "project:tides", "--path", "gone.md", "-", stdin=b"x")
    shores.run("-C", "a", "push")
    shores.run("-C", "b", "pull")
    shores.run("-C", "a", "delete", "gone.md", "--why", "wrong", "--yes")
    shores.run("-C", "a", "push")
    told = shores.run("-C", "b", "pull").text.splitlines()
    assert told[0].endswith("no new changes, 1 page erased")
    assert told[1].startswith("erased: gone.md in project:tides  pg_")
