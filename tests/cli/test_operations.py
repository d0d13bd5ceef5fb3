"""The operations of docs/operations.md on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pcpfs.store import recommending
from pcpfs.store.exchanges import exchange, importing
from pcpfs.store.searches import source_map
from pcpfs.store.session import Session
from tests.cli.running import Terminal

DOCUMENT = (Path(__file__).parents[2] / "docs/operations.md").read_text(encoding="utf-8")


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A store with two related pages."""
    assert terminal.run("init").code == 0
    for name, more in (("alpha", ()), ("beta", ("--link", "depends_on", "alpha.md"))):
        put = ("write", "--scope", "project:a", "--path", f"{name}.md", "--authority", name)
        assert terminal.run(*put, *more, "-", stdin=f"# {name}\ntide\n".encode()).code == 0
    return terminal


def test_the_document_names_methods_and_commands_that_exist(shore: Terminal) -> None:
    table = DOCUMENT[DOCUMENT.index("| PCP operation") : DOCUMENT.index("## Writing")]
    methods = set(re.findall(r"`(\w+)\(", table))
    assert methods
    places = (Session, exchange, importing, recommending, source_map)
    assert [n for n in sorted(methods) if not any(hasattr(p, n) for p in places)] == []
    help_text = shore.run("--help").text
    for row in table.splitlines()[2:]:
        if row.startswith("|"):
            for command in re.findall(r"`([a-z]+)[^`]*`", row.split("|")[-2]):
                assert re.search(rf"^  {command}\b", help_text, re.MULTILINE), command


def test_a_search_in_each_mode(shore: Terminal) -> None:
    for arguments, titles in (
        (["--mode", "exact", "alpha"], ["alpha"]),
        (["--mode", "graph", "alpha.md"], ["beta"]),
        (["--mode", "temporal"], ["beta", "alpha"]),
        (["tide", "--authority", "beta"], ["beta"]),
        (["tide", "--relation", "cites"], []),
    ):
        answer = shore.run("search", *arguments, "--json").json
        found = [hit["title"] for hit in answer["results"]]
        assert sorted(found) == sorted(titles), arguments
    assert shore.run("search").code == 2
    assert shore.run("search", "--mode", "semantic", "tide").code == 2


def test_suppress_is_for_a_task(shore: Terminal) -> None:
    made = shore.run("suppress", "alpha.md", "--task", "t", "--why", "seen", "--json").json
    assert [one["why"] for one in made["suppressed"]] == ["seen"]
    found = shore.run("search", "tide", "--task", "t", "--json").json["results"]
    assert [hit["title"] for hit in found] == ["beta"]
    assert "1 suppressed page" in shore.run("suppress", "--task", "t").text
    assert shore.run("suppress", "--lift", "alpha.md", "--task", "t", "--json").json["lifted"] == 1


def test_close_takes_an_instant_with_a_zone(shore: Terminal) -> None:
    late = ("close", "alpha.md", "--why", "over", "--at")
    assert shore.run(*late, "2090-01-01T12:00:00").code == 2
    assert shore.run(*late, "2090-01-01T13:00:00+01:00").code == 0
    shown = shore.run("show", "alpha.md", "--json").json
    assert shown["valid_to"] == "2090-01-01T12:00:00Z"


def test_lists_are_read_in_parts(shore: Terminal) -> None:
    head = shore.run("show", "alpha.md", "--json").json["revision_id"]
    assert shore.run("revise", "alpha.md", "--expect", head, "-", stdin=b"more").code == 0
    first = shore.run("log", "alpha.md", "--limit", "1", "--json").json
    rest = shore.run("log", "alpha.md", "--cursor", first["cursor"], "--json").json
    assert [r["operation"] for r in (*first["revisions"], *rest["revisions"])] == [
        "revise",
        "write",
    ]
    assert "cursor" not in rest
    assert "--cursor" in shore.run("log", "alpha.md", "--limit", "1").text
    related = shore.run("related", "alpha.md", "--direction", "in", "--json").json["related"]
    assert [(near["title"], near["depth"]) for near in related] == [("beta", 1)]


def test_a_part_of_a_payload(shore: Terminal) -> None:
    show = ("show", "alpha.md", "--projection", "payload", "--bytes")
    assert shore.run(*show, "2-7").out == b"alpha"
    assert shore.run(*show, "8-999").out == b"tide\n"
    for wrong in ("7-2", "x", "-1-2", "1"):
        assert shore.run(*show, wrong).code == 2


def test_a_bundle(shore: Terminal) -> None:
    made = shore.run("bundle", "alpha.md", "beta.md", "--budget", "14", "--json").json
    assert [part["text"] for part in made["fragments"]] == ["# alpha\ntide\n"]
    assert [left["reason"] for left in made["left_out"]] == ["budget"]
    assert "left out: beta.md" in shore.run("bundle", "alpha.md", "beta.md", "--budget", "14").text


def test_a_payload_elsewhere(shore: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "scan.pdf"
    file.write_bytes(b"%PDF")
    put = ("write", "--scope", "project:a", "--title", "Scan", "--ref")
    made = shore.run(*put, file.as_uri(), "--json").json
    shown = shore.run("show", made["page_id"], "--json").json
    assert shown["content_ref"]["media_type"] == "application/pdf"
    assert shore.run("show", made["page_id"], "--projection", "payload").out == b"%PDF"
    file.write_bytes(b"%PDg")
    assert shore.run("show", made["page_id"], "--projection", "payload").code == 4
    assert shore.run(*put, "https://example.org/x").code == 2
    assert shore.run(*put, file.as_uri(), "x.md").code == 2
    assert shore.run("write", "--scope", "project:a", "--size", "3").code == 2
    assert shore.run("write", "--scope", "project:a").code == 2


def test_an_event_answers_the_five_questions_too(shore: Terminal) -> None:
    """PCP-S6"""
    given = ("--authority", "tool", "--instruction-policy", "never")
    words = ("event", "--scope", "conversation:c", *given, "--json", "-")
    page = shore.run(*words, stdin=b"ferry late\n").json["page_id"]
    found = shore.run("search", "ferry", "--authority", "tool", "--json").json["results"]
    assert [hit["page_id"] for hit in found] == [page]
    assert shore.run("search", "ferry", "--authority", "owner", "--json").json["results"] == []


def test_a_page_is_moved_to_another_scope_and_back(shore: Terminal) -> None:
    text = ("write", "--scope", "project:a", "--title", "Tides", "--json", "-")
    page = shore.run(*text, stdin=b"tides\n").json["page_id"]
    moved = shore.run("move", page, "--scope", "project:b", "--json").json
    assert (moved["scope"], moved["path"]) == ("project:b", "scopes/project/b/tree/tides.md")
    assert (
        b"moved to scopes/project/a"
        in shore.run("move", moved["page_id"], "--scope", "project:a").out
    )
    assert shore.run("move", page, "--scope", "project:b").code == 4
    assert shore.run("undo").code == 0


def test_status_goes_on_in_one_of_its_lists(shore: Terminal) -> None:
    for name in "abc":
        shore.run("write", "--scope", name, "-", stdin=b"x\n")
    every = [scope["scope"] for scope in shore.run("scope", "list", "--json").json["scopes"]]
    told = shore.run("status", "--limit", "2", "--json").json
    assert (len(told["scopes"]), told["more"]["scopes"]["total"]) == (2, len(every))
    cursor = told["more"]["scopes"]["cursor"]
    rest = shore.run("status", "--only", "scopes", "--cursor", cursor, "--json").json
    assert [scope["scope"] for scope in (*told["scopes"], *rest["scopes"])] == every
    assert b"scopes: 4 in all" in shore.run("status", "--limit", "2").out
    assert shore.run("status", "--cursor", cursor).code == 2
    assert shore.run("status", "--only", "nothing").code == 2
    part = shore.run("scope", "list", "--limit", "1", "--json").json
    assert shore.run("scope", "list", "--cursor", part["cursor"], "--json").json["scopes"]
    for name in ("conflicts", "stale"):
        assert "cursor" not in shore.run(name, "--limit", "1", "--json").json
