"""`pcpfs import` and `pcpfs export`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Terminal


def test_import_and_export_on_the_command_line(terminal: Terminal, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    for number in range(5):
        (vault / f"{number}.md").write_text(f"# Note {number}\n[[{number - 1}]]\n")
    assert terminal.run("init").code == 0
    assert "5 created" in terminal.run("import", "--scope", "notes:v", str(vault)).text
    assert terminal.run("import", str(vault)).code == 2
    (tmp_path / "c.jsonl").write_text('{"role": "user", "content": "Hello."}\n')
    assert terminal.run("import", str(tmp_path / "c.jsonl"), "--json").json["events"] == 1
    made = terminal.run("export", str(tmp_path / "all.tar.gz"), "--json").json
    assert (made["pages"], made["events"]) == (5, 1)
    assert terminal.run("-C", str(tmp_path / "two"), "init").code == 0
    taken = terminal.run("-C", str(tmp_path / "two"), "import", str(tmp_path / "all.tar.gz"))
    assert "5 pages and 1 event" in taken.text
    again = terminal.run("-C", str(tmp_path / "two"), "import", str(tmp_path / "all.tar.gz"))
    assert "nothing to do" in again.text
    assert terminal.run("import", str(tmp_path / "no")).code == 3
    assert terminal.run("import", "--format", "odd", str(vault)).code == 2
    assert terminal.run("export", str(tmp_path / "all.tar.gz")).code == 4
