"""`extract`: the symbols of files, without a store."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from tests.cli.running import Terminal

SOURCE = "# é\nclass Tide:\n    @property\n    def height(self) -> float:\n        return 1.0\n"


def test_digest_is_of_exactly_the_bytes_and_lines_are_counted_from_one(terminal: Terminal) -> None:
    source = terminal.write("tide.py", SOURCE).read_bytes()
    (file,) = terminal.run("extract", "tide.py", "--json").json["files"]
    assert (file["path"], file["language"], file["error_count"]) == ("tide.py", "python", 0)
    assert "skipped" not in file
    names = [frame["qualified_name"] for frame in file["frames"]]
    assert names == ["Tide", "Tide.height"]
    for frame in file["frames"]:
        start, end = frame["bytes"]
        assert frame["digest"] == "sha256:" + hashlib.sha256(source[start:end]).hexdigest()
    assert file["frames"][1]["lines"] == [3, 5]
    assert source[slice(*file["frames"][1]["bytes"])].startswith(b"@property")


def test_broken_code_yields_what_parses_and_says_so(terminal: Terminal) -> None:
    terminal.write("broken.py", "def good():\n    pass\n\ndef bad(:\n\ndef other():\n    pass\n")
    outcome = terminal.run("extract", "broken.py", "--json")
    assert outcome.code == 0
    (file,) = outcome.json["files"]
    assert file["error_count"] >= 1
    assert {"good", "other"} <= {frame["name"] for frame in file["frames"]}
    assert "did not parse" in terminal.run("extract", "broken.py").text


def test_a_file_that_is_not_there_is_named_and_the_others_are_printed(terminal: Terminal) -> None:
    terminal.write("tide.py", SOURCE)
    outcome = terminal.run("extract", "gone.py", "tide.py", "--json")
    assert outcome.code == 3
    assert outcome.json["error"]["code"] == "not_found"
    assert "gone.py" in outcome.json["error"]["message"]
    gone, tide = outcome.json["files"]
    assert (gone["path"], gone["frames"]) == ("gone.py", [])
    assert "no such file" in gone["skipped"]
    assert len(tide["frames"]) == 2


def test_people_are_told_which_file_is_not_there(terminal: Terminal) -> None:
    terminal.write("tide.py", SOURCE)
    outcome = terminal.run("extract", "gone.py", "tide.py")
    assert outcome.code == 3
    assert "gone.py" in outcome.text
    assert "Tide.height" in outcome.text


def test_a_folder_is_wrong_usage(terminal: Terminal) -> None:
    assert terminal.run("extract", ".").code == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_does_not_hang_the_command(terminal: Terminal) -> None:
    os.mkfifo(terminal.folder / "pipe.py")
    assert terminal.run("extract", "pipe.py").code == 2


@pytest.mark.parametrize(
    "content",
    [b"", b"\xef\xbb\xbfdef f(): pass\n", b"\0" * 100, b"\xff\xfea\0b\0", b"def caf\xe9(): pass\r"],
    ids=["empty", "bom", "nul", "utf-16", "latin-1"],
)
def test_odd_bytes_are_taken_or_named_but_never_crash(terminal: Terminal, content: bytes) -> None:
    terminal.write("odd.py", content)
    outcome = terminal.run("extract", "odd.py", "--json")
    assert outcome.code == 0
    assert outcome.json["files"][0]["path"] == "odd.py"


def test_names_of_files_and_symbols_cannot_drive_the_terminal(terminal: Terminal) -> None:
    name = b"a\x1b[31m\xff.md"
    Path(os.fsdecode(os.fsencode(terminal.folder) + b"/" + name)).write_bytes(
        b"# T\x1b]0;own\x07\n"
    )
    outcome = terminal.process("extract", name)
    assert outcome.code == 0
    assert not set(outcome.out) & {0x1B, 0x07}
    assert b"a\\x1b[31m\\xff.md" in outcome.out
    assert terminal.process("extract", "--json", name).json["files"][0]["frames"]


def test_two_dashes_end_the_options(terminal: Terminal) -> None:
    terminal.write("--json", SOURCE)
    outcome = terminal.run("extract", "--", "--json")
    assert outcome.code == 0
    assert outcome.out.startswith(b"--json")


def test_imports_lead_to_files_of_the_same_root(terminal: Terminal) -> None:
    terminal.write("proj/.git/HEAD", "ref: refs/heads/main\n")
    terminal.write("proj/pkg/__init__.py", "")
    terminal.write("proj/pkg/a.py", "import os\nfrom . import b\nfrom pkg.b import f\n")
    terminal.write("proj/pkg/b.py", "def f(): pass\n")
    (file,) = terminal.run("extract", "--imports", "proj/pkg/a.py", "--json").json["files"]
    assert file["imports"] == [
        {"target": "os", "line": 1, "paths": []},
        {"target": ".b", "line": 2, "paths": ["pkg/b.py"]},
        {"target": "pkg.b.f", "line": 3, "paths": ["pkg/b.py"]},
    ]
    told = terminal.run("extract", "--imports", "proj/pkg/a.py").text
    assert "imports .b  pkg/b.py" in told
    assert "imports os  elsewhere" in told
    assert "imports" not in terminal.run("extract", "proj/pkg/a.py", "--json").json["files"][0]
    terminal.write("alone.md", "# A\n")
    (file,) = terminal.run("extract", "--imports", "alone.md", "--json").json["files"]
    assert file["imports"] == []
