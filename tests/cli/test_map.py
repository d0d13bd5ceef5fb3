"""`pcpfs map`, as people type it."""

from __future__ import annotations

from tests.cli.running import Terminal


def test_a_map_for_people_and_for_programs(terminal: Terminal) -> None:
    terminal.write("src/harbour.py", "def find_harbour():\n    return 1\n")
    terminal.write("src/ferry.py", "import harbour\n\n\ndef go():\n    harbour.find_harbour()\n")
    assert terminal.run("init", "store").code == 0
    terminal.go_to("store")
    assert terminal.run("add", "../src", "--scope", "project:a").code == 0
    shown = terminal.run("map", "--budget-tokens", "100")
    assert shown.text == ("harbour.py\n    1 def find_harbour()\nferry.py\n    4 def go()\n")
    told = terminal.run("map", "src", "--budget-tokens", "12", "--focus", "go", "--json").json
    assert told["text"] == "ferry.py\n    4 def go()\nharbour.py\n"
    assert told["token_count"] == 9
    assert told["files"][0]["symbols"][0]["qualified_name"] == "go"
    assert told["left_out"] == {"files": 0, "symbols": 1}
    assert terminal.run("map", "nowhere").code == 3
    assert terminal.run("map", "src", "--focus", "zeppelin").code == 3
    assert terminal.run("map", "src", "--budget-tokens", "0").code == 2
