"""Repair, undo, the feed of changes, upkeep and nested stores, as people use them."""

from __future__ import annotations

import json
import signal
import subprocess
from typing import Any

import pytest

from tests.cli.running import COMMAND, Outcome, Terminal


@pytest.fixture
def shore(terminal: Terminal) -> Terminal:
    """A terminal in a store with one page, revised once."""
    assert terminal.run("init").code == 0
    page = write(terminal, "one\n")
    revised = terminal.run(
        "revise", page["page_id"], "--expect", page["revision_id"], "--json", "-", stdin=b"two\n"
    )
    assert revised.code == 0, revised
    return terminal


def write(terminal: Terminal, text: str, path: str = "x.md") -> dict[str, str]:
    given = ("write", "--scope", "project:tides", "--path", path, "--json", "-")
    return dict(terminal.run(*given, stdin=text.encode()).json)


def lines(outcome: Outcome) -> list[Any]:
    assert outcome.code == 0, outcome
    return [json.loads(line) for line in outcome.out.splitlines()]


def shown(terminal: Terminal) -> str:
    return terminal.run("show", "x.md", "--projection", "payload").text


def test_undo_takes_the_last_operation_back_and_again_redoes_it(shore: Terminal) -> None:
    told = shore.run("undo")
    assert (told.code, shown(shore)) == (0, "one\n")
    assert "undid revise of" in told.text
    again = shore.run("undo", "--json")
    assert shown(shore) == "two\n"
    assert set(again.json) >= {"undone", "commit"}
    assert again.json["undone"][0]["operation"] == "undo"


def test_undo_refuses_what_it_cannot_do_with_a_line_and_a_code(shore: Terminal) -> None:
    entries = lines(shore.run("changes", "--json"))
    first = next(entry for entry in entries if "page_id" in entry)
    refused = shore.run("undo", first["change_id"])
    assert (refused.code, refused.out) == (4, b"")
    assert "revised since" in refused.message
    assert shore.run("undo", "chg_" + "0" * 32).code == 3
    assert shore.run("undo", "--", "-x").code == 2
    assert shore.run("--as", "user:ben", "undo").code == 3


def test_changes_are_one_document_a_line_and_resumable(shore: Terminal) -> None:
    entries = lines(shore.run("changes", "--json"))
    assert [entry["operation"] for entry in entries] == ["write", "write", "revise"]
    promised = "cursor change_id at actor operation scope page_id revision_id path"
    assert set(entries[2]) >= set(promised.split())
    first = lines(shore.run("changes", "--limit", "2", "--json"))
    assert [entry["change_id"] for entry in first] == [e["change_id"] for e in entries[:2]]
    rest = lines(shore.run("changes", "--since", first[-1]["cursor"], "--json"))
    assert [entry["change_id"] for entry in rest] == [entries[2]["change_id"]]
    assert lines(shore.run("changes", "--since", rest[-1]["cursor"], "--json")) == []
    assert lines(shore.run("changes", "--since", "now", "--json")) == []
    assert shore.run("changes", "--since", "nonsense").code == 2
    assert shore.run("changes", "--since", "0" * 40).code == 3
    assert "revise" in shore.run("changes").text


def test_the_last_changes_name_what_undo_can_take_back(shore: Terminal) -> None:
    forgotten = write(shore, "a mistake\n", "mistake.md")
    for number in range(3):
        write(shore, f"{number}\n", f"{number}.md")
    latest = lines(shore.run("changes", "--last", "4", "--json"))
    assert [entry["path"] for entry in latest] == ["2.md", "1.md", "0.md", "mistake.md"]
    shown = shore.run("changes", "--last", "4").text
    assert "cursor" not in shown
    assert latest[-1]["change_id"] in shown
    undone = shore.run("undo", latest[-1]["change_id"], "--json").json["undone"]
    assert [item["page_id"] for item in undone] == [forgotten["page_id"]]
    assert shore.run("changes", "--last", "2", "--follow").code == 2


def test_changes_are_followed_until_the_command_is_stopped(shore: Terminal) -> None:
    command = [*COMMAND, "changes", "--since", "now", "--follow", "--json"]
    with subprocess.Popen(command, cwd=shore.folder, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pages = [write(shore, f"{number}\n", f"{number}.md")["page_id"] for number in range(40)]
        told = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait() == 0
    assert told["page_id"] in pages


def test_fsck_names_and_repair_mends(shore: Terminal) -> None:
    file = next((shore.folder / "scopes").rglob("rev_*.json"))
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    found = shore.run("fsck", "--json")
    assert (found.code, found.json["ok"]) == (1, False)
    codes = [problem["code"] for problem in found.json["problems"]]
    assert codes[0] == "corrupt"
    assert codes == sorted(codes, key=("corrupt", "altered", "index", "catalog").index)
    said = shore.run("fsck").text
    assert said.count(file.name) == codes.count("corrupt") + codes.count("altered")
    assert "fsck --repair" in said
    mended = shore.run("fsck", "--repair", "--json")
    assert (mended.code, mended.json["ok"], mended.json["problems"]) == (0, True, [])
    assert file.relative_to(shore.folder).as_posix() in {p["path"] for p in mended.json["repaired"]}
    assert file.read_bytes() == whole
    assert "all well" in shore.run("fsck", "--repair").text


@pytest.mark.parametrize("damage", [b"", b"format = 0\n", b"\xff", b"format = 99\n"])
def test_a_store_whose_settings_are_damaged_is_named_and_mended(
    shore: Terminal, damage: bytes
) -> None:
    file = shore.folder / "pcpfs.toml"
    whole = file.read_bytes()
    file.write_bytes(damage)
    found = shore.run("fsck", "--json")
    assert found.code == 1
    assert found.json["problems"][0]["path"].endswith("pcpfs.toml")
    mended = shore.run("fsck", "--repair", "--json")
    assert (mended.code, mended.json["repaired"][0]["path"]) == (0, "pcpfs.toml")
    assert file.read_bytes() == whole


def test_maintain_tells_what_it_did(shore: Terminal) -> None:
    told = shore.run("maintain", "--json").json
    assert told["before"]["loose"] > 0
    assert told["after"]["loose"] == 0
    assert "now 0 and 1" in shore.run("maintain").text


def test_reindex_extract_tells_what_it_did(shore: Terminal) -> None:
    shore.write("../code/a.py", "def f(): pass\n")
    assert shore.run("add", "../code", "--scope", "project:tides").code == 0
    next((shore.folder / "scopes").rglob("*.python-*.json")).unlink()
    told = shore.run("reindex", "--extract", "--json")
    assert told.code == 0, told
    assert (told.json["pages"], told.json["extracted"]["restored"]) == (2, 1)
    assert shore.run("fsck").code == 0


def test_a_nested_store_serves_its_project(terminal: Terminal) -> None:
    subprocess.run(["git", "init", "-q"], cwd=terminal.folder, check=True)
    terminal.write("src/a.py", "def apple(): pass\n")
    assert terminal.run("init", ".context").code == 4
    assert terminal.run("init", "--nested", ".context").code == 0
    added = terminal.run("add", ".", "--scope", "project:apples", "--json")
    assert (added.code, added.json["roots"][0]["files"]) == (0, 1)
    terminal.go_to("src")
    assert "apple" in terminal.run("symbol", "apple").text
    status = ["git", "status", "--porcelain", "-uall"]
    said = subprocess.run(status, cwd=terminal.folder, check=True, capture_output=True, text=True)
    assert said.stdout == "?? src/a.py\n"
