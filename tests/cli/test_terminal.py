"""What a person sees: colours, width, the pager, lines of descent."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pcpfs.cli.graph import drawn
from pcpfs.cli.terminal import fitted
from pcpfs.cli.text import styled, width
from tests.cli.running import COMMAND, Terminal

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"]), max_size=30)


@given(TEXT, TEXT, st.integers(2, 40))
def test_a_line_is_cut_by_cells_and_its_colour_ends(plain: str, red: str, columns: int) -> None:
    line = plain + styled(red, "red")
    cut = fitted(line, columns)
    bare = COLOUR.sub("", cut)
    assert width(bare) <= columns
    if width(plain + red) <= columns:
        assert cut == line
    else:
        assert (plain + red).startswith(bare.removesuffix("…"))
        assert cut.count("\x1b[31m") <= cut.count("\x1b[0m")


def test_wide_characters_have_two_cells() -> None:
    assert fitted("潮汐表", 6) == "潮汐表"
    assert fitted("潮汐表", 5) == "潮汐…"
    assert fitted("潮汐表", 4) == "潮…"


@pytest.mark.parametrize(
    ("steps", "picture"),
    [
        ("c:b b:a a:", "* | * | *"),
        ("m:x,y x:a y:a a:", "* | |\\ | * | | * | |/ | *"),
        ("x:a y:a a:", "* | * | |/ | *"),
        ("m:x,y,z x:a y:a z:a a:", "* |\\ \\ * | | | * | | | * | |/ |/ *"),
        ("b:a", "*"),
    ],
)
def test_lines_of_descent(steps: str, picture: str) -> None:
    given_steps = [
        (step, [parent for parent in parents.split(",") if parent])
        for step, _, parents in (word.partition(":") for word in steps.split())
    ]
    lines = list(drawn(given_steps))
    assert [is_step for _, is_step in lines].count(True) == len(given_steps)
    stars = [line.index("*") // 2 for line, is_step in lines if is_step]
    assert all(line.count("*") == is_step for line, is_step in lines)
    if steps.startswith("m:x,y x"):
        assert [line for line, _ in lines] == ["*", "|\\", "* |", "| *", "|/", "*"]
        assert stars == [0, 0, 1, 0]
    if steps.startswith("m:x,y,z"):
        told = ["*", "|\\ \\", "* | |", "| * |", "| | *", "| |/", "|/", "*"]
        assert [line for line, _ in lines] == told


def test_log_draws_a_page_with_two_heads_and_its_merge(terminal: Terminal) -> None:
    terminal.run("init")
    written = ("write", "--scope", "notes:n", "--title", "One", "--path", "one.md", "-", "--json")
    first = terminal.run(*written, stdin=b"1\n").json["revision_id"]
    for text in (b"2\n", b"3\n"):
        assert terminal.run("revise", "one.md", "--branch", first, "-", stdin=text).code == 0
    terminal.run("resolve", "one.md", "-", stdin=b"4\n")
    lines = terminal.run("log", "--graph", "one.md").text.splitlines()
    assert [line.partition("rev_")[0].rstrip() for line in lines] == [
        "*", "|\\", "* |", "| *", "|/", "*",
    ]  # fmt: skip
    plain = terminal.run("log", "one.md").text.splitlines()
    assert [line[line.index("rev_") :] for line in lines if "rev_" in line] == plain
    assert terminal.run("log", "--graph", "--symbol", "x").code == 2


def on_a_screen(terminal: Terminal, *arguments: str, **environment: str) -> str:
    """What a command shows on a terminal of 40 columns and 10 lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 40, 0, 0))
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        cwd=terminal.folder,
        env={**kept, "TERM": "xterm", **environment},
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 10_000):
                shown += some
        except OSError:
            pass  # the other side is closed
        assert process.wait(20) == 0
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_is_not_overrun(terminal: Terminal) -> None:
    terminal.run("init")
    for number in range(12):
        title = f"Note {number} has a title that is longer than a line of this screen"
        terminal.run("write", "--scope", "notes:n", "--title", title, "-", stdin=b"x\n")
    plain = terminal.run("tree")
    assert max(map(len, plain.text.splitlines())) > 40
    paged = on_a_screen(terminal, "tree", PAGER="sed s/^/PAGED/")
    lines = paged.splitlines()
    assert all(line.startswith("PAGED") for line in lines)
    assert len(lines) == len(plain.text.splitlines())
    assert all(width(COLOUR.sub("", line)) <= len("PAGED") + 40 for line in lines)
    assert paged.count("…") == 12
    for refused in ("cat", "", "no-such-pager"):
        shown = on_a_screen(terminal, "tree", PAGER="sed s/^/PAGED/", PCPFS_PAGER=refused)
        assert "PAGED" not in shown
    assert "PAGED" not in on_a_screen(terminal, "tree", PAGER="sed s/^/PAGED/", LINES="3")
    assert "PAGED" not in on_a_screen(terminal, "tree", "--json", PAGER="sed s/^/PAGED/")


def test_what_needs_attention_is_never_cut(terminal: Terminal) -> None:
    terminal.run("init")
    source = terminal.folder.parent / "a source with a long name"
    source.mkdir()
    (source / "a.txt").write_text("a\n", encoding="utf-8")
    assert terminal.run("add", str(source), "--scope", "notes:n").code == 0
    (source / "a.txt").unlink()
    source.rmdir()
    plain = terminal.run("status").text
    shown = COLOUR.sub("", on_a_screen(terminal, "status", PCPFS_PAGER="cat"))
    assert shown == plain
    assert "unavailable" in shown


def test_colour_is_auto_always_or_never(terminal: Terminal) -> None:
    terminal.run("init")
    assert "\x1b[" not in terminal.run("tree").text
    assert "\x1b[" in terminal.run("--color", "always", "tree").text
    assert "\x1b[" in terminal.process("tree", "--color", "always", NO_COLOR="1").text
    assert "\x1b[" in on_a_screen(terminal, "tree")
    assert "\x1b[" not in on_a_screen(terminal, "tree", "--color", "never")
    assert terminal.run("tree", "--color", "pink").code == 2


def test_content_drives_no_terminal_and_goes_through_a_pipe_as_it_is(terminal: Terminal) -> None:
    evil = "# Red\n\n\x1b[31m\x1b]0;title\x07 \x9b2J\tb\rad \u202etxt\n".encode()
    terminal.run("init")
    terminal.run("write", "--scope", "notes:n", "--path", "x.md", "-", stdin=evil)
    told = "# Red\n\n\\x1b[31m\\x1b]0;title\\x07 \\x9b2J\tb\\x0dad \\u202etxt\n"
    for command in (("cat", "/scopes/notes/n/x.md"), ("show", "x.md", "--projection", "payload")):
        assert terminal.run(*command).out == evil
        assert on_a_screen(terminal, *command).expandtabs() == told.expandtabs()
    shown = on_a_screen(terminal, "cat", "/scopes/notes/n/x.md", "--json")
    assert json.loads(shown)["text"].encode() == evil
    for char in "\x1b\x07\x9b\u202e":
        assert char not in shown
