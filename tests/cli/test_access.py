"""Grants and secrets on the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.running import Terminal
from tests.secrets.test_writing import TOKEN

BEN = ("--as", "user:ben")


def write(shore: Terminal, scope: str, text: bytes, *more: str) -> str:
    outcome = shore.run("write", "--scope", scope, "--json", *more, "-", stdin=text)
    assert outcome.code == 0, outcome
    page: str = outcome.json["page_id"]
    return page


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A terminal that stands in a new store."""
    assert terminal.run("init").code == 0
    return terminal


@pytest.fixture
def two(shore: Terminal) -> tuple[str, str]:
    """A page that Ben may read, and one that he may not."""
    return (
        write(shore, "project:tides", b"high water\n", "--title", "Tides"),
        write(shore, "project:hidden", b"high water too\n", "--title", "Hidden"),
    )


def test_grants_are_given_shown_and_taken(shore: Terminal, two: tuple[str, str]) -> None:
    given = shore.run("scope", "grant", "project:tides", "user:ben", "read", "write", "--json").json
    assert {"principal": "user:ben", "permissions": ["list", "read", "write"]} in given["grants"]
    assert b"list read write" in shore.run("scope", "show", "project:tides").out
    assert shore.run(*BEN, "scope", "show", "project:tides").code == 5
    taken = shore.run("scope", "revoke", "project:tides", "user:ben", "--json").json
    assert "user:ben" not in json.dumps(taken["grants"])
    assert shore.run("scope", "grant", "project:tides", "model:local", "delete").code == 5
    assert shore.run("scope", "grant", "project:tides", "user:ben", "fly").code == 2
    assert shore.run("scope", "grant", "project:nowhere", "user:ben", "read").code == 3
    assert shore.run("scope", "set", "project:tides", "--visibility", "shared").code == 0
    assert shore.run(*BEN, "cat", "/scopes/project/tides/tides.md").out == b"high water\n"


def test_a_stranger_gets_the_words_for_what_is_not_there(
    shore: Terminal, two: tuple[str, str]
) -> None:
    shore.run("scope", "grant", "project:tides", "user:ben", "read")
    missing = "pg_01m8pcqpwnen5tt8t9f8p9vt1n"
    for command in (["show"], ["log"], ["diff"], ["show", "--projection", "payload"]):
        hidden = shore.run(*BEN, *command, two[1])
        nothing = shore.run(*BEN, *command, missing)
        assert (hidden.code, nothing.code) == (3, 3)
        assert hidden.err == nothing.err.replace(missing.encode(), two[1].encode())
    found = shore.run(*BEN, "search", "high water", "--json").json
    assert [hit["page_id"] for hit in found["results"]] == [two[0]]
    for words in ("ls /scopes/project", "tree", "status", "changes", "scope list"):
        outcome = shore.run(*BEN, *words.split())
        assert (outcome.code, b"idden" in outcome.out + outcome.err) == (0, False), words
    assert "generation" not in shore.run(*BEN, "status", "--json").json


@pytest.mark.parametrize(
    "words",
    [["sync"], ["reindex"], ["maintain"], ["fsck"], ["pull"], ["push"], ["watch"]],
)
def test_what_concerns_the_whole_store_is_refused(
    shore: Terminal, two: tuple[str, str], words: list[str]
) -> None:
    outcome = shore.run(*BEN, *words, "--json")
    assert (outcome.code, outcome.json["error"]["code"]) == (5, "not_permitted")


def test_a_secret_is_refused_with_its_place(shore: Terminal) -> None:
    words = ("write", "--scope", "project:tides", "-")
    refused = shore.run(*words, "--json", stdin=f"use\n {TOKEN}\n".encode())
    assert refused.code == 5
    error = refused.json["error"]
    assert error["code"] == "secret_found"
    assert error["findings"] == [
        {"kind": "github-token", "where": "payload", "line": 2, "column": 2}
    ]
    assert shore.run(*words, "--allow-secret", stdin=f"use\n {TOKEN}\n".encode()).code == 0


def test_what_was_let_in_is_listed_and_taken_back(shore: Terminal) -> None:
    write(shore, "project:tides", f"use {TOKEN}\n".encode(), "--allow-secret")
    (one,) = shore.run("secret", "list", "--json").json["accepted"]
    assert (one["kind"], one["scope"]) == ("github-token", "project:tides")
    assert one["accepted_id"][:12].encode() in shore.run("secret", "list").out
    assert shore.run("secret", "revoke", one["accepted_id"][:8]).code == 0
    assert b"no secret was accepted" in shore.run("secret", "list").out
    words = ("write", "--scope", "project:tides", "-")
    assert shore.run(*words, stdin=f"too {TOKEN}\n".encode()).code == 5
    assert shore.run("secret", "revoke", one["accepted_id"]).code == 3


def test_a_scope_is_linked_shown_and_searched(shore: Terminal, two: tuple[str, str]) -> None:
    linking = ("scope", "set", "project:tides")
    given = shore.run(*linking, "--link", "project:hidden", "--json").json
    assert given["links"] == ["project:hidden"]
    assert b"links to project:hidden" in shore.run("scope", "show", "project:tides").out
    words = ("search", "water", "--scope", "project:tides", "--policy", "linked", "--json")
    found = shore.run(*words).json
    assert (found["policy"], len(found["results"])) == ("linked", 2)
    assert shore.run(*linking, "--unlink", "project:hidden").code == 0
    assert len(shore.run(*words).json["results"]) == 1
    assert shore.run(*linking, "--unlink", "project:hidden").code == 3
    assert shore.run("search", "water", "--policy", "linked").code == 2


def test_a_source_with_a_secret_is_named_and_can_be_accepted(shore: Terminal) -> None:
    folder = shore.folder.parent / "book"
    folder.mkdir()
    (folder / "settings.py").write_text(f'KEY = "{TOKEN}"\n')
    assert shore.run("add", str(folder), "--scope", "project:tides").code == 0
    (skipped,) = shore.run("status", "--json").json["skipped"]
    assert (skipped["reason"], skipped["detail"]) == ("withheld", "github-token, line 1")
    assert shore.run("sync", "--allow-secret", "book/settings.py").code == 0
    assert shore.run("status", "--json").json["skipped"] == []


def test_a_model_recommends_what_it_may_not_do(shore: Terminal, two: tuple[str, str]) -> None:
    words = ("--as", "model:local", "delete", two[0], "--why", "it is wrong")
    assert shore.run(*words, "--yes").code == 5
    assert shore.run(*words, "--recommend").code == 0
    assert b"model:local recommends to delete Tides" in shore.run("status").out
    (one,) = shore.run("status", "--json").json["recommended"]
    assert (one["page_id"], one["why"]) == (two[0], "it is wrong")
