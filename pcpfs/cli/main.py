"""The entry point: runs one command and turns every error into one line and an exit code."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

import click

from pcpfs.cli.call import document
from pcpfs.cli.command import FolderGroup
from pcpfs.cli.failure import Failure
from pcpfs.cli.settings import colour, debugging
from pcpfs.cli.versions import print_versions
from pcpfs.errors import Unavailable
from pcpfs.model.shown import safe

PIPE_CLOSED = 141
_COLLECTED_AFTER = 50_000
"""New objects before a search for cycles: a command makes hardly any, and imports many objects."""

OUTPUT_ERRORS = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EBADF)


def run() -> None:
    """The console script `pcpfs`."""
    gc.set_threshold(_COLLECTED_AFTER, 10, 10)
    if not (sys.warnoptions or debugging()):
        warnings.simplefilter("ignore")
    sys.stdout, sys.stderr = _printable(sys.stdout), _printable(sys.stderr)
    if "_PCPFS_COMPLETE" in os.environ:
        from pcpfs.cli.completing import VARIABLE, completed  # noqa: PLC0415 (only for the tab key)

        click.echo(completed(os.environ[VARIABLE], group()))
        sys.exit()
    sys.exit(main(sys.argv[1:]))


def _printable(stream: TextIO | None) -> TextIO:
    """A stream that takes any text; one that goes nowhere where the caller closed it."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return stream


def main(arguments: Sequence[str]) -> int:
    """Run one command; the exit code. Prints, but neither exits nor raises."""
    try:
        code = group().main(list(arguments), prog_name="pcpfs", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:  # the one place where nothing may pass
        return _ended_by(error, as_json=wants_json(arguments))
    return code if isinstance(code, int) else 0


def _ended_by(error: BaseException, *, as_json: bool) -> int:
    if not _is_of_output(error):
        return report(error, as_json=as_json)
    _silence_output()
    if isinstance(error, BrokenPipeError):
        return PIPE_CLOSED  # the reader has gone (`| head`) and wants no more
    reason = error.strerror if isinstance(error, OSError) else error
    return report(Unavailable(f"the output cannot be written: {reason}"), as_json=False)


def _is_of_output(error: BaseException) -> bool:
    """Whether writing to standard output failed; errors of files name their file."""
    return isinstance(error, OSError) and error.filename is None and error.errno in OUTPUT_ERRORS


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


def report(error: BaseException, *, as_json: bool) -> int:
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


def _silence_output() -> None:
    """What is still buffered goes nowhere, also when Python flushes at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
