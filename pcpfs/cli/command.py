"""What commands are made of: shared options, examples in the help, groups that are folders."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from pcpfs.cli.call import Call
from pcpfs.cli.settings import Settings, colour

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pcpfs.model.pages import Principal

SECTIONS = ("Start", "Write", "Find", "Read", "Sources", "Serve", "Store")
"""How `pcpfs --help` sorts the commands; a section that is not here comes last."""


def principal(text: str) -> Principal:
    """`user:anna`, `model:local`."""
    from pcpfs.model.pages import Principal  # noqa: PLC0415 (help needs no model)

    return Principal(text)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    """Keep a shared option that was given; the one nearest to the command's end wins."""
    if value is not None and param.name is not None:
        ctx.obj = replace(ctx.obj or Settings(), **{param.name: value})


def _shared(*names: str, **attributes: Any) -> click.Option:
    return click.Option(names, expose_value=False, callback=_remember, **attributes)


class Name(click.types.StringParamType):
    """A text that the tab key completes: `scope`, `page`, `root`, `symbol`, `branch`, `principal`,
    or `place` of the view."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from pcpfs.cli.completing import names  # noqa: PLC0415 (only for the tab key)

        return names(self.kind, incomplete, ctx.obj or Settings())


class Acting(Name):
    """A principal, such as the tab key knows."""

    name = "principal"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return principal(value) if isinstance(value, str) else value


_NAMED = {
    "SCOPE": "scope",
    "PAGE": "page",
    "ID": "page",
    "ROOT": "root",
    "SYMBOL": "symbol",
    "BRANCH": "branch",
}
"""What an argument or option stands for, by what its help calls it."""


def _completed(section: str, param: click.Parameter) -> None:
    """Let the tab key complete a parameter whose values have names, or are files."""
    words = re.findall(r"[A-Z]+", param.metavar or "")
    if not words or param.type is not click.STRING:
        return
    if words[0] in _NAMED:
        param.type = Name(_NAMED[words[0]])
    elif isinstance(param, click.Argument) and words[0] in ("PATH", "DIR", "FILE"):
        param.type = Name("place") if section == "Read" else click.Path()


class Seconds(click.FloatRange):
    """A length of time; `nan` is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:  # noqa: PLR0124 (only nan differs from itself)
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return seconds


def shared_options(*, writes: bool) -> list[click.Option]:
    """The options that are accepted before and after every command."""
    options = [
        _shared(
            "-C", "--store", "store", metavar="DIR",
            help="The store; else $PCPFS_STORE, else the nearest parent folder that is one, else "
            "the store in your user data folder.",
        ),
        _shared(
            "--as", "principal", metavar="PRINCIPAL", type=Acting("principal"),
            help="Who acts, such as user:anna or model:local; else the owner of the store.",
        ),
        _shared(
            "--json", "json", is_flag=True, flag_value=True, default=None,
            help="Print one JSON document, also for an error.",
        ),
        _shared(
            "--color", "color", type=click.Choice(["auto", "always", "never"]),
            help="Colours: auto is on a terminal only, and never where $NO_COLOR is set.",
        ),
    ]  # fmt: skip
    if writes:
        options.append(
            _shared(
                "--wait", "wait", metavar="SECONDS", type=Seconds(min=0, max=1e9),
                help="How long to wait for another writer; 30 if not given.",
            )
        )  # fmt: skip
    return options


class Command(click.Command):
    """A command: its function gets a `Call` as `call`."""

    def __init__(
        self,
        *args: Any,
        section: str = "",
        examples: Sequence[str] = (),
        writes: bool = False,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.section = section
        self.examples = tuple(examples)
        self.shared = shared_options(writes=writes)
        for param in self.params:
            _completed(section, param)
        self.params.extend(self.shared)

    def invoke(self, ctx: click.Context) -> Any:
        with Call(ctx.obj or Settings()) as call:
            ctx.params["call"] = call
            ctx.color = colour(call.settings.color)
            return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_options(self, self.shared, ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.examples:
            with formatter.section("Examples"):
                for line in self.examples:
                    formatter.write(f"  {line}\n")


class FolderGroup(click.Group):
    """The commands of one package: one module each, imported when it is needed."""

    def __init__(self, package: str, *, section: str = "", **attributes: Any) -> None:
        super().__init__(**attributes)
        self.package = package
        self.section = section
        self.shared = shared_options(writes=True)
        self.params.extend(self.shared)

    def list_commands(self, ctx: click.Context) -> list[str]:
        package = importlib.import_module(self.package)
        found = pkgutil.iter_modules(package.__path__)
        return sorted(module.name.rstrip("_").replace("_", "-") for module in found)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        name = f"{self.package}.{cmd_name.replace('-', '_')}"
        found = importlib.util.find_spec(name)
        module = importlib.import_module(name if found else name + "_")
        if hasattr(module, "__path__"):
            return FolderGroup(
                name,
                name=cmd_name,
                help=module.__doc__,
                section=module.SECTION,
                no_args_is_help=False,
            )
        command: click.Command = module.command
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        write_options(self, self.shared, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, command) for name, command in commands if command is not None]
        limit = formatter.width - 6 - max(len(name) for name, _ in shown)
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in SECTIONS}
        for name, command in shown:
            rows = sections.setdefault(getattr(command, "section", "") or "Commands", [])
            rows.append((name, command.get_short_help_str(limit)))
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def write_options(
    command: click.Command,
    shared: Sequence[click.Option],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    """The options of one command, then those of all."""
    options = [o for o in command.get_params(ctx) if isinstance(o, click.Option)]
    own = [option for option in options if option not in shared]
    for title, some in (("Options", own), ("Before or after every command", shared)):
        records = [record for option in some if (record := option.get_help_record(ctx))]
        with formatter.section(title):
            formatter.write_dl(records)
