"""`pcpfs delete` and `scope retain` as people and scripts use them."""

from __future__ import annotations

import pytest

from tests.cli.running import Terminal

TEXT = b"# Harbour key\n\nThe combination is 4711-blue-heron.\n"


@pytest.fixture
def page(terminal: Terminal) -> str:
    assert terminal.run("init", ".").code == 0
    arguments = ("write", "--scope", "project:tides", "--path", "x.md", "--json", "-")
    return str(terminal.run(*arguments, stdin=TEXT).json["page_id"])


def test_without_yes_it_only_says_what_would_go(terminal: Terminal, page: str) -> None:
    refused = terminal.run("delete", "x.md", "--why", "leaked", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "usage")
    assert [gone["page_id"] for gone in refused.json["error"]["pages"]] == [page]
    assert terminal.run("show", "x.md").code == 0


def test_it_erases_proves_it_and_leaves_a_receipt(terminal: Terminal, page: str) -> None:
    done = terminal.run("delete", "x.md", "--why", "leaked", "--yes", "--prove", "--json")
    assert done.code == 0
    assert [gone["page_id"] for gone in done.json["pages"]] == [page]
    assert done.json["proof"]["ok"] is True
    assert (terminal.folder / done.json["pages"][0]["receipt"]).is_file()
    assert terminal.run("show", page).code == 3
    assert terminal.run("status", "--json").json["erasure_pending"] == []
    assert terminal.run("fsck").code == 0


def test_a_trace_that_is_left_is_named_and_the_exit_code_says_so(
    terminal: Terminal, page: str
) -> None:
    terminal.write("copy of mine.txt", TEXT)
    done = terminal.run("delete", page, "--why", "leaked", "--yes", "--prove")
    assert done.code == 1
    assert "copy of mine.txt: a piece of the content" in done.text
    assert "4711" not in done.text


def test_a_model_may_not(terminal: Terminal, page: str) -> None:
    refused = terminal.run("--as", "model:local", "delete", page, "--why", "leaked", "--yes")
    assert refused.code == 5
    assert terminal.run("show", page).code == 0


def test_a_hold_is_said_refuses_and_ends(terminal: Terminal, page: str) -> None:
    said = terminal.run("scope", "retain", "project:tides", "--hold-until", "2999-01-01")
    assert "nothing in project:tides is erased before 2999-01-01T00:00:00Z" in said.text
    refused = terminal.run("delete", page, "--why", "leaked", "--yes")
    assert refused.code == 5
    assert "--override-hold" in refused.message
    assert terminal.run("scope", "retain", "project:tides").code == 2
    assert terminal.run("scope", "retain", "project:tides", "--none", "--json").code == 0
    assert terminal.run("delete", page, "--why", "leaked", "--yes").code == 0
