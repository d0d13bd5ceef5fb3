"""The entry point: runs one command and turns every error into one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress

import click

from pcpfs.cli.call import document
from pcpfs.cli.command import FolderGroup
from pcpfs.cli.failure import Failure
from pcpfs.cli.settings import colour, debugging
from pcpfs.cli.text import safe
from pcpfs.cli.versions import print_versions

PIPE_CLOSED = 141


def run() -> None:
    """The console script `pcpfs`."""
    if not (sys.warnoptions or debugging()):
        warnings.simplefilter("ignore")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code. Prints, but neither exits nor raises."""
    try:
        code = group().main(list(arguments), prog_name="pcpfs", standalone_mode=False)
        sys.stdout.flush()
    except Exception as error:  # the one place where nothing may pass
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            return _pipe_closed()
        return report(error, as_json=wants_json(arguments))
    return code if isinstance(code, int) else 0


def group() -> FolderGroup:
    """All commands."""
    return FolderGroup(
        "pcpfs.cli.commands",
        name="pcpfs",
        help="Long-term context for people and their agents, as plain files in a git tree.",
        params=[click.Option(["--version"], is_flag=True, help="Print versions and exit.")],
        callback=_before,
        invoke_without_command=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


@click.pass_context
def _before(ctx: click.Context, version: bool) -> None:
    ctx.color = colour()
    if version:
        print_versions(as_json=bool(ctx.obj and ctx.obj.json))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        if ctx.obj:
            raise click.UsageError("a command is missing", ctx)
        click.echo(ctx.get_help())


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether `--json` is among the options; told from the words, for they may not parse."""
    words = list(arguments)
    return "--json" in words[: words.index("--") if "--" in words else None]


def report(error: Exception, *, as_json: bool) -> int:
    """Say what went wrong: a line on standard error, or a JSON document; the exit code."""
    failure = Failure.of(error)
    if debugging():
        import traceback  # noqa: PLC0415 (slow, and seldom needed)

        traceback.print_exception(error)
    if as_json:
        click.echo(document({"error": failure}), nl=False)
    else:
        mark = click.style("pcpfs:", fg="red")
        click.echo(f"{mark} {safe(failure.message)}", err=True, color=colour())
    return failure.exit_code


def _pipe_closed() -> int:
    """The reader has gone (`| head`): what is still buffered goes nowhere, quietly."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return PIPE_CLOSED
