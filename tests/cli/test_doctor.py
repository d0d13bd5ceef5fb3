"""`pcpfs doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pcpfs.cli import doctoring
from pcpfs.cli.doctoring import EXTRAS
from tests.cli.running import Terminal


def findings(terminal: Terminal, *arguments: str) -> tuple[int, dict[str, dict[str, str]]]:
    outcome = terminal.run("doctor", *arguments, "--json")
    found = outcome.json["findings"]
    assert outcome.json["ok"] is (outcome.code == 0)
    assert outcome.json["ok"] is all(one["level"] != "problem" for one in found)
    assert all("advice" in one for one in found if one["level"] != "ok")
    return outcome.code, {one["code"]: one for one in found}


def test_a_store_in_order_and_what_it_rests_on(terminal: Terminal) -> None:
    terminal.run("init")
    code, found = findings(terminal)
    assert code == 0
    looked_at = {"python", "git", "sqlite", "extra", "space", "rights", "files", "clock", "merge"}
    assert looked_at | {"store"} <= found.keys()
    people = terminal.run("doctor").text
    assert people.splitlines()[-1] == "no problems"
    assert all(f"extra {name} " in people for name in EXTRAS)


def test_problems_are_named_with_what_to_do(terminal: Terminal) -> None:
    terminal.run("init")
    terminal.run("write", "--scope", "notes:n", "-", stdin=b"text\n")
    payload = next((terminal.folder / "scopes").rglob("payloads/*/*/*"))
    payload.chmod(0o644)
    payload.write_bytes(b"other\n")
    code, found = findings(terminal)
    assert code == 1
    wrong = [one for one in found.values() if one["level"] == "problem"]
    assert any(payload.name in one["message"] for one in wrong)
    assert {one["advice"] for one in wrong} == {"pcpfs fsck --repair"}
    assert findings(terminal, "--quick")[0] == 0
    (terminal.folder / "pcpfs.toml").write_text("format = what\n")
    code, found = findings(terminal)
    assert (code, found["store"]["level"]) == (1, "problem")


def test_without_a_store_only_the_machine_is_looked_at(terminal: Terminal) -> None:
    code, found = findings(terminal)
    assert (code, found["store"]["level"]) == (0, "note")
    assert terminal.run("-C", "no/where", "doctor").code == 3


def test_each_trouble_of_the_machine_is_told(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal.run("init")
    limit = tmp_path / "limit"
    limit.write_text("8192\n")
    monkeypatch.setattr(doctoring, "_WATCHES", limit)
    monkeypatch.setattr(doctoring, "_NONE", 1 << 60)
    monkeypatch.setattr(doctoring, "_LITTLE", 1 << 61)
    monkeypatch.setattr(doctoring, "_SKEW", -1.0)
    terminal.folder.chmod(0o777)
    config = terminal.folder / ".git" / "config"
    code, found = findings(terminal, "--quick")
    assert code == 1
    assert "max_user_watches" in found["watches"]["advice"]
    assert found["space"]["level"] == "problem"
    assert found["clock"]["level"] == "note"
    assert found["rights"]["advice"].startswith("grants do not bind")
    assert "pcpfs" in config.read_text()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert findings(terminal)[1]["git"]["level"] == "problem"
