"""The entry point: versions, help, options in any place, errors and exit codes."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pcpfs import __version__, errors
from pcpfs.cli.command import Command, FolderGroup
from pcpfs.cli.failure import Failure
from pcpfs.cli.main import group, wants_json
from pcpfs.store.config import FORMAT
from tests.cli.running import COMMAND, Terminal

SLOW = ("git", "gitdb", "whoosh", "rich", "tree_sitter", "sqlite3", "watchdog", "pcpfs.store.store")


def commands(at: FolderGroup, ctx: click.Context) -> Iterator[tuple[str, Command]]:
    for name in at.list_commands(ctx):
        found = at.get_command(ctx, name)
        if isinstance(found, FolderGroup):
            inner = click.Context(found, parent=ctx, info_name=name)
            yield from ((f"{name} {sub}", one) for sub, one in commands(found, inner))
        else:
            assert isinstance(found, Command)
            yield name, found


COMMANDS = dict(commands(group(), click.Context(group(), info_name="pcpfs")))


def test_version_tells_package_formats_and_protocols(terminal: Terminal) -> None:
    told = terminal.run("--version", "--json").json
    assert told["version"] == __version__
    assert told["store_formats"] == {"read": [FORMAT], "written": FORMAT}
    assert any(name.startswith("pcp/") for name in told["protocols"])
    assert __version__ in terminal.run("--version").text


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["search", "--help"]])
def test_version_and_help_import_nothing_slow(arguments: list[str]) -> None:
    program = (
        "import sys; from pcpfs.cli.main import main; "
        f"main({arguments!r}); print([m for m in {SLOW!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stderr.strip() == b"[]"


def test_every_command_has_help_a_section_and_examples(terminal: Terminal) -> None:
    for name, command in COMMANDS.items():
        shown = terminal.run(*name.split(), "--help")
        assert shown.code == 0, shown.message
        assert "Examples:" in shown.text
        assert command.help
        assert command.section or " " in name


def test_every_command_is_listed_in_the_help(terminal: Terminal) -> None:
    shown = terminal.run("--help").text
    assert [name for name in COMMANDS if f"\n  {name.split()[0]} " not in shown] == []


def example_words(example: str) -> list[str]:
    return shlex.split(example.rpartition(" | ")[2])


@pytest.mark.parametrize(
    ("name", "example"),
    [(name, line) for name, command in COMMANDS.items() for line in command.examples],
)
def test_examples_in_the_help_are_valid(name: str, example: str) -> None:
    words = example_words(example)
    assert words[0] == "pcpfs"
    ctx: click.Context = click.Context(group(), info_name="pcpfs")
    step: click.Command = ctx.command
    with ctx:
        rest = words[1:]
        while isinstance(step, FolderGroup):
            ctx = step.make_context(step.name, rest, parent=ctx if ctx.parent else None)
            word, found, rest = step.resolve_command(ctx, [*ctx._protected_args, *ctx.args])
            assert found is not None
            step = found
        assert step is not None
        assert step.make_context(word, rest, parent=ctx).command.callback is not None
    assert step.help == COMMANDS[name].help


@pytest.mark.parametrize(
    "arguments",
    [
        ["--json", "-C", "no/where", "status"],
        ["-C", "no/where", "status", "--json"],
        ["status", "--json", "-C", "no/where"],
        ["-C", "else/where", "status", "-C", "no/where", "--json"],
        ["--json", "scope", "-C", "no/where", "list"],
    ],
)
def test_shared_options_stand_before_or_after_the_command(
    terminal: Terminal, arguments: list[str]
) -> None:
    outcome = terminal.run(*arguments)
    assert outcome.code == 3
    assert outcome.json["error"]["code"] == "not_found"
    assert "no/where" in outcome.json["error"]["message"]
    assert outcome.err == b""


def test_without_a_store_the_error_says_how_to_make_one(terminal: Terminal) -> None:
    outcome = terminal.run("status")
    assert outcome.code == 3
    assert "pcpfs init" in outcome.message
    assert outcome.message.count("\n") == 1
    assert outcome.out == b""


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["search"],
        ["search", "--nonsense", "x"],
        ["show", "x", "--as-of", "yesterday"],
        ["--as", "somebody", "status"],
        ["search", "x", "--limit", "0"],
        ["search", "x", "--policy", "everything"],
        ["scope"],
        ["scope", "nonsense"],
        ["write", "--scope", "a:b"],
    ],
)
def test_wrong_usage_is_exit_2_for_people_and_programs(
    terminal: Terminal, arguments: list[str]
) -> None:
    outcome = terminal.run(*arguments)
    assert outcome.code == 2
    assert outcome.out == b""
    assert outcome.message.startswith("pcpfs: ")
    assert outcome.message.count("\n") == 1
    assert len(outcome.message) < 250
    for place in (["--json", *arguments], [*arguments, "--json"]):
        told = terminal.run(*place)
        assert told.code == 2
        assert told.json["error"]["code"] in ("usage", "invalid_name", "invalid_instant")
        assert told.err == b""


def test_alone_pcpfs_shows_its_help(terminal: Terminal) -> None:
    outcome = terminal.run()
    assert outcome.code == 0
    assert "Usage: pcpfs" in outcome.text


def test_an_option_like_word_is_told_about_the_two_dashes(terminal: Terminal) -> None:
    assert "'--'" in terminal.run("search", "-digest").message


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--json", "x"], True),
        (["x", "--json"], True),
        (["x", "--", "--json"], False),
        (["x"], False),
    ],
)
def test_json_is_wanted_only_by_an_option(arguments: list[str], wanted: bool) -> None:
    assert wants_json(arguments) is wanted


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.UsageError("x"), 2),
        (errors.InvalidName("x"), 2),
        (errors.InvalidInstant("x"), 2),
        (errors.NotFound("x"), 3),
        (errors.Conflict("x"), 4),
        (errors.KeyReused("x"), 4),
        (errors.NotPermitted("x"), 5),
        (errors.Corrupt("x"), 6),
        (errors.Unavailable("x"), 7),
        (errors.Busy("x"), 7),
        (errors.StorageFull("x"), 7),
        (errors.ReadOnly("x"), 7),
        (click.Abort(), 130),
        (ZeroDivisionError("x"), 70),
    ],
)
def test_each_error_has_its_exit_code(error: Exception, code: int) -> None:
    assert Failure.of(error).exit_code == code


def test_an_error_document_holds_the_fields_of_the_error() -> None:
    failure = Failure.of(errors.Conflict("it moved on", heads=["rev_1"], absent=None))
    assert failure.to_json() == {"code": "conflict", "message": "it moved on", "heads": ["rev_1"]}


def test_an_unexpected_error_says_how_to_report_it() -> None:
    assert "PCPFS_DEBUG=1" in Failure.of(ZeroDivisionError("no")).message


def test_a_traceback_is_shown_only_when_debugging(terminal: Terminal) -> None:
    assert b"Traceback" not in terminal.process("show", "x").err
    assert b"Traceback" in terminal.process("show", "x", PCPFS_DEBUG="1").err


def test_a_closed_pipe_is_quiet(terminal: Terminal) -> None:
    terminal.write("many.md", "".join(f"# Heading number {n}\n\n" for n in range(20_000)))
    command = shlex.join([*COMMAND, "extract", "many.md"])
    done = subprocess.run(
        ["sh", "-c", f"{command} | head -n 1"], capture_output=True, cwd=terminal.folder, check=True
    )
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 1


def test_no_colour_leaves_a_pipe(terminal: Terminal) -> None:
    assert b"\x1b" not in terminal.process("show", "x").err


def shell(terminal: Terminal, words: str) -> subprocess.CompletedProcess[bytes]:
    script = f"{shlex.join(COMMAND)} {words}"
    return subprocess.run(
        ["sh", "-c", script], capture_output=True, cwd=terminal.folder, check=False
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_one_clear_error(terminal: Terminal) -> None:
    for words in ("--help > /dev/full", "--version --json > /dev/full"):
        done = shell(terminal, words)
        assert done.returncode == 7
        assert done.stderr.startswith(b"pcpfs: the output cannot be written")
        assert done.stderr.count(b"\n") == 1


def test_closed_streams_are_no_accident(terminal: Terminal) -> None:
    terminal.run("init", "store")
    assert shell(terminal, "-C store status >&-").returncode == 0
    assert shell(terminal, "nonsense 2>&-").returncode == 2
    done = shell(terminal, "-C store write --scope a:b - <&-")
    assert done.returncode == 7
    assert b"standard input" in done.stderr


def test_ctrl_c_ends_a_command_with_130(terminal: Terminal) -> None:
    with subprocess.Popen(
        [*COMMAND, "write", "--scope", "a:b", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=terminal.folder,
    ) as process:
        started(process)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert b"Traceback" not in err


def started(process: subprocess.Popen[bytes]) -> None:
    """Wait until the command reads its standard input."""
    assert process.stdin is not None
    process.stdin.write(b"x" * (1 << 20))  # more than a pipe holds: returns when it is being read
    process.stdin.flush()


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_terminals_and_can_be_refused(
    terminal: Terminal, environment: dict[str, str], coloured: bool
) -> None:
    terminal.write("tide.py", "def rise(): pass\n")
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "extract", "tide.py"],
        stdout=theirs,
        cwd=terminal.folder,
        env={**os.environ, **environment},
    ) as process:
        assert process.wait(20) == 0
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert b"rise" in shown
    assert (b"\x1b[" in shown) is coloured
