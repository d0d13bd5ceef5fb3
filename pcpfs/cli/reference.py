"""The reference of all commands, made of the commands: `python -m pcpfs.cli.reference FILE`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from pcpfs.cli.command import SECTIONS, Command, FolderGroup, shared_options
from pcpfs.cli.main import group

_WIDTH = 100
_HEAD = """\
# Commands

Made of the code; not to be edited. To make it anew:
`python -m pcpfs.cli.reference docs/reference/commands.md`.

Exit codes: 0 done (also: no hits) · 1 a check failed · 2 the request is wrong ·
3 there is no such thing · 4 conflict · 5 not permitted · 6 damaged · 7 busy, read-only or full.
"""


def reference() -> str:
    """Markdown: the shared options, then a chapter for each section of `pcpfs --help`."""
    top = group()
    context = click.Context(top, info_name="pcpfs")
    found = [(name, top.get_command(context, name)) for name in top.list_commands(context)]
    lines = [_HEAD, "## Before or after every command", "", *_options(shared_options(writes=True))]
    for section in SECTIONS:
        lines += ["", f"## {section}"]
        for name, command in found:
            if command is not None and getattr(command, "section", "") == section:
                lines += _chapter(command, click.Context(command, context, name))
    return "\n".join(lines) + "\n"


def _chapter(command: click.Command, context: click.Context) -> Iterator[str]:
    """A command; of a group its commands, with a heading each."""
    if isinstance(command, FolderGroup):
        yield from ("", f"### {context.command_path}", "", _prose(command.help))
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None:
                yield from _chapter(inner, click.Context(inner, context, name))
        return
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ("", f"### {context.command_path}", "", "```text", usage, "```")
    yield from ("", _prose(command.help))
    shared = command.shared if isinstance(command, Command) else []
    own = [option for option in command.params if option not in shared]
    lines = list(_options([option for option in own if isinstance(option, click.Option)]))
    yield from ["", *lines] if lines else ()
    if isinstance(command, Command) and command.examples:
        yield from ("", "```text", *command.examples, "```")


def _prose(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("\b\n", "")


def _options(options: Sequence[click.Option]) -> Iterator[str]:
    """A row each: how it is written, and what it does. No rows, no table."""
    records = [_record(option) for option in options if not option.hidden]
    if records:
        yield from ("| option | |", "|---|---|")
    for names, text in records:
        yield f"| `{names}` | {' '.join(text.split())} |".replace("\\|", "|")


def _record(option: click.Option) -> tuple[str, str]:
    context = click.Context(click.Command("pcpfs"), terminal_width=_WIDTH)
    names, text = option.get_help_record(context) or ("", "")
    return names.replace("|", " or "), text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> None:
    """Write the reference to a file, else to standard output."""
    if arguments:
        Path(arguments[0]).write_text(reference(), encoding="utf-8")
    else:
        sys.stdout.write(reference())


if __name__ == "__main__":
    main(sys.argv[1:])
